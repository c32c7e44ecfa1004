package io.varve.server.command.stream.group;

import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * XGROUP. Immutable: static handlers.
 *
 * @see GroupReadCommand
 * @see PendingCommands
 * @see ClaimCommands
 * @see StreamInfoCommands
 */
public final class GroupCommands {
    private static final int KEY = 2;
    private static final int GROUP = 3;
    private static final int ID = 4;
    private static final int CONSUMER = 4;
    private static final int FIRST_OPTION = 5;

    private GroupCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("xgroup").arity(-2).group("stream").since("5.0.0")
                .complexity("Depends on subcommand.").summary("A container for consumer group commands")
                .subcommand(manage("create", -5, "Creates a consumer group").access("RW insert").flags(WRITE, DENYOOM)
                        .handler(GroupCommands::create))
                .subcommand(manage("createconsumer", 5, "Creates a consumer in a consumer group").since("6.2.0")
                        .access("RW insert").flags(WRITE, DENYOOM).traits(CommandTrait.ALL_OR_NOTHING)
                        .handler(GroupCommands::createConsumer))
                .subcommand(manage("delconsumer", 5, "Deletes a consumer and its pending entries").access("RW delete")
                        .flags(WRITE).handler(GroupCommands::deleteConsumer))
                .subcommand(manage("destroy", 4, "Deletes a consumer group").access("RW delete").flags(WRITE)
                        .complexity("O(N) where N is the number of pending entries of the group")
                        .handler(GroupCommands::destroy))
                .subcommand(manage("setid", -5, "Sets the last delivered ID of a consumer group").access("RW update")
                        .flags(WRITE).handler(GroupCommands::setId))
                .subcommand(HelpText.describe("stream", "5.0.0").categories("@stream").handler(GroupCommands::help)));
        GroupReadCommand.addTo(table);
        PendingCommands.addTo(table);
        ClaimCommands.addTo(table);
        StreamInfoCommands.addTo(table);
    }

    private static CommandBuilder manage(String name, int arity, String summary) {
        return describe(name, arity, summary).key(KEY);
    }

    /** Describes a command of this family. */
    static CommandBuilder describe(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group("stream").since("5.0.0").categories("@stream")
                .summary(summary);
    }

    private static void help(CommandContext context) {
        HelpText.reply(context.reply(), "XGROUP", "CREATE <key> <groupname> <id|$> [option]",
                "    Create a new consumer group. Options are:", "    * MKSTREAM",
                "      Create the empty stream if it does not exist.", "    * ENTRIESREAD entries_read",
                "      Set the group's entries_read counter (internal use).",
                "CREATECONSUMER <key> <groupname> <consumer>",
                "    Create a new consumer in the specified group.", "DELCONSUMER <key> <groupname> <consumer>",
                "    Remove the specified consumer.", "DESTROY <key> <groupname>", "    Remove the specified group.",
                "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
                "    Set the current group ID and entries_read counter.");
    }

    // --- CREATE and SETID

    private static void create(CommandContext context) {
        boolean makes = false;
        long read = ReadCounter.UNKNOWN;
        for (int i = FIRST_OPTION; i < context.argumentCount(); i++) {
            if (context.argumentIs(i, "MKSTREAM")) {
                makes = true;
            } else if (readsOption(context, i)) {
                i++;
                if (!requireEntriesRead(context, i)) {
                    return;
                }
                read = context.longValue();
            } else {
                GroupErrors.badSubcommand(context, "xgroup");
                return;
            }
        }
        Streams streams = Streams.of(context);
        StreamValue stream = streams.stream();
        Found found = stream.openForWriting(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE || !makes && !requireStream(context, found)) {
            return;
        }
        if (context.argumentCount() > FIRST_OPTION + 3) {
            GroupErrors.badSubcommand(context, "xgroup");
        } else if (parseId(context, stream, streams.id(), true)) {
            create(context, stream, streams.id(), read);
        }
    }

    private static void create(CommandContext context, StreamValue stream, StreamId id, long read) {
        GroupRecords group = Groups.of(context).records();
        group.open(stream);
        long name = context.argumentAddress(GROUP);
        int length = context.argumentLength(GROUP);
        if (group.selectGroup(name, length)) {
            context.reply().error("BUSYGROUP Consumer Group name already exists");
            return;
        }
        boolean isNew = !stream.isPresent();
        stream.changeRecords(1, GroupRecords.BEYOND_NAME_BYTES + (long) length,
                () -> group.createGroup(name, length, id.ms(), id.seq(), read));
        if (isNew) {
            stream.changed();
        } else {
            stream.internalsChanged();
        }
        context.events().emit(KeyEvent.XGROUP_CREATE, context.keyAt(0));
        context.countChanges(1);
        context.reply().ok();
    }

    private static void setId(CommandContext context) {
        long read = ReadCounter.UNKNOWN;
        for (int i = FIRST_OPTION; i < context.argumentCount(); i += 2) {
            if (!readsOption(context, i)) {
                GroupErrors.badSubcommand(context, "xgroup");
                return;
            }
            if (!requireEntriesRead(context, i + 1)) {
                return;
            }
            read = context.longValue();
        }
        GroupRecords group = openGroup(context);
        if (group == null) {
            return;
        }
        Streams streams = Streams.of(context);
        if (context.argumentCount() > FIRST_OPTION + 2) {
            GroupErrors.badSubcommand(context, "xgroup");
        } else if (parseId(context, streams.stream(), streams.id(), false)) {
            group.advance(streams.id().ms(), streams.id().seq(), read);
            streams.stream().internalsChanged();
            context.events().emit(KeyEvent.XGROUP_SETID, context.keyAt(0));
            context.countChanges(1);
            context.reply().ok();
        }
    }

    private static boolean readsOption(CommandContext context, int argument) {
        return argument + 1 < context.argumentCount() && context.argumentIs(argument, "ENTRIESREAD");
    }

    private static boolean requireEntriesRead(CommandContext context, int argument) {
        if (!context.requireLong(argument)) {
            return false;
        }
        if (context.longValue() < ReadCounter.UNKNOWN) {
            context.reply().error("ERR value for ENTRIESREAD must be positive or -1");
            return false;
        }
        return true;
    }

    private static boolean parseId(CommandContext context, StreamValue stream, StreamId id, boolean isStrict) {
        long text = context.argumentAddress(ID);
        int length = context.argumentLength(ID);
        if (length == 1 && Memory.getByte(text) == '$') {
            id.set(stream.lastMs(), stream.lastSeq());
        } else if (!(isStrict ? id.parseStrictly(text, length, 0) : id.parse(text, length, 0))) {
            context.reply().error(StreamId.INVALID);
            return false;
        }
        return true;
    }

    // --- groups and consumers

    private static boolean requireStream(CommandContext context, Found found) {
        if (found == Found.MISSING) {
            context.reply().error("ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may"
                    + " want to use the MKSTREAM option to create an empty stream automatically.");
        }
        return found == Found.PRESENT;
    }

    /** Opens and selects the group of the arguments; null after an error was replied. */
    private static @Nullable GroupRecords openGroup(CommandContext context) {
        StreamValue stream = Streams.of(context).stream();
        if (!requireStream(context, stream.openForWriting(context, context.keyAt(0)))) {
            return null;
        }
        GroupRecords group = Groups.of(context).records();
        group.open(stream);
        if (!group.selectGroup(context.argumentAddress(GROUP), context.argumentLength(GROUP))) {
            GroupErrors.noGroup(context, KEY, GROUP);
            return null;
        }
        return group;
    }

    private static void destroy(CommandContext context) {
        Key key = context.keyAt(0);
        StreamValue stream = Streams.of(context).stream();
        if (!requireStream(context, stream.openForWriting(context, key))) {
            return;
        }
        GroupRecords group = Groups.of(context).records();
        group.open(stream);
        if (!group.selectGroup(context.argumentAddress(GROUP), context.argumentLength(GROUP))) {
            context.reply().integer(0);
            return;
        }
        group.removeGroup();
        stream.internalsChanged();
        context.events().emit(KeyEvent.XGROUP_DESTROY, key);
        context.countChanges(1);
        // The clients that wait for the group's entries get an error.
        context.server().blockedKeys().ready(key);
        context.reply().integer(1);
    }

    private static void createConsumer(CommandContext context) {
        GroupRecords group = openGroup(context);
        if (group == null) {
            return;
        }
        int length = context.argumentLength(CONSUMER);
        if (group.selectConsumer(context.argumentAddress(CONSUMER), length)) {
            context.reply().integer(0);
            return;
        }
        StreamValue stream = Streams.of(context).stream();
        long now = context.now();
        stream.changeRecords(2, GroupRecords.BEYOND_NAME_BYTES + (long) length, () -> group.createConsumer(now));
        stream.internalsChanged();
        context.events().emit(KeyEvent.XGROUP_CREATECONSUMER, context.keyAt(0));
        context.countChanges(1);
        context.reply().integer(1);
    }

    private static void deleteConsumer(CommandContext context) {
        GroupRecords group = openGroup(context);
        if (group == null) {
            return;
        }
        long pending = 0;
        if (group.selectConsumer(context.argumentAddress(CONSUMER), context.argumentLength(CONSUMER))) {
            pending = group.ownedCount();
            group.removeConsumer();
            Streams.of(context).stream().internalsChanged();
            context.events().emit(KeyEvent.XGROUP_DELCONSUMER, context.keyAt(0));
            context.countChanges(1);
        }
        context.reply().integer(pending);
    }
}

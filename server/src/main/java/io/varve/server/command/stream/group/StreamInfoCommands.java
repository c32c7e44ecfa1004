package io.varve.server.command.stream.group;

import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamReplies;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.READONLY;

/** XINFO. Immutable: static handlers. */
final class StreamInfoCommands {
    private static final int KEY = 2;
    private static final int FIRST_OPTION = 3;
    private static final int GROUP = 3;
    private static final long DEFAULT_COUNT = 10;

    private StreamInfoCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("xinfo").arity(-2).group("stream").since("5.0.0")
                .complexity("Depends on subcommand.").summary("A container for stream introspection commands")
                .subcommand(inspect("consumers", 4, "Returns the consumers of a consumer group")
                        .tips("nondeterministic_output").handler(StreamInfoCommands::consumers))
                .subcommand(inspect("groups", 3, "Returns the consumer groups of a stream")
                        .handler(StreamInfoCommands::groups))
                .subcommand(inspect("stream", -3, "Returns information about a stream")
                        .handler(StreamInfoCommands::stream))
                .subcommand(HelpText.describe("stream", "5.0.0").categories("@stream")
                        .handler(context -> HelpText.reply(context.reply(), "XINFO", "CONSUMERS <key> <groupname>",
                                "    Show consumers of <groupname>.", "GROUPS <key>",
                                "    Show the stream consumer groups.", "STREAM <key> [FULL [COUNT <count>]",
                                "    Show information about the stream."))));
    }

    private static CommandBuilder inspect(String name, int arity, String summary) {
        return GroupCommands.describe(name, arity, summary).key(KEY).access("RO access").flags(READONLY);
    }

    /** Opens the stream of the arguments; false after an error was replied. */
    private static boolean open(CommandContext context, StreamValue stream) {
        Found found = stream.open(context, context.keyAt(0));
        if (found == Found.MISSING) {
            context.reply().error(GroupErrors.NO_SUCH_KEY);
        }
        if (found == Found.PRESENT) {
            Groups.of(context).records().open(stream);
        }
        return found == Found.PRESENT;
    }

    // --- XINFO GROUPS and CONSUMERS

    private static void groups(CommandContext context) {
        StreamValue stream = Streams.of(context).stream();
        if (!open(context, stream)) {
            return;
        }
        GroupRecords group = Groups.of(context).records();
        ReplyWriter reply = context.reply();
        reply.array(group.groupCount());
        for (boolean more = group.selectFirstGroup(); more; more = group.selectNextGroup()) {
            reply.map(6);
            name(reply, group.groupName(), group.groupNameLength());
            number(reply, "consumers", group.consumerCount());
            number(reply, "pending", group.pendingCount());
            progress(context, stream, group);
        }
    }

    /** Replies how far a group has read. */
    private static void progress(CommandContext context, StreamValue stream, GroupRecords group) {
        id(context, "last-delivered-id", group.lastMs(), group.lastSeq());
        long lag = ReadCounter.lag(stream, group.entriesRead(), group.lastMs(), group.lastSeq());
        knownNumber(context.reply(), "entries-read", group.entriesRead(), ReadCounter.UNKNOWN);
        knownNumber(context.reply(), "lag", lag, ReadCounter.UNKNOWN_LAG);
    }

    private static void consumers(CommandContext context) {
        if (!open(context, Streams.of(context).stream())) {
            return;
        }
        GroupRecords group = Groups.of(context).records();
        if (!group.selectGroup(context.argumentAddress(GROUP), context.argumentLength(GROUP))) {
            GroupErrors.noGroup(context, KEY, GROUP);
            return;
        }
        ReplyWriter reply = context.reply();
        reply.array(group.consumerCount());
        long now = context.now();
        for (boolean more = group.selectFirstConsumer(); more; more = group.selectNextConsumer()) {
            reply.map(4);
            name(reply, group.consumerName(), group.consumerNameLength());
            number(reply, "pending", group.ownedCount());
            number(reply, "idle", Math.max(0, now - group.seenMillis()));
            number(reply, "inactive", group.activeMillis() == -1 ? -1 : Math.max(0, now - group.activeMillis()));
        }
    }

    // --- XINFO STREAM

    private static void stream(CommandContext context) {
        StreamValue stream = Streams.of(context).stream();
        if (!open(context, stream)) {
            return;
        }
        int options = context.argumentCount() - FIRST_OPTION;
        boolean isFull = options > 0;
        long count = DEFAULT_COUNT;
        if (isFull) {
            if (options != 1 && options != 3 || !context.argumentIs(FIRST_OPTION, "FULL")
                    || options == 3 && !context.argumentIs(FIRST_OPTION + 1, "COUNT")) {
                GroupErrors.badSubcommand(context, "xinfo");
                return;
            }
            if (options == 3) {
                if (!context.requireLong(FIRST_OPTION + 2)) {
                    return;
                }
                count = context.longValue() < 0 ? DEFAULT_COUNT : context.longValue();
            }
        }
        ReplyWriter reply = context.reply();
        long metadata = stream.metadata();
        reply.map(isFull ? 9 : 10);
        number(reply, "length", stream.length());
        number(reply, "radix-tree-keys", stream.blocks());
        number(reply, "radix-tree-nodes", stream.radixTreeNodes());
        id(context, "last-generated-id", stream.lastMs(), stream.lastSeq());
        id(context, "max-deleted-entry-id", StreamMetadataLayout.maxDeletedMs(metadata),
                StreamMetadataLayout.maxDeletedSeq(metadata));
        number(reply, "entries-added", StreamMetadataLayout.added(metadata));
        id(context, "recorded-first-entry-id", StreamMetadataLayout.firstMs(metadata),
                StreamMetadataLayout.firstSeq(metadata));
        if (isFull) {
            reply.bulkAscii("entries");
            StreamReplies.range(context, stream, 0, 0, StreamId.MAX, StreamId.MAX, count);
            fullGroups(context, stream, count);
        } else {
            number(reply, "groups", Groups.of(context).records().groupCount());
            reply.bulkAscii("first-entry");
            entry(context, stream, stream.seek(0, 0));
            reply.bulkAscii("last-entry");
            entry(context, stream, stream.seekBack(StreamId.MAX, StreamId.MAX));
        }
    }

    private static void entry(CommandContext context, StreamValue stream, boolean exists) {
        if (exists) {
            StreamReplies.entry(context, stream.entry());
        } else {
            context.reply().nil();
        }
    }

    private static void fullGroups(CommandContext context, StreamValue stream, long count) {
        GroupRecords group = Groups.of(context).records();
        ReplyWriter reply = context.reply();
        reply.bulkAscii("groups");
        reply.array(group.groupCount());
        for (boolean more = group.selectFirstGroup(); more; more = group.selectNextGroup()) {
            reply.map(7);
            name(reply, group.groupName(), group.groupNameLength());
            progress(context, stream, group);
            number(reply, "pel-count", group.pendingCount());
            pendingOfGroup(context, group, count);
            reply.bulkAscii("consumers");
            reply.array(group.consumerCount());
            for (boolean next = group.selectFirstConsumer(); next; next = group.selectNextConsumer()) {
                reply.map(5);
                name(reply, group.consumerName(), group.consumerNameLength());
                number(reply, "seen-time", group.seenMillis());
                number(reply, "active-time", group.activeMillis());
                number(reply, "pel-count", group.ownedCount());
                pendingOfConsumer(context, group, count);
            }
        }
    }

    private static void pendingOfGroup(CommandContext context, GroupRecords group, long count) {
        ReplyWriter reply = context.reply();
        reply.bulkAscii("pending");
        long mark = reply.beginDeferred();
        long replied = 0;
        boolean more = group.seekPending(0, 0);
        while (more && (count == 0 || replied < count)) {
            long ms = group.pendingMs();
            long seq = group.pendingSeq();
            long delivered = group.deliveredMillis();
            long deliveries = group.deliveries();
            group.findName(group.pendingConsumer());
            reply.array(4);
            StreamReplies.id(context, ms, seq);
            reply.bulk(group.foundName(), group.foundNameLength());
            reply.integer(delivered);
            reply.integer(deliveries);
            replied++;
            more = group.nextPending();
        }
        reply.endArray(mark, replied);
    }

    private static void pendingOfConsumer(CommandContext context, GroupRecords group, long count) {
        ReplyWriter reply = context.reply();
        reply.bulkAscii("pending");
        long mark = reply.beginDeferred();
        long replied = 0;
        boolean more = group.seekOwned(0, 0);
        while (more && (count == 0 || replied < count)) {
            long ms = group.ownedMs();
            long seq = group.ownedSeq();
            group.findPending(ms, seq);
            reply.array(3);
            StreamReplies.id(context, ms, seq);
            reply.integer(group.deliveredMillis());
            reply.integer(group.deliveries());
            replied++;
            more = group.nextOwned();
        }
        reply.endArray(mark, replied);
    }

    // --- fields

    private static void name(ReplyWriter reply, long address, int length) {
        reply.bulkAscii("name");
        reply.bulk(address, length);
    }

    private static void number(ReplyWriter reply, String name, long value) {
        reply.bulkAscii(name);
        reply.integer(value);
    }

    private static void knownNumber(ReplyWriter reply, String name, long value, long unknown) {
        reply.bulkAscii(name);
        if (value == unknown) {
            reply.nil();
        } else {
            reply.integer(value);
        }
    }

    private static void id(CommandContext context, String name, long ms, long seq) {
        context.reply().bulkAscii(name);
        StreamReplies.id(context, ms, seq);
    }
}

package io.varve.server.command.set;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands on the members of a set. Immutable: static handlers.
 *
 * @see SetWalkCommands for commands that reply many members, or random ones
 * @see SetAlgebraCommands for commands on several sets
 */
public final class SetCommands {
    private SetCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(set("sadd", -3, "1.0.0", "Adds members to a set").key(1).access("RW insert")
                .flags(WRITE, DENYOOM, FAST).complexity("O(N) where N is the number of members given")
                .handler(SetCommands::add));
        table.add(set("srem", -3, "1.0.0", "Removes members of a set").key(1).access("RW delete").flags(WRITE, FAST)
                .complexity("O(N) where N is the number of members given").handler(SetCommands::rem));
        table.add(set("scard", 2, "1.0.0", "Returns the number of members of a set").key(1).access("RO")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(SetCommands::card));
        table.add(set("sismember", 3, "1.0.0", "Determines whether a member belongs to a set").key(1).access("RO")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST).handler(SetCommands::ismember));
        table.add(set("smismember", -3, "6.2.0", "Determines which members belong to a set").key(1)
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(N) where N is the number of members given")
                .handler(SetCommands::mismember));
        table.add(set("smove", 4, "1.0.0", "Moves a member from one set to another").keys(1, 2, 1)
                .access("RW access delete", "RW insert").flags(WRITE, FAST).traits(CommandTrait.ALL_OR_NOTHING)
                .handler(SetCommands::move));
        SetWalkCommands.addTo(table);
        SetAlgebraCommands.addTo(table);
    }

    static CommandBuilder set(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).categories("@set").group("set").since(since).summary(summary);
    }

    private static void add(CommandContext context) {
        SetValue set = Sets.of(context).first();
        if (set.openForMembers(context, true) != Found.WRONG_TYPE) {
            long added = set.addArguments(2);
            if (added > 0) {
                context.events().emit(KeyEvent.SADD, context.keyAt(0));
                context.countChanges(added);
            }
            context.reply().integer(added);
        }
    }

    private static void rem(CommandContext context) {
        SetValue set = Sets.of(context).first();
        if (set.openForMembers(context, true) != Found.WRONG_TYPE) {
            int removed = set.removeArguments(2);
            if (removed > 0) {
                context.events().emitRemoval(KeyEvent.SREM, context.keyAt(0), set.size() == 0);
                context.countChanges(removed);
            }
            context.reply().integer(removed);
        }
    }

    private static void card(CommandContext context) {
        SetValue set = Sets.of(context).first();
        if (set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().integer(set.size());
        }
    }

    private static void ismember(CommandContext context) {
        SetValue set = Sets.of(context).first();
        if (set.openForMembers(context, false) != Found.WRONG_TYPE) {
            replyWhetherMember(context, set, 2);
        }
    }

    private static void mismember(CommandContext context) {
        SetValue set = Sets.of(context).first();
        if (set.openForMembers(context, false) == Found.WRONG_TYPE) {
            return;
        }
        context.reply().array(context.argumentCount() - 2);
        for (int i = 2; i < context.argumentCount(); i++) {
            replyWhetherMember(context, set, i);
        }
    }

    private static void replyWhetherMember(CommandContext context, SetValue set, int argument) {
        context.reply()
                .integer(set.contains(context.argumentAddress(argument), context.argumentLength(argument)) ? 1 : 0);
    }

    private static void move(CommandContext context) {
        SetValue source = Sets.of(context).first();
        SetValue target = Sets.of(context).second();
        long member = context.argumentAddress(3);
        int length = context.argumentLength(3);
        switch (source.openForWriting(context, context.keyAt(0))) {
            case MISSING -> context.reply().integer(0);
            case WRONG_TYPE -> {
            }
            case PRESENT -> {
                if (target.openForWriting(context, context.keyAt(1)) == Found.WRONG_TYPE) {
                    return;
                }
                boolean moved = source.contains(member, length);
                if (moved && !isSameKey(context)) {
                    // All operations that may run out of memory come first.
                    source.makeFit();
                    boolean isNew = target.size() == 0;
                    boolean fresh = addUntold(context, target, member, length);
                    source.remove(member, length);
                    context.events().emitRemoval(KeyEvent.SREM, context.keyAt(0), source.size() == 0);
                    context.countChanges(1);
                    if (isNew) {
                        context.events().emit(KeyEvent.NEW, context.keyAt(1));
                    }
                    if (fresh) {
                        context.events().emit(KeyEvent.SADD, context.keyAt(1));
                        context.countChanges(1);
                    }
                }
                context.reply().integer(moved ? 1 : 0);
            }
        }
    }

    /** Adds a member; the caller publishes the event of a new key. */
    private static boolean addUntold(CommandContext context, SetValue target, long member, int length) {
        context.session().notifying(false);
        try {
            return target.add(member, length);
        } finally {
            context.session().notifying(true);
        }
    }

    private static boolean isSameKey(CommandContext context) {
        int length = context.argumentLength(1);
        return length == context.argumentLength(2)
                && Memory.equal(context.argumentAddress(1), context.argumentAddress(2), length);
    }
}

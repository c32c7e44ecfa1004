package io.varve.server.command.set;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on the members of a set. Immutable: static handlers.
 *
 * @see SetWalkCommands for those that answer many members, or any of them
 * @see SetAlgebraCommands for those on several sets
 */
public final class SetCommands {
    private SetCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(set("sadd", -3, "1.0.0", "Adds members to a set").key(1).access("RW insert")
                .flags(WRITE, DENYOOM, FAST).complexity("O(N) in the members").handler(SetCommands::add));
        table.add(set("srem", -3, "1.0.0", "Removes members of a set").key(1).access("RW delete").flags(WRITE, FAST)
                .complexity("O(N) in the members").handler(SetCommands::rem));
        table.add(set("scard", 2, "1.0.0", "Counts the members of a set").key(1).access("RO").flags(READONLY, FAST)
                .handler(SetCommands::card));
        table.add(set("sismember", 3, "1.0.0", "Tells whether a set has a member").key(1).access("RO")
                .flags(READONLY, FAST).handler(SetCommands::ismember));
        table.add(set("smismember", -3, "6.2.0", "Tells of each of several members whether a set has it").key(1)
                .access("RO access").flags(READONLY, FAST).complexity("O(N) in the members")
                .handler(SetCommands::mismember));
        table.add(set("smove", 4, "1.0.0", "Moves a member from one set to another").keys(1, 2, 1)
                .access("RW access delete", "RW insert").flags(WRITE, FAST).allOrNothing()
                .handler(SetCommands::move));
        SetWalkCommands.addTo(table);
        SetAlgebraCommands.addTo(table);
    }

    static CommandBuilder set(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).categories("@set").group("set").since(since).summary(summary);
    }

    private static void add(Invocation call) {
        SetValue set = Sets.of(call).first();
        if (set.openForWriting(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            long added = set.addArguments(2);
            if (added > 0) {
                call.events().tell(KeyEvent.SADD, call.keyAt(0));
                call.countChanges(added);
            }
            call.reply().integer(added);
        }
    }

    private static void rem(Invocation call) {
        SetValue set = Sets.of(call).first();
        if (set.openForWriting(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            int removed = set.removeArguments(2);
            if (removed > 0) {
                call.events().tellRemoval(KeyEvent.SREM, call.keyAt(0), set.size() == 0);
                call.countChanges(removed);
            }
            call.reply().integer(removed);
        }
    }

    private static void card(Invocation call) {
        SetValue set = Sets.of(call).first();
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().integer(set.size());
        }
    }

    private static void ismember(Invocation call) {
        SetValue set = Sets.of(call).first();
        if (set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            replyWhetherMember(call, set, 2);
        }
    }

    private static void mismember(Invocation call) {
        SetValue set = Sets.of(call).first();
        if (set.open(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        call.reply().array(call.argumentCount() - 2);
        for (int i = 2; i < call.argumentCount(); i++) {
            replyWhetherMember(call, set, i);
        }
    }

    private static void replyWhetherMember(Invocation call, SetValue set, int argument) {
        call.reply().integer(set.contains(call.argumentAddress(argument), call.argumentLength(argument)) ? 1 : 0);
    }

    private static void move(Invocation call) {
        SetValue source = Sets.of(call).first();
        SetValue target = Sets.of(call).second();
        long member = call.argumentAddress(3);
        int length = call.argumentLength(3);
        switch (source.openForWriting(call, call.keyAt(0))) {
            case MISSING -> call.reply().integer(0);
            case WRONG_TYPE -> {
            }
            case PRESENT -> {
                if (target.openForWriting(call, call.keyAt(1)) == Found.WRONG_TYPE) {
                    return;
                }
                boolean moved = source.contains(member, length);
                if (moved && !isSameKey(call)) {
                    // All that may find no room comes first.
                    source.makeFit();
                    boolean comes = target.size() == 0;
                    boolean fresh = addUntold(call, target, member, length);
                    source.remove(member, length);
                    call.events().tellRemoval(KeyEvent.SREM, call.keyAt(0), source.size() == 0);
                    call.countChanges(1);
                    if (comes) {
                        call.events().tell(KeyEvent.NEW, call.keyAt(1));
                    }
                    if (fresh) {
                        call.events().tell(KeyEvent.SADD, call.keyAt(1));
                        call.countChanges(1);
                    }
                }
                call.reply().integer(moved ? 1 : 0);
            }
        }
    }

    /** Adds a member, and leaves it to the caller to tell that the set is new. */
    private static boolean addUntold(Invocation call, SetValue target, long member, int length) {
        call.session().telling(false);
        try {
            return target.add(member, length);
        } finally {
            call.session().telling(true);
        }
    }

    private static boolean isSameKey(Invocation call) {
        int length = call.argumentLength(1);
        return length == call.argumentLength(2)
                && Memory.equal(call.argumentAddress(1), call.argumentAddress(2), length);
    }
}

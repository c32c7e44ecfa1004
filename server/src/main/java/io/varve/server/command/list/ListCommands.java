package io.varve.server.command.list;

import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands that change one list. Immutable: static handlers.
 *
 * @see ListReadCommands
 * @see ListTakeCommands for those that may wait, or have several keys
 */
public final class ListCommands {
    static final String NOT_POSITIVE = "ERR value is out of range, must be positive";
    private static final String NO_SUCH_KEY = "ERR no such key";
    private static final String IN_THE_PUSHED = "O(N) in the elements pushed";

    private ListCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(push("lpush", "1.0.0", "Adds elements at the beginning of a list")
                .handler(call -> push(call, true, false)));
        table.add(push("rpush", "1.0.0", "Adds elements at the end of a list")
                .handler(call -> push(call, false, false)));
        table.add(push("lpushx", "2.2.0", "Adds elements at the beginning of a list that exists")
                .handler(call -> push(call, true, true)));
        table.add(push("rpushx", "2.2.0", "Adds elements at the end of a list that exists")
                .handler(call -> push(call, false, true)));
        table.add(list("lpop", -2, "1.0.0", "Removes the first elements of a list, and answers them")
                .access("RW access delete").flags(WRITE, FAST).complexity("O(N) in the elements answered")
                .handler(call -> pop(call, true)));
        table.add(list("rpop", -2, "1.0.0", "Removes the last elements of a list, and answers them")
                .access("RW access delete").flags(WRITE, FAST).complexity("O(N) in the elements answered")
                .handler(call -> pop(call, false)));
        table.add(list("lset", 4, "1.0.0", "Replaces an element of a list").access("RW update").flags(WRITE, DENYOOM)
                .complexity("O(log N) in the list").handler(ListCommands::set));
        table.add(list("linsert", 5, "2.2.0", "Adds an element next to another one of a list").access("RW insert")
                .flags(WRITE, DENYOOM).complexity("O(N) in the elements in front of it").handler(ListCommands::insert));
        table.add(list("lrem", 4, "1.0.0", "Removes the elements of a list that are equal to a given one")
                .access("RW delete").flags(WRITE).complexity("O(N) in the list").handler(ListCommands::remove));
        table.add(list("ltrim", 4, "1.0.0", "Removes all elements of a list but a range").access("RW delete")
                .flags(WRITE).complexity("O(N) in the list").handler(ListCommands::trim));
        ListReadCommands.addTo(table);
        ListTakeCommands.addTo(table);
    }

    static CommandBuilder list(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).key(1).categories("@list").group("list").since(since)
                .summary(summary);
    }

    private static CommandBuilder push(String name, String since, String summary) {
        return list(name, -3, since, summary).access("RW insert").flags(WRITE, DENYOOM, FAST)
                .complexity(IN_THE_PUSHED);
    }

    private static void push(Invocation call, boolean first, boolean onlyIfPresent) {
        ListValue list = Lists.of(call).first();
        Found found = list.findForWriting(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING && onlyIfPresent) {
            call.reply().integer(0);
            return;
        }
        list.pushArguments(first, 2);
        call.events().tell(first ? KeyEvent.LPUSH : KeyEvent.RPUSH, call.keyAt(0));
        call.countChanges(call.argumentCount() - 2);
        call.reply().integer(list.length());
    }

    private static void pop(Invocation call, boolean first) {
        boolean counted = call.argumentCount() == 3;
        if (call.argumentCount() > 3) {
            call.wrongArgumentCount();
            return;
        }
        long count = 1;
        if (counted) {
            if (!call.requireLong(2, NOT_POSITIVE)) {
                return;
            }
            count = call.longValue();
            if (count < 0) {
                call.reply().error(NOT_POSITIVE);
                return;
            }
        }
        ListValue list = Lists.of(call).first();
        Found found = list.findForWriting(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            if (counted) {
                call.reply().nilArray();
            } else {
                call.reply().nil();
            }
            return;
        }
        long popped = Math.min(count, list.length());
        if (counted) {
            call.reply().array(popped);
        }
        takeEnd(list, first, popped);
        tellPop(call, call.keyAt(0), first, popped, list);
    }

    /** Elements have been taken off an end of a list. */
    static void tellPop(Invocation call, Key key, boolean first, long popped, ListValue left) {
        if (popped > 0) {
            call.events().tellRemoval(first ? KeyEvent.LPOP : KeyEvent.RPOP, key, left.length() == 0);
            call.countChanges(popped);
        }
    }

    /** Replies elements from the beginning on, or from the end on, and then removes them: what has no reply is not lost. */
    static void takeEnd(ListValue list, boolean first, long count) {
        if (count == 0) {
            return;
        }
        boolean all = count == list.length();
        list.seekEnd(first);
        long left = count;
        do {
            if (all) {
                list.reply();
            } else {
                list.replyTaken();
            }
        } while (--left > 0 && (first ? list.next() : list.previous()));
        list.removeEnd(first, count);
    }

    private static void set(Invocation call) {
        ListValue list = Lists.of(call).first();
        Found found = list.findForWriting(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            call.reply().error(NO_SUCH_KEY);
            return;
        }
        if (!call.requireLong(2)) {
            return;
        }
        long index = ListReadCommands.fromEnd(call.longValue(), list.length());
        if (index < 0 || index >= list.length()) {
            call.reply().error("ERR index out of range");
            return;
        }
        list.seek(index);
        list.replace(call.argumentAddress(3), call.argumentLength(3));
        call.events().tell(KeyEvent.LSET, call.keyAt(0));
        call.countChanges(1);
        call.reply().ok();
    }

    private static void insert(Invocation call) {
        boolean before = call.argumentIs(2, "BEFORE");
        if (!before && !call.argumentIs(2, "AFTER")) {
            call.syntaxError();
            return;
        }
        ListValue list = Lists.of(call).first();
        Found found = list.findForWriting(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            call.reply().integer(0);
            return;
        }
        list.seekEnd(true);
        do {
            if (list.isAt(call.argumentAddress(3), call.argumentLength(3))) {
                list.insert(before, call.argumentAddress(4), call.argumentLength(4));
                call.events().tell(KeyEvent.LINSERT, call.keyAt(0));
                call.countChanges(1);
                call.reply().integer(list.length());
                return;
            }
        } while (list.next());
        call.reply().integer(-1);
    }

    private static void remove(Invocation call) {
        if (!call.requireNegatableLong(2)) {
            return;
        }
        ListValue list = Lists.of(call).first();
        Found found = list.findForWriting(call.keyAt(0));
        if (found == Found.PRESENT) {
            long removed = list.removeEqual(call.argumentAddress(3), call.argumentLength(3), call.longValue());
            if (removed > 0) {
                call.events().tellRemoval(KeyEvent.LREM, call.keyAt(0), list.length() == 0);
                call.countChanges(removed);
            }
            call.reply().integer(removed);
        } else if (found == Found.MISSING) {
            call.reply().integer(0);
        }
    }

    private static void trim(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        long start = call.longValue();
        if (!call.requireLong(3)) {
            return;
        }
        long stop = call.longValue();
        ListValue list = Lists.of(call).first();
        Found found = list.findForWriting(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.PRESENT) {
            long length = list.length();
            long from = Math.max(0, ListReadCommands.fromEnd(start, length));
            long to = Math.min(length - 1, ListReadCommands.fromEnd(stop, length));
            if (from > to) {
                list.remove(0, length);
            } else {
                trim(list, from, to + 1);
            }
            call.events().tellRemoval(KeyEvent.LTRIM, call.keyAt(0), list.length() == 0);
            call.countChanges(length - list.length());
        }
        call.reply().ok();
    }

    private static void trim(ListValue list, long from, long to) {
        long length = list.length();
        if (from == 0 && to == length) {
            list.touch();
            return;
        }
        if (to < length) {
            list.remove(to, length);
        }
        if (from > 0) {
            list.remove(0, from);
        }
    }
}

package io.varve.server.command.list;

import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands that change one list. Immutable: static handlers.
 *
 * @see ListReadCommands
 * @see ListPopCommands for commands that may wait, or have several keys
 */
public final class ListCommands {
    static final String NOT_POSITIVE = "ERR value is out of range, must be positive";
    private static final String NO_SUCH_KEY = "ERR no such key";
    private static final String IN_THE_PUSHED = "O(N) where N is the number of elements pushed";

    private ListCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(push("lpush", "1.0.0", "Prepends elements to a list")
                .handler(context -> push(context, true, false)));
        table.add(push("rpush", "1.0.0", "Appends elements to a list")
                .handler(context -> push(context, false, false)));
        table.add(push("lpushx", "2.2.0", "Prepends elements to a list if it exists")
                .handler(context -> push(context, true, true)));
        table.add(push("rpushx", "2.2.0", "Appends elements to a list if it exists")
                .handler(context -> push(context, false, true)));
        table.add(list("lpop", -2, "1.0.0", "Removes and returns the first elements of a list")
                .access("RW access delete").flags(WRITE, FAST)
                .complexity("O(N) where N is the number of elements returned")
                .handler(context -> pop(context, true)));
        table.add(list("rpop", -2, "1.0.0", "Removes and returns the last elements of a list")
                .access("RW access delete").flags(WRITE, FAST)
                .complexity("O(N) where N is the number of elements returned")
                .handler(context -> pop(context, false)));
        table.add(list("lset", 4, "1.0.0", "Sets the value of an element by its index").access("RW update")
                .flags(WRITE, DENYOOM)
                .complexity("O(log N) where N is the length of the list").handler(ListCommands::set));
        table.add(list("linsert", 5, "2.2.0", "Inserts an element before or after another element of a list")
                .access("RW insert")
                .flags(WRITE, DENYOOM).complexity("O(N) where N is the number of elements before it")
                .handler(ListCommands::insert));
        table.add(list("lrem", 4, "1.0.0", "Removes the elements of a list that are equal to a value")
                .access("RW delete").flags(WRITE).complexity("O(N) where N is the length of the list")
                .handler(ListCommands::remove));
        table.add(list("ltrim", 4, "1.0.0", "Removes the elements of a list outside a range").access("RW delete")
                .flags(WRITE).complexity("O(N) where N is the length of the list").handler(ListCommands::trim));
        ListReadCommands.addTo(table);
        ListPopCommands.addTo(table);
    }

    static CommandBuilder list(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).key(1).categories("@list").group("list").since(since)
                .summary(summary);
    }

    private static CommandBuilder push(String name, String since, String summary) {
        return list(name, -3, since, summary).access("RW insert").flags(WRITE, DENYOOM, FAST)
                .complexity(IN_THE_PUSHED);
    }

    private static void push(CommandContext context, boolean first, boolean onlyIfPresent) {
        ListValue list = Lists.of(context).first();
        Found found = list.findForWriting(context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING && onlyIfPresent) {
            context.reply().integer(0);
            return;
        }
        list.pushArguments(first, 2);
        context.events().emit(first ? KeyEvent.LPUSH : KeyEvent.RPUSH, context.keyAt(0));
        context.countChanges(context.argumentCount() - 2);
        context.reply().integer(list.length());
    }

    private static void pop(CommandContext context, boolean first) {
        boolean counted = context.argumentCount() == 3;
        if (context.argumentCount() > 3) {
            context.wrongArgumentCount();
            return;
        }
        long count = 1;
        if (counted) {
            if (!context.requireLong(2, NOT_POSITIVE)) {
                return;
            }
            count = context.longValue();
            if (count < 0) {
                context.reply().error(NOT_POSITIVE);
                return;
            }
        }
        ListValue list = Lists.of(context).first();
        Found found = list.findForWriting(context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            if (counted) {
                context.reply().nilArray();
            } else {
                context.reply().nil();
            }
            return;
        }
        long popped = Math.min(count, list.length());
        if (counted) {
            context.reply().array(popped);
        }
        takeEnd(list, first, popped);
        emitPop(context, context.keyAt(0), first, popped, list);
    }

    /** Publishes the event and counts the changes of a pop from one end of a list. */
    static void emitPop(CommandContext context, Key key, boolean first, long popped, ListValue left) {
        if (popped > 0) {
            context.events().emitRemoval(first ? KeyEvent.LPOP : KeyEvent.RPOP, key, left.length() == 0);
            context.countChanges(popped);
        }
    }

    /** Replies elements from one end, and then removes them, so that a failed reply loses no element. */
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

    private static void set(CommandContext context) {
        ListValue list = Lists.of(context).first();
        Found found = list.findForWriting(context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            context.reply().error(NO_SUCH_KEY);
            return;
        }
        if (!context.requireLong(2)) {
            return;
        }
        long index = ListReadCommands.fromEnd(context.longValue(), list.length());
        if (index < 0 || index >= list.length()) {
            context.reply().error("ERR index out of range");
            return;
        }
        list.seek(index);
        list.replace(context.argumentAddress(3), context.argumentLength(3));
        context.events().emit(KeyEvent.LSET, context.keyAt(0));
        context.countChanges(1);
        context.reply().ok();
    }

    private static void insert(CommandContext context) {
        boolean before = context.argumentIs(2, "BEFORE");
        if (!before && !context.argumentIs(2, "AFTER")) {
            context.syntaxError();
            return;
        }
        ListValue list = Lists.of(context).first();
        Found found = list.findForWriting(context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            context.reply().integer(0);
            return;
        }
        list.seekEnd(true);
        do {
            if (list.isAt(context.argumentAddress(3), context.argumentLength(3))) {
                list.insert(before, context.argumentAddress(4), context.argumentLength(4));
                context.events().emit(KeyEvent.LINSERT, context.keyAt(0));
                context.countChanges(1);
                context.reply().integer(list.length());
                return;
            }
        } while (list.next());
        context.reply().integer(-1);
    }

    private static void remove(CommandContext context) {
        if (!context.requireNegatableLong(2)) {
            return;
        }
        ListValue list = Lists.of(context).first();
        Found found = list.findForWriting(context.keyAt(0));
        if (found == Found.PRESENT) {
            long removed = list.removeEqual(context.argumentAddress(3), context.argumentLength(3), context.longValue());
            if (removed > 0) {
                context.events().emitRemoval(KeyEvent.LREM, context.keyAt(0), list.length() == 0);
                context.countChanges(removed);
            }
            context.reply().integer(removed);
        } else if (found == Found.MISSING) {
            context.reply().integer(0);
        }
    }

    private static void trim(CommandContext context) {
        if (!context.requireLong(2)) {
            return;
        }
        long start = context.longValue();
        if (!context.requireLong(3)) {
            return;
        }
        long stop = context.longValue();
        ListValue list = Lists.of(context).first();
        Found found = list.findForWriting(context.keyAt(0));
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
            context.events().emitRemoval(KeyEvent.LTRIM, context.keyAt(0), list.length() == 0);
            context.countChanges(length - list.length());
        }
        context.reply().ok();
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

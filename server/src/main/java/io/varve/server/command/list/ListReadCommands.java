package io.varve.server.command.list;

import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.list.ListCommands.list;

/** Commands that answer what is in a list. Immutable: static handlers. */
final class ListReadCommands {
    private ListReadCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(list("llen", 2, "1.0.0", "Counts the elements of a list").access("RO").flags(READONLY, FAST)
                .handler(ListReadCommands::length));
        table.add(list("lrange", 4, "1.0.0", "Answers a range of the elements of a list").access("RO access")
                .flags(READONLY).complexity("O(log(N)+M) in the list, and in the range")
                .handler(ListReadCommands::range));
        table.add(list("lindex", 3, "1.0.0", "Answers an element of a list").access("RO access").flags(READONLY)
                .complexity("O(log N) in the list").handler(ListReadCommands::index));
        table.add(list("lpos", -3, "6.0.6", "Answers where elements of a list are that are equal to a given one")
                .access("RO access").flags(READONLY).complexity("O(N) in the list")
                .handler(ListReadCommands::position));
    }

    /** The place of an element that may be counted from the end. */
    static long fromEnd(long index, long length) {
        return index < 0 ? index + length : index;
    }

    private static void length(Invocation call) {
        ListValue list = Lists.of(call).first();
        if (list.find(call.keyAt(0)) != Found.WRONG_TYPE) {
            call.reply().integer(list.length());
        }
    }

    private static void range(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        long start = call.longValue();
        if (!call.requireLong(3)) {
            return;
        }
        long stop = call.longValue();
        ListValue list = Lists.of(call).first();
        if (list.find(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long length = list.length();
        long from = Math.max(0, fromEnd(start, length));
        long to = Math.min(length - 1, fromEnd(stop, length));
        if (from > to) {
            call.reply().array(0);
            return;
        }
        call.reply().array(to - from + 1);
        list.seek(from);
        list.reply();
        for (long i = from; i < to; i++) {
            boolean moved = list.next();
            assert moved;
            list.reply();
        }
    }

    private static void index(Invocation call) {
        ListValue list = Lists.of(call).first();
        Found found = list.find(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            call.reply().nil();
            return;
        }
        if (!call.requireLong(2)) {
            return;
        }
        long index = fromEnd(call.longValue(), list.length());
        if (index < 0 || index >= list.length()) {
            call.reply().nil();
        } else {
            list.seek(index);
            list.reply();
        }
    }

    // --- LPOS

    /** Not told: the first match alone. */
    private static final long ONE = -1;

    private static void position(Invocation call) {
        long rank = 1;
        long count = ONE;
        long most = 0;
        for (int i = 3; i < call.argumentCount(); i += 2) {
            boolean valued = i + 1 < call.argumentCount();
            if (valued && call.argumentIs(i, "RANK")) {
                if (!call.requireNegatableLong(i + 1)) {
                    return;
                }
                rank = call.longValue();
                if (rank == 0) {
                    call.reply().error("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second "
                            + "... or use negative to start from the end of the list");
                    return;
                }
            } else if (valued && call.argumentIs(i, "COUNT")) {
                if (!requireNatural(call, i + 1, "ERR COUNT can't be negative")) {
                    return;
                }
                count = call.longValue();
            } else if (valued && call.argumentIs(i, "MAXLEN")) {
                if (!requireNatural(call, i + 1, "ERR MAXLEN can't be negative")) {
                    return;
                }
                most = call.longValue();
            } else {
                call.syntaxError();
                return;
            }
        }
        ListValue list = Lists.of(call).first();
        Found found = list.find(call.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (count == ONE) {
            if (found == Found.MISSING || replyMatches(call, list, rank, 1, most) == 0) {
                call.reply().nil();
            }
        } else if (found == Found.MISSING) {
            call.reply().array(0);
        } else {
            long mark = call.reply().beginDeferred();
            call.reply().endArray(mark, replyMatches(call, list, rank, count, most));
        }
    }

    private static boolean requireNatural(Invocation call, int argument, String error) {
        if (!call.requireLong(argument, error)) {
            return false;
        }
        if (call.longValue() < 0) {
            call.reply().error(error);
            return false;
        }
        return true;
    }

    /**
     * Replies where the element of argument 2 is.
     *
     * @param rank  the first match that counts, from the end if negative
     * @param count how many matches at most; 0: all
     * @param most  how many elements are compared at most; 0: all
     * @return how many were replied
     */
    private static long replyMatches(Invocation call, ListValue list, long rank, long count, long most) {
        boolean backwards = rank < 0;
        // Of the least number there is no negative: it stays below zero, and every match counts, as in Redis 7.0.
        long first = backwards ? -rank : rank;
        long address = call.argumentAddress(2);
        int length = call.argumentLength(2);
        long compared = 0;
        long matches = 0;
        long replied = 0;
        list.seekEnd(!backwards);
        do {
            compared++;
            if (list.isAt(address, length) && ++matches >= first) {
                call.reply().integer(list.index());
                if (++replied == count) {
                    break;
                }
            }
        } while (compared != most && (backwards ? list.previous() : list.next()));
        return replied;
    }
}

package io.varve.server.command.list;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;

import static io.varve.server.command.list.ListCommands.list;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;

/** Commands that read a list. Immutable: static handlers. */
final class ListReadCommands {
    private ListReadCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(list("llen", 2, "1.0.0", "Counts the elements of a list").access("RO")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(ListReadCommands::length));
        table.add(list("lrange", 4, "1.0.0", "Returns a range of elements of a list").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .complexity("O(log(N)+M) where N is the length of the list and M the number of elements returned")
                .handler(ListReadCommands::range));
        table.add(list("lindex", 3, "1.0.0", "Returns an element of a list by its index").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .complexity("O(log N) where N is the length of the list").handler(ListReadCommands::index));
        table.add(list("lpos", -3, "6.0.6", "Returns the indexes of matching elements of a list")
                .access("RO access").flags(READONLY).complexity("O(N) where N is the length of the list")
                .handler(ListReadCommands::position));
    }

    /** The index from the start; a negative one counts from the end. */
    static long fromEnd(long index, long length) {
        return index < 0 ? index + length : index;
    }

    private static void length(CommandContext context) {
        ListValue list = Lists.of(context).first();
        if (list.find(context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().integer(list.length());
        }
    }

    private static void range(CommandContext context) {
        if (!context.requireLong(2)) {
            return;
        }
        long start = context.longValue();
        if (!context.requireLong(3)) {
            return;
        }
        long stop = context.longValue();
        ListValue list = Lists.of(context).first();
        if (list.find(context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long length = list.length();
        long from = Math.max(0, fromEnd(start, length));
        long to = Math.min(length - 1, fromEnd(stop, length));
        if (from > to) {
            context.reply().array(0);
            return;
        }
        context.reply().array(to - from + 1);
        list.seek(from);
        list.reply();
        for (long i = from; i < to; i++) {
            boolean moved = list.next();
            assert moved;
            list.reply();
        }
    }

    private static void index(CommandContext context) {
        ListValue list = Lists.of(context).first();
        Found found = list.find(context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            context.reply().nil();
            return;
        }
        if (!context.requireLong(2)) {
            return;
        }
        long index = fromEnd(context.longValue(), list.length());
        if (index < 0 || index >= list.length()) {
            context.reply().nil();
        } else {
            list.seek(index);
            list.reply();
        }
    }

    // --- LPOS

    /** No COUNT given: only the first match. */
    private static final long ONE = -1;

    private static void position(CommandContext context) {
        long rank = 1;
        long count = ONE;
        long max = 0;
        for (int i = 3; i < context.argumentCount(); i += 2) {
            boolean valued = i + 1 < context.argumentCount();
            if (valued && context.argumentIs(i, "RANK")) {
                if (!context.requireNegatableLong(i + 1)) {
                    return;
                }
                rank = context.longValue();
                if (rank == 0) {
                    context.reply()
                            .error("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second "
                                    + "... or use negative to start from the end of the list");
                    return;
                }
            } else if (valued && context.argumentIs(i, "COUNT")) {
                if (!requireNatural(context, i + 1, "ERR COUNT can't be negative")) {
                    return;
                }
                count = context.longValue();
            } else if (valued && context.argumentIs(i, "MAXLEN")) {
                if (!requireNatural(context, i + 1, "ERR MAXLEN can't be negative")) {
                    return;
                }
                max = context.longValue();
            } else {
                context.syntaxError();
                return;
            }
        }
        ListValue list = Lists.of(context).first();
        Found found = list.find(context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (count == ONE) {
            if (found == Found.MISSING || replyMatches(context, list, rank, 1, max) == 0) {
                context.reply().nil();
            }
        } else if (found == Found.MISSING) {
            context.reply().array(0);
        } else {
            long mark = context.reply().beginDeferred();
            context.reply().endArray(mark, replyMatches(context, list, rank, count, max));
        }
    }

    private static boolean requireNatural(CommandContext context, int argument, String error) {
        if (!context.requireLong(argument, error)) {
            return false;
        }
        if (context.longValue() < 0) {
            context.reply().error(error);
            return false;
        }
        return true;
    }

    /**
     * Replies the positions of the element in argument 2.
     *
     * @param rank the first match that counts; negative: counted from the end
     * @param count maximum number of matches; 0: all
     * @param max maximum number of comparisons; 0: all
     * @return number of replied positions
     */
    private static long replyMatches(CommandContext context, ListValue list, long rank, long count, long max) {
        boolean backwards = rank < 0;
        // The smallest long has no negative: it stays below zero, and every match counts, as in Redis 7.0.
        long first = backwards ? -rank : rank;
        long address = context.argumentAddress(2);
        int length = context.argumentLength(2);
        long compared = 0;
        long matches = 0;
        long replied = 0;
        list.seekEnd(!backwards);
        do {
            compared++;
            if (list.isAt(address, length) && ++matches >= first) {
                context.reply().integer(list.index());
                if (++replied == count) {
                    break;
                }
            }
        } while (compared != max && (backwards ? list.previous() : list.next()));
        return replied;
    }
}

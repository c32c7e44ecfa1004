package io.varve.server.command.string;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.server.command.CommandContext;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * LCS: the longest common subsequence of two strings, by dynamic programming. Confined to one command.
 *
 * <p>It keeps two rows of lengths, and one bit per cell with the direction of a longest subsequence: an eighth of a
 * byte per cell instead of four bytes. If both directions are equally long, it goes back in the second string, as Redis
 * does, so both find the same one of several subsequences.
 *
 * <p>The time grows with the product of the lengths, so it works on retained copies of the strings
 * ({@link HeldString}), without the locks of their shards.
 */
final class LongestCommonSubsequence {
    private final HeldString a;
    private final byte[] b;
    /** Bit {@code (i - 1) * b.length + j - 1}: for a[0..i) and b[0..j), the path leads to a[0..i-1). */
    private final long[] towardsShorterA;
    private final int length;

    private LongestCommonSubsequence(HeldString a, byte[] b) {
        this.a = a;
        this.b = b;
        towardsShorterA = new long[(int) (((long) a.length() * b.length + 63) >>> 6)];
        length = fill(a, b, towardsShorterA);
    }

    private static int fill(HeldString a, byte[] b, long[] towardsShorterA) {
        int[] previous = new int[b.length + 1];
        int[] row = new int[b.length + 1];
        long bit = 0;
        for (int i = 0; i < a.length(); i++) {
            bit = fillRow(a.at(i), b, previous, row, towardsShorterA, bit);
            int[] full = row;
            row = previous;
            previous = full;
        }
        return previous[b.length];
    }

    /** @return the first bit of the next row */
    private static long fillRow(byte c, byte[] b, int[] previous, int[] row, long[] towardsShorterA, long firstBit) {
        long bit = firstBit;
        for (int j = 1; j <= b.length; j++, bit++) {
            if (c == b[j - 1]) {
                row[j] = previous[j - 1] + 1;
            } else if (previous[j] > row[j - 1]) {
                row[j] = previous[j];
                towardsShorterA[(int) (bit >>> 6)] |= 1L << bit;
            } else {
                row[j] = row[j - 1];
            }
        }
        return bit;
    }

    private boolean isTowardsShorterA(int i, int j) {
        long bit = (long) (i - 1) * b.length + j - 1;
        return (towardsShorterA[(int) (bit >>> 6)] & 1L << bit) != 0;
    }

    // --- the command

    static void run(CommandContext context) {
        Item first = context.item();
        Item second = context.otherItem();
        boolean hasFirst = context.session().find(context.keyAt(0), first);
        boolean hasSecond = context.session().find(context.keyAt(1), second);
        if (hasFirst && first.type() != ItemType.STRING || hasSecond && second.type() != ItemType.STRING) {
            context.reply().error("ERR The specified keys must contain string values");
            return;
        }
        Options options = Options.read(context);
        if (options == null) {
            return;
        }
        int firstLength = hasFirst ? first.valueLength() : 0;
        int secondLength = hasSecond ? second.valueLength() : 0;
        // Redis builds a table of 4 bytes per cell, and refuses one that would exceed proto-max-bulk-len.
        if ((firstLength + 1L) * (secondLength + 1L) * Integer.BYTES > context.server().config().maxBulkBytes()) {
            context.reply().error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
            return;
        }
        RequestHeapBudget heap = context.server().argumentMemory();
        // Two rows, a bit per cell, the text, and copies of the strings.
        long bytes = 2L * Integer.BYTES * secondLength + (long) firstLength * secondLength / Byte.SIZE
                + Math.min(firstLength, secondLength) + secondLength
                + HeldString.heapBytes(context.session(), first, firstLength);
        if (!heap.tryReserve(bytes)) {
            context.reply().error("ERR Insufficient memory, failed allocating transient memory for LCS");
            return;
        }
        try (HeldString a = HeldString.of(context.session(), first, firstLength);
                HeldString b = HeldString.of(context.session(), second, secondLength)) {
            context.withLocksReleased(
                    () -> new LongestCommonSubsequence(a, b.toArray()).reply(context.reply(), options));
        } finally {
            heap.release(bytes);
        }
    }

    private void reply(ReplyWriter reply, Options options) {
        if (options.indexes) {
            replyRanges(reply, options.minMatchLength, options.matchLengths);
        } else if (options.lengthOnly) {
            reply.integer(length);
        } else {
            replyString(reply);
        }
    }

    private void replyString(ReplyWriter reply) {
        byte[] text = new byte[length];
        int left = length;
        int i = a.length();
        int j = b.length;
        while (i > 0 && j > 0) {
            byte c = a.at(i - 1);
            if (c == b[j - 1]) {
                text[--left] = c;
                i--;
                j--;
            } else if (isTowardsShorterA(i, j)) {
                i--;
            } else {
                j--;
            }
        }
        reply.bulk(text);
    }

    /** Replies the matching ranges of both strings, from the end to the beginning. */
    private void replyRanges(ReplyWriter reply, long minMatchLength, boolean matchLengths) {
        reply.map(2);
        reply.bulkAscii("matches");
        long mark = reply.beginDeferred();
        int ranges = 0;
        int i = a.length();
        int j = b.length;
        while (i > 0 && j > 0) {
            int matched = 0;
            while (i > 0 && j > 0 && a.at(i - 1) == b[j - 1]) {
                matched++;
                i--;
                j--;
            }
            if (matched > 0 && matched >= minMatchLength) {
                reply.array(matchLengths ? 3 : 2);
                replyRange(reply, i, matched);
                replyRange(reply, j, matched);
                if (matchLengths) {
                    reply.integer(matched);
                }
                ranges++;
            }
            if (i > 0 && j > 0) {
                if (isTowardsShorterA(i, j)) {
                    i--;
                } else {
                    j--;
                }
            }
        }
        reply.endArray(mark, ranges);
        reply.bulkAscii("len");
        reply.integer(length);
    }

    private static void replyRange(ReplyWriter reply, int start, int matched) {
        reply.array(2);
        reply.integer(start);
        reply.integer(start + matched - 1L);
    }

    /** The command's options. */
    private record Options(boolean indexes, boolean lengthOnly, boolean matchLengths, long minMatchLength) {
        /** @return null after an error was replied */
        static @Nullable Options read(CommandContext context) {
            boolean indexes = false;
            boolean lengthOnly = false;
            boolean matchLengths = false;
            long minMatchLength = 0;
            for (int i = 3; i < context.argumentCount(); i++) {
                if (context.argumentIs(i, "IDX")) {
                    indexes = true;
                } else if (context.argumentIs(i, "LEN")) {
                    lengthOnly = true;
                } else if (context.argumentIs(i, "WITHMATCHLEN")) {
                    matchLengths = true;
                } else if (context.argumentIs(i, "MINMATCHLEN") && i + 1 < context.argumentCount()) {
                    if (!context.requireLong(++i)) {
                        return null;
                    }
                    minMatchLength = Math.max(0, context.longValue());
                } else {
                    context.syntaxError();
                    return null;
                }
            }
            if (indexes && lengthOnly) {
                context.reply().error("ERR If you want both the length and indexes, please just use IDX.");
                return null;
            }
            return new Options(indexes, lengthOnly, matchLengths, minMatchLength);
        }
    }
}

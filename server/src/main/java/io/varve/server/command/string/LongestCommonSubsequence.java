package io.varve.server.command.string;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.server.command.Invocation;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * LCS: the longest common subsequence of two strings, by dynamic programming. Confined to one command.
 *
 * <p>Two rows of lengths are kept, and one bit a cell that says which way a longest subsequence comes from: an eighth of
 * a byte a cell instead of four. Where both ways are equally long it goes back in the second string, as Redis does, so
 * that the same one of several subsequences is found.
 *
 * <p>It takes time with the product of the lengths, so it works on what it has taken of the strings ({@link HeldString}), without the
 * locks of their shards.
 */
final class LongestCommonSubsequence {
    private final HeldString a;
    private final byte[] b;
    /** Bit {@code (i - 1) * b.length + j - 1}: of a[0..i) and b[0..j), the way leads to a[0..i-1). */
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

    static void run(Invocation call) {
        Item first = call.item();
        Item second = call.otherItem();
        boolean hasFirst = call.session().find(call.keyAt(0), first);
        boolean hasSecond = call.session().find(call.keyAt(1), second);
        if (hasFirst && first.type() != ItemType.STRING || hasSecond && second.type() != ItemType.STRING) {
            call.reply().error("ERR The specified keys must contain string values");
            return;
        }
        Wanted wanted = Wanted.read(call);
        if (wanted == null) {
            return;
        }
        int firstLength = hasFirst ? first.valueLength() : 0;
        int secondLength = hasSecond ? second.valueLength() : 0;
        // Redis makes a table of 4 bytes a cell, and refuses one that would pass proto-max-bulk-len.
        if ((firstLength + 1L) * (secondLength + 1L) * Integer.BYTES > call.server().config().maxBulkBytes()) {
            call.reply().error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
            return;
        }
        ArgumentMemory heap = call.server().argumentMemory();
        // Two rows, a bit for each cell, the text, and copies of the strings.
        long bytes = 2L * Integer.BYTES * secondLength + (long) firstLength * secondLength / Byte.SIZE
                + Math.min(firstLength, secondLength) + secondLength
                + HeldString.heapBytes(call.session(), first, firstLength);
        if (!heap.take(bytes)) {
            call.reply().error("ERR Insufficient memory, failed allocating transient memory for LCS");
            return;
        }
        try (HeldString a = HeldString.of(call.session(), first, firstLength);
                HeldString b = HeldString.of(call.session(), second, secondLength)) {
            call.letOthers(() -> new LongestCommonSubsequence(a, b.toArray()).reply(call.reply(), wanted));
        } finally {
            heap.give(bytes);
        }
    }

    private void reply(ReplyWriter reply, Wanted wanted) {
        if (wanted.indexes) {
            replyRanges(reply, wanted.minMatchLength, wanted.matchLengths);
        } else if (wanted.lengthOnly) {
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

    /** The ranges of both strings that match, from the end to the beginning. */
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
    private record Wanted(boolean indexes, boolean lengthOnly, boolean matchLengths, long minMatchLength) {
        /** @return null after an error was replied */
        static @Nullable Wanted read(Invocation call) {
            boolean indexes = false;
            boolean lengthOnly = false;
            boolean matchLengths = false;
            long minMatchLength = 0;
            for (int i = 3; i < call.argumentCount(); i++) {
                if (call.argumentIs(i, "IDX")) {
                    indexes = true;
                } else if (call.argumentIs(i, "LEN")) {
                    lengthOnly = true;
                } else if (call.argumentIs(i, "WITHMATCHLEN")) {
                    matchLengths = true;
                } else if (call.argumentIs(i, "MINMATCHLEN") && i + 1 < call.argumentCount()) {
                    if (!call.requireLong(++i)) {
                        return null;
                    }
                    minMatchLength = Math.max(0, call.longValue());
                } else {
                    call.syntaxError();
                    return null;
                }
            }
            if (indexes && lengthOnly) {
                call.reply().error("ERR If you want both the length and indexes, please just use IDX.");
                return null;
            }
            return new Wanted(indexes, lengthOnly, matchLengths, minMatchLength);
        }
    }
}

package io.varve.server.command.string;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;

/**
 * LCS: the longest common subsequence of two strings, by dynamic programming. Confined to one command.
 *
 * <p>Two rows of lengths are kept, and one bit a cell that says which way a longest subsequence comes from: an eighth of
 * a byte a cell instead of four. Where both ways are equally long it goes back in the second string, as Redis does, so
 * that the same one of several subsequences is found.
 */
final class LongestCommonSubsequence {
    private final long a;
    private final int aLength;
    private final long b;
    private final int bLength;
    /** Bit {@code (i - 1) * bLength + j - 1}: of a[0..i) and b[0..j), the way leads to a[0..i-1). */
    private final long[] towardsShorterA;
    private final int length;

    private LongestCommonSubsequence(long a, int aLength, long b, int bLength) {
        this.a = a;
        this.aLength = aLength;
        this.b = b;
        this.bLength = bLength;
        towardsShorterA = new long[(int) (((long) aLength * bLength + 63) >>> 6)];
        length = fill();
    }

    private int fill() {
        int[] previous = new int[bLength + 1];
        int[] row = new int[bLength + 1];
        for (int i = 1; i <= aLength; i++) {
            byte c = Memory.getByte(a + i - 1);
            long bit = (long) (i - 1) * bLength;
            for (int j = 1; j <= bLength; j++, bit++) {
                if (c == Memory.getByte(b + j - 1)) {
                    row[j] = previous[j - 1] + 1;
                } else if (previous[j] > row[j - 1]) {
                    row[j] = previous[j];
                    towardsShorterA[(int) (bit >>> 6)] |= 1L << bit;
                } else {
                    row[j] = row[j - 1];
                }
            }
            int[] full = row;
            row = previous;
            previous = full;
        }
        return previous[bLength];
    }

    private boolean isTowardsShorterA(int i, int j) {
        long bit = (long) (i - 1) * bLength + j - 1;
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
                    return;
                }
                minMatchLength = Math.max(0, call.longValue());
            } else {
                call.syntaxError();
                return;
            }
        }
        if (indexes && lengthOnly) {
            call.reply().error("ERR If you want both the length and indexes, please just use IDX.");
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
        // Two rows, a bit for each cell, and the text.
        long bytes = 2L * Integer.BYTES * secondLength + (long) firstLength * secondLength / Byte.SIZE
                + Math.min(firstLength, secondLength);
        if (!heap.take(bytes)) {
            call.reply().error("ERR Insufficient memory, failed allocating transient memory for LCS");
            return;
        }
        try {
            LongestCommonSubsequence found = new LongestCommonSubsequence(first.valueAddress(), firstLength,
                    second.valueAddress(), secondLength);
            if (indexes) {
                found.replyRanges(call.reply(), minMatchLength, matchLengths);
            } else if (lengthOnly) {
                call.reply().integer(found.length);
            } else {
                found.replyString(call.reply());
            }
        } finally {
            heap.give(bytes);
        }
    }

    private void replyString(ReplyWriter reply) {
        byte[] text = new byte[length];
        int left = length;
        int i = aLength;
        int j = bLength;
        while (i > 0 && j > 0) {
            byte c = Memory.getByte(a + i - 1);
            if (c == Memory.getByte(b + j - 1)) {
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
        int i = aLength;
        int j = bLength;
        while (i > 0 && j > 0) {
            int matched = 0;
            while (i > 0 && j > 0 && Memory.getByte(a + i - 1) == Memory.getByte(b + j - 1)) {
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
}

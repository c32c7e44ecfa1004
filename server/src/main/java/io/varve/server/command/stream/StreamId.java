package io.varve.server.command.stream;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.resp.Numbers;

/**
 * Parses the ID of a stream's entry: milliseconds and a sequence number, both unsigned. Confined to its event loop;
 * reused from command to command.
 */
public final class StreamId {
    /** The error for an argument that is no ID. */
    public static final String INVALID = "ERR Invalid stream ID specified as stream command argument";
    /** The largest number of both parts. */
    public static final long MAX = -1L;

    /** The most bytes of an ID as text. */
    public static final int MAX_TEXT_BYTES = 2 * Numbers.MAX_LONG_CHARS + 1;

    private static final int MAX_LENGTH = 127;
    private static final int RADIX = 10;
    /** The most digits that cannot overflow a long. */
    private static final int MAX_PLAIN_DIGITS = 18;

    private long ms;
    private long seq;
    private boolean hasSeq;
    /** The result of {@link #parseNumber} and {@link #parseDigits}. */
    private long number;

    /** Writes an ID as text; returns its length, at most {@link #MAX_TEXT_BYTES}. */
    public static int put(long address, long ms, long seq) {
        int length = putUnsigned(address, ms);
        Memory.putByte(address + length, (byte) '-');
        return length + 1 + putUnsigned(address + length + 1, seq);
    }

    private static int putUnsigned(long address, long value) {
        if (value >= 0) {
            return Numbers.putLong(address, value);
        }
        long tens = Long.divideUnsigned(value, RADIX);
        int length = Numbers.putLong(address, tens);
        Memory.putByte(address + length, (byte) ('0' + value - tens * RADIX));
        return length + 1;
    }

    /** Compares two IDs. */
    public static int compare(long ms, long seq, long otherMs, long otherSeq) {
        int compared = Long.compareUnsigned(ms, otherMs);
        return compared != 0 ? compared : Long.compareUnsigned(seq, otherSeq);
    }

    public long ms() {
        return ms;
    }

    public long seq() {
        return seq;
    }

    /** Whether the last parsed ID had a sequence number, {@code false} for {@code ms-*}. */
    public boolean hasSeq() {
        return hasSeq;
    }

    public void set(long newMs, long newSeq) {
        ms = newMs;
        seq = newSeq;
    }

    /** Whether this ID is greater than another. */
    public boolean isAfter(long otherMs, long otherSeq) {
        return compare(ms, seq, otherMs, otherSeq) > 0;
    }

    /** Moves to the next ID; false, and 0-0, if this is the largest. */
    public boolean increment() {
        seq++;
        if (seq == 0) {
            ms++;
        }
        return (ms | seq) != 0;
    }

    /** Moves to the previous ID; false if this is 0-0. */
    public boolean decrement() {
        if ((ms | seq) == 0) {
            ms = MAX;
            seq = MAX;
            return false;
        }
        seq--;
        if (seq == MAX) {
            ms--;
        }
        return true;
    }

    /** Parses a complete or incomplete ID, but no - or +. */
    public boolean parseStrictly(long text, int length, long missingSeq) {
        return !isEnd(text, length) && parse(text, length, missingSeq, false);
    }

    /** Parses an ID, {@code -} for the smallest or {@code +} for the largest. */
    public boolean parse(long text, int length, long missingSeq) {
        return parse(text, length, missingSeq, false);
    }

    /** Parses an ID that may be {@code ms-*}: then {@link #hasSeq} is false. */
    public boolean parseForAdding(long text, int length) {
        return !isEnd(text, length) && parse(text, length, 0, true);
    }

    /** As {@link #parseStrictly}, or replies the error. */
    public boolean requireStrictly(CommandContext context, int argument, long missingSeq) {
        if (parseStrictly(context.argumentAddress(argument), context.argumentLength(argument), missingSeq)) {
            return true;
        }
        context.reply().error(INVALID);
        return false;
    }

    private static boolean isEnd(long text, int length) {
        return length > 0 && isSign(Memory.getByte(text)) && (length == 1 || Memory.getByte(text + 1) == 0);
    }

    private static boolean isSign(byte letter) {
        return letter == '-' || letter == '+';
    }

    /** Redis reads the argument up to a zero byte. */
    private static int shown(long text, int length) {
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(text + i) == 0) {
                return i;
            }
        }
        return length;
    }

    private boolean parse(long text, int length, long missingSeq, boolean mayGenerateSeq) {
        if (length > MAX_LENGTH) {
            return false;
        }
        hasSeq = true;
        if (parsePlain(text, length, missingSeq)) {
            return true;
        }
        int end = shown(text, length);
        if (end == 1 && isSign(Memory.getByte(text))) {
            long edge = Memory.getByte(text) == '-' ? 0 : MAX;
            set(edge, edge);
            return true;
        }
        int dash = 0;
        while (dash < end && Memory.getByte(text + dash) != '-') {
            dash++;
        }
        if (!parseNumber(text, dash)) {
            return false;
        }
        ms = number;
        if (dash == end) {
            seq = missingSeq;
            return true;
        }
        long rest = text + dash + 1;
        int restLength = end - dash - 1;
        if (mayGenerateSeq && restLength == 1 && Memory.getByte(rest) == '*') {
            hasSeq = false;
            seq = 0;
            return true;
        }
        if (!parseNumber(rest, restLength)) {
            return false;
        }
        seq = number;
        return true;
    }

    /** Parses an ID of digits that cannot overflow; false, with the ID undefined, for any other. */
    private boolean parsePlain(long text, int length, long missingSeq) {
        int dash = parseDigits(text, 0, length);
        ms = number;
        seq = missingSeq;
        if (dash == 0 || dash == length) {
            return dash > 0;
        }
        int end = Memory.getByte(text + dash) == '-' ? parseDigits(text, dash + 1, length) : 0;
        seq = number;
        return end == length && end > dash + 1;
    }

    /**
     * Parses digits, at most {@link #MAX_PLAIN_DIGITS}, into {@link #number}.
     *
     * @return the position behind them
     */
    private int parseDigits(long text, int from, int length) {
        int most = Math.min(length, from + MAX_PLAIN_DIGITS);
        long value = 0;
        int at = from;
        for (; at < most; at++) {
            int digit = Memory.getByte(text + at) - '0';
            if (digit < 0 || digit >= RADIX) {
                break;
            }
            value = value * RADIX + digit;
        }
        number = value;
        return at;
    }

    /** Parses a number as C's strtoull does: spaces, a sign and zeros may precede it. Redis refuses -1, but not -01. */
    private boolean parseNumber(long text, int length) {
        int at = 0;
        while (at < length && isSpace(Memory.getByte(text + at))) {
            at++;
        }
        boolean negative = false;
        if (at < length && isSign(Memory.getByte(text + at))) {
            negative = Memory.getByte(text + at) == '-';
            at++;
        }
        int first = at;
        long value = 0;
        for (; at < length; at++) {
            int digit = Memory.getByte(text + at) - '0';
            if (digit < 0 || digit >= RADIX || Long.compareUnsigned(value, Long.divideUnsigned(MAX, RADIX)) > 0) {
                return false;
            }
            value *= RADIX;
            if (Long.compareUnsigned(value, MAX - digit) > 0) {
                return false;
            }
            value += digit;
        }
        boolean isPlainNegative = negative && first == 1 && (value > 0 || value == Long.MIN_VALUE)
                && Memory.getByte(text + first) != '0';
        if (at == first || isPlainNegative) {
            return false;
        }
        number = negative ? -value : value;
        return true;
    }

    private static boolean isSpace(byte letter) {
        return letter == ' ' || letter >= '\t' && letter <= '\r';
    }
}

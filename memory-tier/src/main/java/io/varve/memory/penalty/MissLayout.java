package io.varve.memory.penalty;

import io.varve.memory.offheap.Memory;

/**
 * A line of the miss monitor: eight misses in 64 bytes. Immutable: static methods only.
 *
 * <pre>
 *  63          42 41     38 37                 0
 * +--------------+---------+--------------------+
 * | tag, not 0   | class   | when missed, µs    |   0: no miss
 * +--------------+---------+--------------------+
 * </pre>
 *
 * <p>The class is that for which the miss was counted. 38 bits of microseconds are three days; a time is one of the last three days.
 */
final class MissLayout {
    static final int LINE_SHIFT = 6;
    static final int MISSES = 8;
    static final int TAG_BITS = 22;
    static final int CLASS_BITS = 4;
    static final int TIME_BITS = Long.SIZE - TAG_BITS - CLASS_BITS;
    static final int TAG_SHIFT = Long.SIZE - TAG_BITS;
    static final int CLASS_MASK = (1 << CLASS_BITS) - 1;
    static final long TIME_MASK = (1L << TIME_BITS) - 1;
    static final long EMPTY = 0;

    private MissLayout() {}

    static long get(long line, int place) {
        return Memory.getLong(line + (long) place * Long.BYTES);
    }

    static void put(long line, int place, long miss) {
        Memory.putLong(line + (long) place * Long.BYTES, miss);
    }

    /** A tag from a hash, never 0. */
    static int tag(long hash) {
        int tag = (int) (hash >>> TAG_SHIFT);
        return tag == 0 ? 1 : tag;
    }

    /** @param missedAs the class for which it is counted, 0 to {@link #CLASS_MASK} */
    static long miss(int tag, int missedAs, long micros) {
        return (long) tag << TAG_SHIFT | (long) missedAs << TIME_BITS | micros & TIME_MASK;
    }

    static int tagOf(long miss) {
        return (int) (miss >>> TAG_SHIFT);
    }

    static int missedAs(long miss) {
        return (int) (miss >>> TIME_BITS) & CLASS_MASK;
    }

    /** How long ago a miss was, µs. */
    static long age(long miss, long nowMicros) {
        return nowMicros - miss & TIME_MASK;
    }
}

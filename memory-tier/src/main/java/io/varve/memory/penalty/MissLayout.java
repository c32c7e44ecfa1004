package io.varve.memory.penalty;

import io.varve.memory.offheap.Memory;

/**
 * A line of the miss monitor: eight misses in 64 bytes. Immutable: static methods only.
 *
 * <pre>
 *  63          40 39                           0
 * +--------------+------------------------------+
 * | tag, not 0   | when it was missed, µs       |   0: no miss
 * +--------------+------------------------------+
 * </pre>
 *
 * <p>40 bits of microseconds are twelve days; a time is one of the last twelve days.
 */
final class MissLayout {
    static final int LINE_SHIFT = 6;
    static final int MISSES = 8;
    static final int TAG_BITS = 24;
    static final int TIME_BITS = Long.SIZE - TAG_BITS;
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
        int tag = (int) (hash >>> TIME_BITS);
        return tag == 0 ? 1 : tag;
    }

    static long miss(int tag, long micros) {
        return (long) tag << TIME_BITS | micros & TIME_MASK;
    }

    static int tagOf(long miss) {
        return (int) (miss >>> TIME_BITS);
    }

    /** How long ago a miss was, µs. */
    static long age(long miss, long nowMicros) {
        return nowMicros - miss & TIME_MASK;
    }
}

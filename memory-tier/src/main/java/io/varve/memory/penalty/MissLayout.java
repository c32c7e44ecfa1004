package io.varve.memory.penalty;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a line of the miss monitor: eight misses in 64 bytes. Immutable: static methods only.
 *
 * <pre>
 *  63          44 43     40 39       36 35              0
 * +--------------+---------+-----------+-----------------+
 * | tag, not 0   | class   | count - 1 | when missed, µs |   0: no miss
 * +--------------+---------+-----------+-----------------+
 * </pre>
 *
 * <p>The class is the one for which the key's misses were counted, and the count is their number, up to 16. 36 bits of
 * microseconds span 19 hours; a time is one of the last 19 hours.
 */
final class MissLayout {
    static final int LINE_SHIFT = 6;
    static final int MISSES = 8;
    static final int TAG_BITS = 20;
    static final int CLASS_BITS = 4;
    static final int COUNT_BITS = 4;
    static final int TIME_BITS = Long.SIZE - TAG_BITS - CLASS_BITS - COUNT_BITS;
    static final int COUNT_SHIFT = TIME_BITS;
    static final int CLASS_SHIFT = COUNT_SHIFT + COUNT_BITS;
    static final int TAG_SHIFT = Long.SIZE - TAG_BITS;
    static final int CLASS_MASK = (1 << CLASS_BITS) - 1;
    /** The most misses of a key that are counted separately. */
    static final int MAX_COUNTED = 1 << COUNT_BITS;
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

    /**
     * @param missClass the class for which the misses are counted, 0 to {@link #CLASS_MASK}
     * @param count the number of misses, 1 to {@link #MAX_COUNTED}
     */
    static long miss(int tag, int missClass, int count, long micros) {
        return (long) tag << TAG_SHIFT | (long) missClass << CLASS_SHIFT | count - 1L << COUNT_SHIFT
                | micros & TIME_MASK;
    }

    static int tagOf(long miss) {
        return (int) (miss >>> TAG_SHIFT);
    }

    static int missClass(long miss) {
        return (int) (miss >>> CLASS_SHIFT) & CLASS_MASK;
    }

    static int count(long miss) {
        return (int) (miss >>> COUNT_SHIFT) % MAX_COUNTED + 1;
    }

    /** The age of a miss, µs. */
    static long age(long miss, long nowMicros) {
        return nowMicros - miss & TIME_MASK;
    }
}

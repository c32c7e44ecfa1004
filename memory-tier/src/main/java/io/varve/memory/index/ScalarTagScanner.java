package io.varve.memory.index;

import io.varve.memory.offheap.Memory;

/**
 * Compares the seven tags four at a time in two 64-bit words. Immutable; the scalar twin of the vector scanner, for
 * JVMs without the Vector API.
 */
public final class ScalarTagScanner implements TagScanner {
    private static final int LANE_BITS = Short.SIZE;
    private static final long LANES = 0x0001_0001_0001_0001L;
    private static final long LOW_BITS = LANES * 0x7FFF;
    /** A multiplier that gathers bits 0, 16, 32, 48 into bits 48 to 51; no two products meet, so none carries. */
    private static final long GATHER = 1L << 48 | 1L << 33 | 1L << 18 | 1L << 3;
    private static final int LANES_PER_WORD = Long.SIZE / LANE_BITS;

    public ScalarTagScanner() {}

    @Override
    public int matches(long bucketAddress, short tag) {
        return matches(Memory.getLong(bucketAddress), Memory.getLong(bucketAddress + Long.BYTES), tag);
    }

    /**
     * Matches over a head that was already read: lane 0 of the first word is num and flag, the other lanes are tags.
     */
    static int matches(long firstWord, long secondWord, short tag) {
        long wanted = (tag & 0xFFFFL) * LANES;
        int head = equalLanes(firstWord ^ wanted);
        int tail = equalLanes(secondWord ^ wanted);
        return (head >>> 1 | tail << LANES_PER_WORD - 1) & (int) firstWord & IndexBucketLayout.SLOTS_MASK;
    }

    /** Sets bit i if lane i is zero. It is exact: no borrow crosses a lane because each sum stays below 2^16. */
    private static int equalLanes(long difference) {
        long nonZero = (difference & LOW_BITS) + LOW_BITS | difference;
        long zero = ~nonZero >>> LANE_BITS - 1 & LANES;
        return (int) (zero * GATHER >>> 48) & 0xF;
    }
}

package io.varve.memory.segment;

/** How large a segment should be. Immutable: static methods only. */
public final class SegmentSizing {
    public static final int MIN_BYTES = 4 << 10;
    /** The paper's size, and what 23 bits of offset address. */
    public static final int MAX_BYTES = 1 << Location.OFFSET_BITS;

    /** All open heads together may hold this part of maxmemory, so that what they leave unused is a few percent. */
    private static final int HEADS_PART = 32;
    /** More heads do not make segments smaller: heads are in proportion to what their shard holds all the same. */
    private static final int MOST_HEADS = 4;

    private SegmentSizing() {}

    /**
     * The largest power of two up to 8 MiB with {@code shards * heads * size <= maxMemoryBytes / 32}, but at least
     * 4 KiB; of the heads, four count at most.
     */
    public static int auto(long maxMemoryBytes, int shards, int heads) {
        long bytes = maxMemoryBytes / HEADS_PART / ((long) shards * Math.min(heads, MOST_HEADS));
        return (int) Math.min(MAX_BYTES, Math.max(MIN_BYTES, Long.highestOneBit(bytes)));
    }

    /**
     * @throws IllegalArgumentException if it is not a power of two from 4 KiB to 8 MiB
     */
    static void require(int segmentBytes) {
        if (segmentBytes < MIN_BYTES || segmentBytes > MAX_BYTES || Integer.bitCount(segmentBytes) != 1) {
            throw new IllegalArgumentException("segment-size " + segmentBytes
                    + ": allowed is a power of two from 4 KiB to 8 MiB");
        }
    }
}

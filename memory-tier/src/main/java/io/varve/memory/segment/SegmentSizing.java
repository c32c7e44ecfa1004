package io.varve.memory.segment;

/** Computes and checks the segment size. Immutable: static methods only. */
public final class SegmentSizing {
    public static final int MIN_BYTES = 4 << 10;
    /** The paper's size, and the range of 23 bits of offset. */
    public static final int MAX_BYTES = 1 << Location.OFFSET_BITS;

    /** All open segments together may hold this part of maxmemory, so that their unused bytes are a few percent. */
    private static final int OPEN_SEGMENTS_PART = 32;
    /**
     * More open segments do not make segments smaller, because open segments are in proportion to the bytes of their
     * shard anyway.
     */
    private static final int MAX_OPEN_SEGMENTS = 4;
    /**
     * More shards do not make segments smaller, for the same reason: otherwise values that a segment of a few shards
     * holds would have runs of their own.
     */
    private static final int MAX_SHARDS = 8;
    /**
     * With more shards, a segment has at most this part of a shard's part of maxmemory, or {@link #MODERATE_BYTES} if
     * that is more. A page of the page table maps 2 MiB of addresses, so segments far larger than their extents would
     * need many of those pages.
     */
    private static final int PART_OF_SHARD = 16;
    private static final long MODERATE_BYTES = 256 << 10;

    private SegmentSizing() {}

    /**
     * The largest power of two up to 8 MiB with {@code shards * maxOpenSegments * size <= maxMemoryBytes / 32}, but at
     * least 4 KiB; at most eight shards and four open segments count. With more shards it is at most a sixteenth of a
     * shard's part of maxmemory, or 256 KiB if that is more.
     */
    public static int auto(long maxMemoryBytes, int shards, int maxOpenSegments) {
        long bytes = maxMemoryBytes / OPEN_SEGMENTS_PART
                / ((long) Math.min(shards, MAX_SHARDS) * Math.min(maxOpenSegments, MAX_OPEN_SEGMENTS));
        if (shards > MAX_SHARDS) {
            bytes = Math.min(bytes, Math.max(MODERATE_BYTES, maxMemoryBytes / ((long) PART_OF_SHARD * shards)));
        }
        return (int) Math.min(MAX_BYTES, Math.max(MIN_BYTES, Long.highestOneBit(bytes)));
    }

    /** @throws IllegalArgumentException if it is not a power of two from 4 KiB to 8 MiB */
    static void require(int segmentBytes) {
        if (segmentBytes < MIN_BYTES || segmentBytes > MAX_BYTES || Integer.bitCount(segmentBytes) != 1) {
            throw new IllegalArgumentException("segment-size " + segmentBytes
                    + ": expected a power of two from 4 KiB to 8 MiB");
        }
    }
}

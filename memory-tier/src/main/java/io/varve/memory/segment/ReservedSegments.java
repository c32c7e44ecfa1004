package io.varve.memory.segment;

/**
 * Segments reserved for writes that are about to begin; no open segment of the shard uses them yet. Guarded by the
 * shard's lock.
 */
public final class ReservedSegments {
    /** Segments that fit fewer items than this are not reserved: too much would stay unused at their ends. */
    private static final int MIN_RESERVED = 8;
    private static final int MAX_RESERVED = 1 << 10;
    /** Most of a reservation will not be needed, so it takes at most a quarter of the available memory. */
    private static final long LEFT_TO_OTHERS = 4;
    private static final int[] NONE = {};

    private final SegmentPool pool;
    private final int segmentBytes;
    private int[] ids = NONE;
    private int count;

    ReservedSegments(SegmentPool pool) {
        this.pool = pool;
        segmentBytes = pool.segmentBytes();
    }

    /**
     * Reserves segments for items that are about to be appended: until {@link #end} none of them is refused.
     *
     * @param items the number of items
     * @param size bytes of each, at most
     * @param kept bytes of the budget that are left to others
     * @return false, with none taken, if there are too few segments or they are too small
     */
    public boolean reserve(int items, int size, long kept) {
        int each = segmentBytes / size;
        // One more, because the open segments may be full.
        long wanted = each < MIN_RESERVED ? Long.MAX_VALUE : 1 + Math.ceilDiv(items, each);
        if (wanted > MAX_RESERVED || !pool.fitsUncharged(LEFT_TO_OTHERS * wanted * segmentBytes + kept)) {
            return false;
        }
        if (ids.length < wanted) {
            ids = new int[(int) wanted];
        }
        while (count < wanted) {
            int id = pool.acquire(segmentBytes);
            if (id == SegmentPool.NONE) {
                end();
                return false;
            }
            ids[count++] = id;
        }
        return true;
    }

    /** Frees the remaining reserved segments. */
    public void end() {
        while (count > 0) {
            pool.free(ids[--count]);
        }
    }

    /** Takes a reserved segment for an open segment; {@link SegmentPool#NONE} if there is none. */
    int take() {
        return count == 0 ? SegmentPool.NONE : ids[--count];
    }
}

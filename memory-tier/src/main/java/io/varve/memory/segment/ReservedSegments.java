package io.varve.memory.segment;

/** Segments that no head of a shard has, for what is about to be written. Guarded by the shard's lock. */
public final class ReservedSegments {
    /** Segments that hold fewer items than this are not reserved: too much would be unused at their ends. */
    private static final int LEAST_IN_RESERVED = 8;
    private static final int MOST_RESERVED = 1 << 10;
    /** Most of what is reserved will not be needed: so it is a quarter of what is there, at the most. */
    private static final long LEFT_TO_OTHERS = 4;

    private final SegmentPool pool;
    private final int segmentBytes;
    private int[] ids = {};
    private int count;

    ReservedSegments(SegmentPool pool) {
        this.pool = pool;
        segmentBytes = pool.segmentBytes();
    }

    /**
     * Takes segments for items that are about to be appended: until {@link #end} none of them is refused.
     *
     * @param items how many
     * @param size  bytes of each, at the most
     * @param kept  bytes of the budget that are left to others
     * @return false if there are not as many segments, or these are small; none was taken then
     */
    public boolean reserve(int items, int size, long kept) {
        int each = segmentBytes / size;
        // One more, because the heads may have no room left.
        long wanted = each < LEAST_IN_RESERVED ? Long.MAX_VALUE : 1 + Math.ceilDiv(items, each);
        if (wanted > MOST_RESERVED || !pool.isThereFor(LEFT_TO_OTHERS * wanted * segmentBytes + kept)) {
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

    /** Gives back what is left of the reserved segments. */
    public void end() {
        while (count > 0) {
            pool.free(ids[--count]);
        }
    }

    /** One of them, for a head; {@link SegmentPool#NONE} if there is none. */
    int take() {
        return count == 0 ? SegmentPool.NONE : ids[--count];
    }
}

package io.varve.memory.segment;

import java.util.random.RandomGenerator;

/**
 * The cleaner's view of a shard's segments: the choice of a sealed segment, the walk over its live items, and the end
 * of cleaning. Guarded by the shard's lock.
 */
public final class SegmentCleaning {
    private final Segments segments;
    private final OwnedSegments owned;
    private final SegmentPool pool;

    SegmentCleaning(Segments segments, OwnedSegments owned, SegmentPool pool) {
        this.segments = segments;
        this.owned = owned;
        this.pool = pool;
    }

    /**
     * The sealed segment that is most profitable to clean.
     *
     * @param minShare ignore segments that gain less than this share, 0 to 1
     * @param patient ignore segments whose items will soon have expired
     * @return its id, or {@link SegmentPool#NONE}
     */
    public int mostProfitable(CleanerPolicy policy, long nowMillis, double minShare, boolean patient) {
        return owned.mostProfitable(policy, nowMillis, minShare, patient);
    }

    /** The sealed segment with the smallest share of live bytes, or {@link SegmentPool#NONE}. */
    public int leastUtilized() {
        return owned.leastUtilized();
    }

    /** The segment that was sealed first, or {@link SegmentPool#NONE}. */
    public int oldestSealed() {
        return owned.oldestSealed();
    }

    /** A random sealed segment, or {@link SegmentPool#NONE}. */
    public int randomSealed(RandomGenerator random) {
        return owned.randomSealed(random);
    }

    /**
     * Among the sealed segments with nearly the largest share of live items of some penalty classes, the one sealed
     * first, or {@link SegmentPool#NONE}.
     *
     * @param classes whether each class counts, by number
     */
    public int fullestOf(boolean[] classes) {
        return owned.fullestOf(classes);
    }

    /** Bytes of the live items of some penalty classes in a segment. */
    public int classBytes(int segmentId, boolean[] classes) {
        return segments.ownedById(segmentId).classBytes(classes);
    }

    /** Begins to clean a sealed segment; until {@link #end} or {@link #abort}, nothing else frees it. */
    public void begin(int segmentId) {
        segments.ownedById(segmentId).beginClean();
    }

    /**
     * The first live item of a segment at or after a boundary between two items.
     *
     * @param from {@link #firstOf} the segment, or {@link #after} the previous item
     * @return its location, or {@link Location#NONE} at the end
     */
    public long nextLive(int segmentId, long from) {
        Segment segment = segments.ownedById(segmentId);
        long start = pool.segmentAddress(segmentId);
        // Not Location.offset: after an item that ends with an 8 MiB segment comes offset 2^23.
        long offset = from - Location.of(segmentId, 0);
        while (offset < segment.usedBytes()) {
            if (!ItemLayout.isDead(start + offset)) {
                return Location.of(segmentId, (int) offset);
            }
            offset += ItemLayout.size(start + offset);
        }
        return Location.NONE;
    }

    /** The start of a segment's walk. */
    public static long firstOf(int segmentId) {
        return Location.of(segmentId, 0);
    }

    /** The continuation of a walk after an item, dead or alive; not necessarily a valid location. */
    public long after(long location) {
        return location + ItemLayout.size(pool.address(location));
    }

    /**
     * Frees a segment that was cleaned.
     *
     * @throws IllegalStateException if it has live items
     */
    public void end(int segmentId) {
        Segment segment = segments.ownedById(segmentId);
        if (segment.liveItems() != 0) {
            throw new IllegalStateException("Segment " + segmentId + " still has live items: " + segment.liveItems()
                    + " live items");
        }
        segments.detach(segment);
        segment.endClean();
        pool.free(segmentId);
    }

    /** Aborts a cleaning: the segment is sealed again, or freed if it has no live items. */
    public void abort(int segmentId) {
        Segment segment = segments.ownedById(segmentId);
        segment.abortClean();
        if (segment.liveItems() == 0) {
            segments.freeWhole(segment);
        }
    }
}

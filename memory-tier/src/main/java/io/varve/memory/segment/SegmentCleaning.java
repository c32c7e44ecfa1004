package io.varve.memory.segment;

import java.util.random.RandomGenerator;

/**
 * The segments of a shard as the cleaner sees them: which of the sealed ones is worth it, the walk over what lives in it, and its end.
 * Guarded by the shard's lock.
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
     * The sealed segment whose cleaning is worth most.
     *
     * @param leastShare only one of which cleaning gains at least this share, 0 to 1
     * @param patient    pass over those whose items will soon have died by themselves
     * @return its id, or {@link SegmentPool#NONE}
     */
    public int mostProfitable(CleanerPolicy policy, long nowMillis, double leastShare, boolean patient) {
        return owned.mostProfitable(policy, nowMillis, leastShare, patient);
    }

    /** The sealed segment with the smallest share of live bytes, or {@link SegmentPool#NONE}. */
    public int leastUtilized() {
        return owned.leastUtilized();
    }

    /** The segment that was sealed first, or {@link SegmentPool#NONE}. */
    public int oldestSealed() {
        return owned.oldestSealed();
    }

    /** Some sealed segment, or {@link SegmentPool#NONE}. */
    public int randomSealed(RandomGenerator random) {
        return owned.randomSealed(random);
    }

    /**
     * Of the sealed segments in which live items of some penalty classes take nearly the largest share, the one that was sealed first, or
     * {@link SegmentPool#NONE}.
     *
     * @param classes which, by number
     */
    public int fullestOf(boolean[] classes) {
        return owned.fullestOf(classes);
    }

    /** Bytes of the live items of some penalty classes in a segment. */
    public int classBytes(int segmentId, boolean[] classes) {
        return segments.ownedById(segmentId).classBytes(classes);
    }

    /** From now on nothing frees this sealed segment but {@link #end}. */
    public void begin(int segmentId) {
        segments.ownedById(segmentId).beginClean();
    }

    /**
     * The first live item of a segment at or after a place between two items.
     *
     * @param from {@link #firstOf} the segment, or {@link #after} the item before
     * @return its location, or {@link Location#NONE} at the end
     */
    public long nextLive(int segmentId, long from) {
        Segment segment = segments.ownedById(segmentId);
        long start = pool.segmentAddress(segmentId);
        // Not Location.offset: behind an item that ends with an 8 MiB segment comes offset 2^23.
        long offset = from - Location.of(segmentId, 0);
        while (offset < segment.usedBytes()) {
            if (!ItemLayout.isDead(start + offset)) {
                return Location.of(segmentId, (int) offset);
            }
            offset += ItemLayout.size(start + offset);
        }
        return Location.NONE;
    }

    /** Where a walk of a segment begins. */
    public static long firstOf(int segmentId) {
        return Location.of(segmentId, 0);
    }

    /** Where a walk goes on after an item, dead or alive; not a location by itself. */
    public long after(long location) {
        return location + ItemLayout.size(pool.address(location));
    }

    /**
     * Frees a segment that was cleaned.
     *
     * @throws IllegalStateException if something lives in it
     */
    public void end(int segmentId) {
        Segment segment = segments.ownedById(segmentId);
        if (segment.liveItems() != 0) {
            throw new IllegalStateException("Segment " + segmentId + " is not clean: " + segment.liveItems()
                    + " items live in it");
        }
        segments.disown(segment);
        segment.endClean();
        pool.free(segmentId);
    }

    /** Leaves a cleaning half done: the segment is sealed as before, or freed if nothing lives in it by now. */
    public void abort(int segmentId) {
        Segment segment = segments.ownedById(segmentId);
        segment.abortClean();
        if (segment.liveItems() == 0) {
            segments.freeWhole(segment);
        }
    }
}

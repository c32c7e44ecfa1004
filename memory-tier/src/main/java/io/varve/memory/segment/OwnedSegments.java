package io.varve.memory.segment;

import java.util.Arrays;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

/** The unordered list of a shard's segments, and the choice among the sealed ones. Guarded by the shard's lock. */
final class OwnedSegments {
    private static final int FIRST_LENGTH = 8;

    /** If less than one in this many parts of the class's lifetime remains, a segment is left to expire. */
    private static final int DYING_PART = 4;
    /** An older segment is preferred if it is at least this full, relative to the fullest. */
    private static final double NEARLY = 0.75;

    private @Nullable Segment[] list = new Segment[FIRST_LENGTH];
    private int count;

    int count() {
        return count;
    }

    /** The segment at an index of the list, 0 to {@link #count} - 1. */
    Segment at(int place) {
        Segment segment = list[place];
        if (segment == null) {
            throw new IllegalStateException("There is no segment at index " + place + " of " + count);
        }
        return segment;
    }

    /** Appends a segment to the list; the caller sets its slot to {@link #count} - 1. */
    void add(Segment segment) {
        if (count == list.length) {
            list = Arrays.copyOf(list, count * 2);
        }
        list[count++] = segment;
    }

    void remove(Segment segment) {
        int slot = segment.slot();
        Segment last = at(--count);
        list[slot] = last;
        last.slot(slot);
        list[count] = null;
    }

    /**
     * The sealed segment that is most profitable to clean.
     *
     * @param minShare ignore segments that gain less than this share, 0 to 1
     * @param patient ignore segments whose items will soon have expired: moving an item shortly before its expiry
     *     is a wasted copy
     */
    int mostProfitable(CleanerPolicy policy, long nowMillis, double minShare, boolean patient) {
        int best = SegmentPool.NONE;
        double bestProfit = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            Segment segment = at(i);
            if (segment.state() != SegmentState.SEALED
                    || segment.reclaimableBytes() < Math.max(1, minShare * segment.extentBytes())) {
                continue;
            }
            double lifetime = segment.meanLifetimeMillis(nowMillis);
            if (patient && isDying(segment, lifetime)) {
                continue;
            }
            double profit = CleaningProfit.of(policy, segment.liveBytes(), segment.extentBytes(), lifetime);
            if (profit > bestProfit) {
                bestProfit = profit;
                best = segment.id();
            }
        }
        return best;
    }

    private static boolean isDying(Segment segment, double lifetimeMillis) {
        return segment.lifetimeClass() != Segments.DEFAULT_CLASS
                && lifetimeMillis < (double) OpenSegments.lifetimeAboveMillis(segment.lifetimeClass()) / DYING_PART;
    }

    /** The sealed segment with the smallest share of live bytes, or {@link SegmentPool#NONE}. */
    int leastUtilized() {
        int best = SegmentPool.NONE;
        double smallest = Double.POSITIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            Segment segment = at(i);
            if (segment.state() == SegmentState.SEALED && segment.utilization() < smallest) {
                smallest = segment.utilization();
                best = segment.id();
            }
        }
        return best;
    }

    /**
     * Among the sealed segments with nearly the largest share of live items of these penalty classes, the one sealed
     * first, or {@link SegmentPool#NONE}. The fullest of all is often the latest.
     */
    int fullestOf(boolean[] classes) {
        double largest = 0;
        for (int i = 0; i < count; i++) {
            largest = Math.max(largest, fullness(at(i), classes));
        }
        int best = SegmentPool.NONE;
        long first = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            Segment segment = at(i);
            if (segment.sealOrder() < first && segment.state() == SegmentState.SEALED
                    && fullness(segment, classes) >= NEARLY * largest) {
                first = segment.sealOrder();
                best = segment.id();
            }
        }
        return best;
    }

    /** The share of these classes in a segment's extent. */
    private static double fullness(Segment segment, boolean[] classes) {
        return segment.state() == SegmentState.SEALED
                ? (double) segment.classBytes(classes) / segment.extentBytes()
                : 0;
    }

    /** The segment that was sealed first, or {@link SegmentPool#NONE}. */
    int oldestSealed() {
        int best = SegmentPool.NONE;
        long first = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            Segment segment = at(i);
            if (segment.state() == SegmentState.SEALED && segment.sealOrder() < first) {
                first = segment.sealOrder();
                best = segment.id();
            }
        }
        return best;
    }

    /** A random sealed segment, or {@link SegmentPool#NONE}: the first at or after a random index of the list. */
    int randomSealed(RandomGenerator random) {
        if (count == 0) {
            return SegmentPool.NONE;
        }
        int start = random.nextInt(count);
        for (int i = 0; i < count; i++) {
            Segment segment = at(start + i < count ? start + i : start + i - count);
            if (segment.state() == SegmentState.SEALED) {
                return segment.id();
            }
        }
        return SegmentPool.NONE;
    }
}

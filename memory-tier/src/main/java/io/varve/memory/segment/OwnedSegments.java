package io.varve.memory.segment;

import java.util.Arrays;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

/** The list of the segments that a shard has, in no order, and the choice among its sealed ones. Guarded by its lock. */
final class OwnedSegments {
    private static final int FIRST_LENGTH = 8;

    /** When this part of its class's lifetime is left to it, a segment is left to die by itself. */
    private static final int DYING_PART = 4;
    /** A segment that is so full as the fullest times this is as good, if it is older. */
    private static final double NEARLY = 0.75;

    private @Nullable Segment[] list = new Segment[FIRST_LENGTH];
    private int count;

    int count() {
        return count;
    }

    /** The segment at a place of the list, 0 to {@link #count} - 1. */
    Segment at(int place) {
        Segment segment = list[place];
        if (segment == null) {
            throw new IllegalStateException("No segment at place " + place + " of " + count);
        }
        return segment;
    }

    /** Takes a segment into the list, at the end: the caller tells it that its slot is {@link #count} - 1. */
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
     * The sealed segment whose cleaning is worth most.
     *
     * @param leastShare only one of which cleaning gains at least this share, 0 to 1
     * @param patient    pass over those whose items will soon have died by themselves: an item that is moved a moment
     *                   before its expiry is a copy for nothing
     */
    int mostProfitable(CleanerPolicy policy, long nowMillis, double leastShare, boolean patient) {
        int best = SegmentPool.NONE;
        double bestProfit = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            Segment segment = at(i);
            if (segment.state() != SegmentState.SEALED
                    || segment.reclaimableBytes() < Math.max(1, leastShare * segment.extentBytes())) {
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
                && lifetimeMillis < (double) Heads.lifetimeAboveMillis(segment.lifetimeClass()) / DYING_PART;
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
     * Of the sealed segments in which live items of these penalty classes take nearly the largest share, the one that was sealed first, or
     * {@link SegmentPool#NONE}: the fullest of all is often the latest.
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

    /** The share of these classes. */
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

    /** Some sealed segment, or {@link SegmentPool#NONE}: the first at or after a random place of the list. */
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

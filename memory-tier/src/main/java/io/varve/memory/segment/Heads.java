package io.varve.memory.segment;

import io.varve.memory.item.Item;
import org.jspecify.annotations.Nullable;

/**
 * The open heads of one shard, by class of lifetime. Guarded by the shard's lock.
 *
 * <p>All writes start in the default head. A class that has put as many bytes through it as a head takes gets a head of its
 * own, while there are fewer than the allowed number, so that the items of a segment tend to die together; one that falls
 * idle loses it.
 */
final class Heads {
    /** Classes of lifetime; what expires later than some 17 years from now is of the last. */
    static final int CLASSES = 61;

    /** A smaller head would be sealed and followed by the next too often, bytes. */
    static final int MIN_EXTENT_BYTES = 32 << 10;

    /** All heads of a shard together may take this part of what it holds, as of maxmemory in {@link SegmentSizing}. */
    private static final int HEADS_PART = 32;

    /** So many items fit into a head, so that what the last one leaves unused at its end is little. */
    static final int LEAST_ITEMS = 8;

    private static final int PAGE_BYTES = 4096;

    /** Lifetimes are told apart in steps of this. */
    private static final long STEP_MILLIS = 500;

    private final int maxHeads;
    private final int segmentBytes;
    /** By class; null where the class has none. */
    private final @Nullable Segment[] heads = new Segment[CLASSES];
    /** How many bytes of a class went through the default head since it last had a head of its own. */
    private final long[] throughDefaultBytes = new long[CLASSES];
    private int own;

    /**
     * @param maxHeads how many may be open at once, 1 to {@link #CLASSES}
     */
    Heads(int maxHeads, int segmentBytes) {
        if (maxHeads < 1 || maxHeads > CLASSES) {
            throw new IllegalArgumentException("heads " + maxHeads + ": allowed is 1 to " + CLASSES);
        }
        this.maxHeads = maxHeads;
        this.segmentBytes = segmentBytes;
    }

    /** The class of an expected lifetime; see {@link Segments#lifetimeClass}. */
    static int classOf(long ttlMillis) {
        if (ttlMillis == Item.NEVER) {
            return Segments.DEFAULT_CLASS;
        }
        long steps = Math.max(2, ttlMillis / STEP_MILLIS + (ttlMillis % STEP_MILLIS > 0 ? 1 : 0));
        int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(steps - 1);
        boolean upperHalf = octave == 0 || steps > 3L << (octave - 1);
        return Math.min(CLASSES - 1, 2 * octave + (upperHalf ? 1 : 0));
    }

    /** What every lifetime of a class other than the default one is longer than, milliseconds. */
    static long lifetimeAboveMillis(int lifetimeClass) {
        int octave = lifetimeClass / 2;
        boolean upperHalf = lifetimeClass % 2 == 1;
        if (octave == 0) {
            return 0;
        }
        return STEP_MILLIS * (upperHalf ? 3L << (octave - 1) : 1L << octave);
    }

    /**
     * How much of a segment the next head takes: the heads of a shard stay in proportion to what the shard holds, because
     * what is dead in a head cannot be cleaned yet, and a shard with a few MiB would otherwise hold as much again in dead
     * bytes.
     *
     * @param size      bytes of the item that it is opened for
     * @param usedBytes bytes that the shard holds in segments
     */
    int extentBytes(int size, long usedBytes) {
        long share = Math.max(usedBytes / HEADS_PART / maxHeads, Math.max(MIN_EXTENT_BYTES, (long) LEAST_ITEMS * size));
        return (int) Math.min(segmentBytes, (share + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    }

    /** How many segments of less than full extent there may be: as many for each doubling from the least to the largest. */
    static int mostParts(int heads) {
        int doublings = Integer.numberOfTrailingZeros(SegmentSizing.MAX_BYTES / MIN_EXTENT_BYTES);
        return 2 * HEADS_PART * heads * doublings;
    }

    /** Which head serves a class: its own, if it has one or is to get one, or the default one. */
    int servedBy(int lifetimeClass, long usedBytes) {
        boolean ownHead = heads[lifetimeClass] != null
                || own < maxHeads - 1 && throughDefaultBytes[lifetimeClass] >= extentBytes(0, usedBytes);
        return ownHead ? lifetimeClass : Segments.DEFAULT_CLASS;
    }

    /** Bytes of this class went to a head of another. */
    void countThroughDefault(int lifetimeClass, int size) {
        throughDefaultBytes[lifetimeClass] += size;
    }

    @Nullable
    Segment get(int lifetimeClass) {
        return heads[lifetimeClass];
    }

    /** Puts a segment where there was another head of its class, or none. */
    void open(int lifetimeClass, Segment head) {
        if (heads[lifetimeClass] == null && lifetimeClass != Segments.DEFAULT_CLASS) {
            own++;
            throughDefaultBytes[lifetimeClass] = 0;
        }
        heads[lifetimeClass] = head;
    }

    void close(int lifetimeClass) {
        heads[lifetimeClass] = null;
        if (lifetimeClass != Segments.DEFAULT_CLASS) {
            own--;
        }
    }

    /** A head with room for an item, or null. */
    @Nullable
    Segment withRoom(int size) {
        for (Segment head : heads) {
            if (head != null && head.hasRoom(size)) {
                return head;
            }
        }
        return null;
    }

    /** How many heads are open. */
    int count() {
        return own + (heads[Segments.DEFAULT_CLASS] == null ? 0 : 1);
    }

    int max() {
        return maxHeads;
    }
}

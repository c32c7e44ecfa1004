package io.varve.memory.segment;

import io.varve.memory.item.Item;
import org.jspecify.annotations.Nullable;

/**
 * The open segments of one shard, by lifetime class. Guarded by the shard's lock.
 *
 * <p>All writes start in the default open segment. A class gets an open segment of its own once the bytes of one went
 * through the default one and fewer open segments than allowed are open. The items of a segment then tend to die
 * together. A class that becomes idle loses its open segment.
 */
final class OpenSegments {
    /** The number of lifetime classes; the last one includes all lifetimes above some 17 years. */
    static final int CLASSES = 61;

    /**
     * The least extents of all shards together, bytes. Each shard has at least one open segment, half of which is
     * unused on average.
     */
    private static final int LEAST_EXTENTS_BYTES = 512 << 10;
    /** The least extent lies between these, however many shards there are and however large the item is. */
    private static final int MIN_LEAST_BYTES = 8 << 10;
    private static final int MAX_LEAST_BYTES = 32 << 10;
    /** A smaller segment would be sealed and replaced too often: this many items, as far as the least extent allows. */
    private static final int ENOUGH_ITEMS = 32;

    /**
     * All open segments of a shard together may take this part of the bytes it holds, like the part of maxmemory in
     * {@link SegmentSizing}.
     */
    private static final int OPEN_SEGMENTS_PART = 32;

    /** An open segment fits at least this many items, so that little is left unused at its end. */
    static final int MIN_ITEMS = 8;

    private static final int PAGE_BYTES = 4096;

    /** Shared by all shards, and never written. */
    private static final long[] NO_BYTES = new long[CLASSES];

    /** The resolution of lifetimes. */
    private static final long STEP_MILLIS = 500;

    private final int maxOpenSegments;
    private final int segmentBytes;
    private final int leastExtentBytes;
    /** By class; null if the class has no open segment. */
    private final @Nullable Segment[] segments = new Segment[CLASSES];
    /**
     * Bytes of each class that went through the default open segment since the class last had an open segment of its
     * own. {@link #NO_BYTES} until then, and in a shard without expiry times.
     */
    private long[] throughDefaultBytes = NO_BYTES;
    private int own;

    /**
     * @param maxOpenSegments how many may be open at once, 1 to {@link #CLASSES}
     * @param shards the number of shards, a power of two
     */
    OpenSegments(int maxOpenSegments, int segmentBytes, int shards) {
        if (maxOpenSegments < 1 || maxOpenSegments > CLASSES) {
            throw new IllegalArgumentException("segment-heads " + maxOpenSegments + ": expected 1 to " + CLASSES);
        }
        this.maxOpenSegments = maxOpenSegments;
        this.segmentBytes = segmentBytes;
        leastExtentBytes = leastExtentBytes(shards);
    }

    private static int leastExtentBytes(int shards) {
        return Math.clamp(LEAST_EXTENTS_BYTES / shards, MIN_LEAST_BYTES, MAX_LEAST_BYTES);
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

    /** An exclusive lower bound of the lifetimes of a class other than the default one, milliseconds. */
    static long lifetimeAboveMillis(int lifetimeClass) {
        int octave = lifetimeClass / 2;
        boolean upperHalf = lifetimeClass % 2 == 1;
        if (octave == 0) {
            return 0;
        }
        return STEP_MILLIS * (upperHalf ? 3L << (octave - 1) : 1L << octave);
    }

    /**
     * The extent of the next open segment. The open segments of a shard stay in proportion to the bytes it holds,
     * because dead bytes in an open segment cannot be cleaned yet. Otherwise a shard with a few MiB would hold as much
     * again in dead bytes.
     *
     * @param size bytes of the item that it is opened for
     * @param usedBytes bytes that the shard holds in segments
     */
    int extentBytes(int size, long usedBytes) {
        long least = Math.clamp((long) ENOUGH_ITEMS * size, leastExtentBytes, MAX_LEAST_BYTES);
        long share = Math.max(usedBytes / OPEN_SEGMENTS_PART / maxOpenSegments,
                Math.max(least, (long) MIN_ITEMS * size));
        return (int) Math.min(segmentBytes, (share + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    }

    /**
     * The most segments with less than the full extent: a fixed number for each doubling from the least extent to a
     * segment.
     */
    static int maxParts(int maxOpenSegments, int shards, int segmentBytes) {
        int least = leastExtentBytes(shards);
        int doublings = segmentBytes <= least ? 0 : Integer.numberOfTrailingZeros(segmentBytes / least);
        return 2 * OPEN_SEGMENTS_PART * maxOpenSegments * doublings;
    }

    /**
     * The class of the open segment that serves a class: its own, if it has an open segment or is due for one, or the
     * default one.
     */
    int servedBy(int lifetimeClass, long usedBytes) {
        boolean isOwnOpen = segments[lifetimeClass] != null
                || own < maxOpenSegments - 1 && throughDefaultBytes[lifetimeClass] >= extentBytes(0, usedBytes);
        return isOwnOpen ? lifetimeClass : Segments.DEFAULT_CLASS;
    }

    /** Counts bytes of this class that went to another class's open segment. */
    @SuppressWarnings("ReferenceEquality") // the shared array, not one that is equal
    void countThroughDefault(int lifetimeClass, int size) {
        if (throughDefaultBytes == NO_BYTES) {
            throughDefaultBytes = new long[CLASSES];
        }
        throughDefaultBytes[lifetimeClass] += size;
    }

    @Nullable
    Segment get(int lifetimeClass) {
        return segments[lifetimeClass];
    }

    /** Sets the open segment of a class, replacing another one or none. */
    void open(int lifetimeClass, Segment segment) {
        if (segments[lifetimeClass] == null && lifetimeClass != Segments.DEFAULT_CLASS) {
            own++;
            throughDefaultBytes[lifetimeClass] = 0;
        }
        segments[lifetimeClass] = segment;
    }

    void close(int lifetimeClass) {
        segments[lifetimeClass] = null;
        if (lifetimeClass != Segments.DEFAULT_CLASS) {
            own--;
        }
    }

    /** An open segment with space for an item, or null. */
    @Nullable
    Segment withSpace(int size) {
        for (Segment segment : segments) {
            if (segment != null && segment.hasSpace(size)) {
                return segment;
            }
        }
        return null;
    }

    /** The number of open segments. */
    int count() {
        return own + (segments[Segments.DEFAULT_CLASS] == null ? 0 : 1);
    }

    int max() {
        return maxOpenSegments;
    }
}

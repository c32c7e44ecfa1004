package io.varve.memory.segment;

/**
 * The location of an item: a segment id and a byte offset in it, packed into 48 bits. Immutable: static methods only.
 *
 * <pre>
 *  47                        23 22                      0
 * +----------------------------+-------------------------+
 * |   segment id, 25 bits      |  byte offset, 23 bits   |
 * +----------------------------+-------------------------+
 * </pre>
 *
 * <p>Segment id 2^25-1 is no segment: it marks a large item, and the 23 bits are its number in {@link LargeItems}.
 * (redis-plus-plus, section 4: 25 bits of segment and 23 of offset.)
 */
public final class Location {
    public static final int SEGMENT_BITS = 25;
    public static final int OFFSET_BITS = 23;
    public static final int BITS = SEGMENT_BITS + OFFSET_BITS;

    /** No location: the result of a failed search. It does not fit into 48 bits. */
    public static final long NONE = -1;

    /** The segment id that marks a large item. */
    public static final int LARGE_SEGMENT = (1 << SEGMENT_BITS) - 1;

    /** The highest segment id. */
    public static final int MAX_SEGMENT = LARGE_SEGMENT - 1;

    /** The highest offset in a segment, and the highest number of a large item. */
    public static final int MAX_OFFSET = (1 << OFFSET_BITS) - 1;

    private static final long LARGE_BASE = (long) LARGE_SEGMENT << OFFSET_BITS;

    private Location() {}

    public static long of(int segment, int offset) {
        assert segment >= 0 && segment <= MAX_SEGMENT : segment;
        assert offset >= 0 && offset <= MAX_OFFSET : offset;
        return (long) segment << OFFSET_BITS | offset;
    }

    /** The location of the large item with this number. */
    public static long ofLarge(int number) {
        assert number >= 0 && number <= MAX_OFFSET : number;
        return LARGE_BASE | number;
    }

    public static boolean isLarge(long location) {
        return location >= LARGE_BASE;
    }

    public static int segment(long location) {
        return (int) (location >>> OFFSET_BITS);
    }

    /** Bytes from the start of the segment. */
    public static int offset(long location) {
        return (int) location & MAX_OFFSET;
    }

    /** The number of a large item. */
    public static int largeNumber(long location) {
        assert isLarge(location) : location;
        return (int) location & MAX_OFFSET;
    }
}

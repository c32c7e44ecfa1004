package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * A set of integers in the value of one item, as {@link PackedIntegersLayout} draws it. Immutable: static methods only;
 * the caller holds the lock of the item's shard.
 *
 * <p>A set is named by the address and the length in bytes of its value, a member by its place in ascending order. What
 * makes a set longer is done in two steps: the caller computes the size ({@link #bytes}), makes the room, which may move
 * the set, and then writes.
 *
 * @see PackedSet for sets of any members
 */
public final class PackedIntegers {
    /** Bytes of a set without members. */
    public static final int EMPTY_BYTES = PackedIntegersLayout.VALUES_OFFSET;
    /** The width of a set without members. */
    public static final int LEAST_WIDTH = Short.BYTES;

    private PackedIntegers() {}

    /** Makes an empty set of {@link #EMPTY_BYTES}. */
    public static void clear(long set) {
        clear(set, LEAST_WIDTH);
    }

    /** Makes an empty set whose members will be of this width, or of a larger one. */
    public static void clear(long set, int width) {
        PackedIntegersLayout.width(set, width);
    }

    /** Bytes of a set with so many members of this width. */
    public static long bytes(long count, int width) {
        return PackedIntegersLayout.VALUES_OFFSET + count * width;
    }

    /** The least width that a number fits: 2, 4 or 8 bytes. */
    public static int widthOf(long value) {
        return PackedIntegersLayout.widthOf(value);
    }

    /** Bytes of each member. */
    public static int width(long set) {
        return PackedIntegersLayout.width(set);
    }

    /** How many members it has. */
    public static int count(long set, int length) {
        return (length - PackedIntegersLayout.VALUES_OFFSET) / PackedIntegersLayout.width(set);
    }

    /** The member at a place in ascending order, from 0 on. */
    public static long get(long set, int index) {
        return PackedIntegersLayout.get(set, PackedIntegersLayout.width(set), index);
    }

    /** The place of a member; if it is none, {@code -1 -} the place where it would be. */
    public static int indexOf(long set, int length, long value) {
        int width = PackedIntegersLayout.width(set);
        int from = 0;
        int to = count(set, length) - 1;
        if (to >= 0 && value > PackedIntegersLayout.get(set, width, to)) {
            return -2 - to;
        }
        while (from <= to) {
            int middle = from + to >>> 1;
            long found = PackedIntegersLayout.get(set, width, middle);
            if (found < value) {
                from = middle + 1;
            } else if (found > value) {
                to = middle - 1;
            } else {
                return middle;
            }
        }
        return -1 - from;
    }

    /**
     * Adds a member that is not there yet. The set's memory has room for {@link #bytes} of one more, of the wider of both
     * widths.
     *
     * @param index its place
     * @return the new length of the set
     */
    public static int add(long set, int length, int index, long value) {
        int count = count(set, length);
        int width = PackedIntegersLayout.width(set);
        int needed = PackedIntegersLayout.widthOf(value);
        if (needed > width) {
            widen(set, count, width, needed);
            width = needed;
        }
        long at = PackedIntegersLayout.at(set, width, index);
        Memory.copy(at, at + width, (long) (count - index) * width);
        PackedIntegersLayout.put(set, width, index, value);
        return (int) bytes(count + 1L, width);
    }

    /** From the last to the first: each is read before the place is written where it was. */
    private static void widen(long set, int count, int from, int to) {
        for (int i = count - 1; i >= 0; i--) {
            PackedIntegersLayout.put(set, to, i, PackedIntegersLayout.get(set, from, i));
        }
        PackedIntegersLayout.width(set, to);
    }

    /**
     * Takes the member at a place out.
     *
     * @return the new length of the set
     */
    public static int remove(long set, int length, int index) {
        int width = PackedIntegersLayout.width(set);
        long at = PackedIntegersLayout.at(set, width, index);
        Memory.copy(at + width, at, set + length - at - width);
        return length - width;
    }

    /**
     * Puts a member to the end of those that are to stay: for taking out many at once, the members visited from first to
     * last.
     *
     * @param index how many stay before it, at most its own place
     */
    public static void keep(long set, int index, long value) {
        PackedIntegersLayout.put(set, PackedIntegersLayout.width(set), index, value);
    }
}

package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * A small set of integers in the value of one item, as {@link PackedIntegersLayout} draws it. Immutable: static methods
 * only; the caller holds the lock of the item's shard.
 *
 * <p>A set is named by the address and the length in bytes of its value, a member by its index in ascending order. A
 * growing write has two steps: the caller computes the size ({@link #bytes}) and resizes the item, which may move the
 * set; then it writes.
 *
 * @see PackedSet for sets of any members
 */
public final class PackedIntegers {
    /** Bytes of a set without members. */
    public static final int EMPTY_BYTES = PackedIntegersLayout.VALUES_OFFSET;
    /** The width of a set without members. */
    public static final int MIN_WIDTH = Short.BYTES;

    private PackedIntegers() {}

    /** Writes an empty set of {@link #EMPTY_BYTES}. */
    public static void clear(long set) {
        clear(set, MIN_WIDTH);
    }

    /** Writes an empty set with this initial width of its members. */
    public static void clear(long set, int width) {
        PackedIntegersLayout.width(set, width);
    }

    /** Bytes of a set with this number of members of this width. */
    public static long bytes(long count, int width) {
        return PackedIntegersLayout.VALUES_OFFSET + count * width;
    }

    /** The least width that fits a number: 2, 4 or 8 bytes. */
    public static int widthOf(long value) {
        return PackedIntegersLayout.widthOf(value);
    }

    /** Bytes of each member. */
    public static int width(long set) {
        return PackedIntegersLayout.width(set);
    }

    /** The number of members. */
    public static int count(long set, int length) {
        return (length - PackedIntegersLayout.VALUES_OFFSET) / PackedIntegersLayout.width(set);
    }

    /** The member at an index in ascending order, from 0 on. */
    public static long get(long set, int index) {
        return PackedIntegersLayout.get(set, PackedIntegersLayout.width(set), index);
    }

    /** The index of a member; if it is missing, {@code -1 -} the index where it would be. */
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
     * Adds a missing member. The capacity must be {@link #bytes} of one more member, with the wider of both widths.
     *
     * @param index its index
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

    /** Widens the last integer first, so that each is read before its place is overwritten. */
    private static void widen(long set, int count, int from, int to) {
        for (int i = count - 1; i >= 0; i--) {
            PackedIntegersLayout.put(set, to, i, PackedIntegersLayout.get(set, from, i));
        }
        PackedIntegersLayout.width(set, to);
    }

    /**
     * Removes the member at an index.
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
     * Moves a member to the end of those that are kept. For removing many at once: the caller visits the members from
     * first to last.
     *
     * @param index the number of members kept before it, at most its own index
     */
    public static void keep(long set, int index, long value) {
        PackedIntegersLayout.put(set, PackedIntegersLayout.width(set), index, value);
    }
}

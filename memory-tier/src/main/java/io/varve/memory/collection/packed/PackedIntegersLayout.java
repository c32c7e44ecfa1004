package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a small set of integers: their width, then the integers in ascending order. Immutable: static
 * methods only.
 *
 * <pre>
 *  0       1
 *  +-------+---------+---------+-----+---------+
 *  | width | value 0 | value 1 | ... | value n | end of the item's value: how many follows from it
 *  +-------+---------+---------+-----+---------+
 * </pre>
 *
 * <p>The width is 2, 4 or 8 bytes: the least that fits all present members and all removed ones.
 */
final class PackedIntegersLayout {
    static final int WIDTH_OFFSET = 0;
    static final int WIDTH_BYTES = 1;
    /** The offset of the first integer; also the size of an empty set. */
    static final int VALUES_OFFSET = WIDTH_OFFSET + WIDTH_BYTES;

    private PackedIntegersLayout() {}

    static int width(long set) {
        return Memory.getByte(set + WIDTH_OFFSET);
    }

    static void width(long set, int width) {
        Memory.putByte(set + WIDTH_OFFSET, (byte) width);
    }

    /** The least width that fits a number. */
    static int widthOf(long value) {
        return value == (short) value ? Short.BYTES : value == (int) value ? Integer.BYTES : Long.BYTES;
    }

    static long at(long set, int width, long index) {
        return set + VALUES_OFFSET + index * width;
    }

    static long get(long set, int width, int index) {
        long at = at(set, width, index);
        return switch (width) {
            case Short.BYTES -> Memory.getShort(at);
            case Integer.BYTES -> Memory.getInt(at);
            default -> Memory.getLong(at);
        };
    }

    static void put(long set, int width, int index, long value) {
        long at = at(set, width, index);
        switch (width) {
            case Short.BYTES -> Memory.putShort(at, (short) value);
            case Integer.BYTES -> Memory.putInt(at, (int) value);
            default -> Memory.putLong(at, value);
        }
    }
}

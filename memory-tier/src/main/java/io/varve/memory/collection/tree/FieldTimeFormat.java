package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * The due times of a hash's fields, one entry for each field that has a time. Immutable. An entry holds the time and 32
 * bits of the field's hash. Entries are ordered by time and then by the upper half of the hash; those with equal values
 * of both are in no order.
 *
 * <pre>
 *  +------------------------------+-------------+
 *  | time, 48 bits, and the upper | lower half  |
 *  | half of the hash below it, 8 | of it, 2    |
 *  +------------------------------+-------------+
 * </pre>
 */
public final class FieldTimeFormat extends FixedFormat {
    public static final FieldTimeFormat INSTANCE = new FieldTimeFormat();

    private static final int LOWER = Long.BYTES;
    private static final int BYTES = LOWER + Short.BYTES;
    private static final int HALF_BITS = 16;
    private static final long HALF_MASK = (1L << HALF_BITS) - 1;

    private FieldTimeFormat() {
        super(BYTES);
    }

    /** The lower half of the hash is the element's {@code stored}. */
    @Override
    void write(long entry, Element element) {
        Memory.putLong(entry, element.order);
        Memory.putShort(entry + LOWER, (short) element.stored);
    }

    @Override
    public long orderAt(long entry) {
        return Memory.getLong(entry);
    }

    /** Sets the element for a field that is due at a time. */
    public static Element element(Element element, long time, long hash) {
        element.of(order(time, hash), 0, 0);
        element.stored = hash & HALF_MASK;
        return element;
    }

    /** The order of a time and a hash; the least one of a time is that with a hash of 0. */
    public static long order(long time, long hash) {
        return time << HALF_BITS | hash >>> HALF_BITS;
    }

    public static long time(long entry) {
        return Memory.getLong(entry) >>> HALF_BITS;
    }

    public static long hash(long entry) {
        return (Memory.getLong(entry) & HALF_MASK) << HALF_BITS | Memory.getShort(entry + LOWER) & HALF_MASK;
    }
}

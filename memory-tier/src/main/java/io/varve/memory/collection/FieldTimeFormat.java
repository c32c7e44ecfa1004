package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * When the fields of a hash are due: for each that has a time, that time and 32 bits of the field's hash, ordered by time and then by
 * the upper half of the hash; those of which both are equal lie in no order. Immutable.
 *
 * <pre>
 *  +------------------------------+-------------+
 *  | time, 48 bits, and the upper | lower half  |
 *  | half of the hash below it, 8 | of it, 2    |
 *  +------------------------------+-------------+
 * </pre>
 */
final class FieldTimeFormat extends FixedFormat {
    static final FieldTimeFormat INSTANCE = new FieldTimeFormat();

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
    long orderAt(long entry) {
        return Memory.getLong(entry);
    }

    /** What stands for a field that is due at a time. */
    static Element element(Element element, long time, long hash) {
        element.of(order(time, hash), 0, 0);
        element.stored = hash & HALF_MASK;
        return element;
    }

    /** The least order of a time is that with a hash of 0. */
    static long order(long time, long hash) {
        return time << HALF_BITS | hash >>> HALF_BITS;
    }

    static long time(long entry) {
        return Memory.getLong(entry) >>> HALF_BITS;
    }

    static long hash(long entry) {
        return (Memory.getLong(entry) & HALF_MASK) << HALF_BITS | Memory.getShort(entry + LOWER) & HALF_MASK;
    }
}

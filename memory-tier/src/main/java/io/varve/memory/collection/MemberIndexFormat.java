package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * Where the members of a sorted set are: for each, 32 bits of its hash and the leaf of the other tree that has it, ordered by
 * hash. Immutable.
 *
 * <pre>
 *  +------+------+
 *  | hash | leaf |
 *  | 4    | 4    |
 *  +------+------+
 * </pre>
 */
final class MemberIndexFormat extends FixedFormat {
    static final MemberIndexFormat INSTANCE = new MemberIndexFormat();

    private static final int LEAF = Integer.BYTES;
    private static final int BYTES = LEAF + Integer.BYTES;
    private static final long HASH_MASK = 0xFFFF_FFFFL;

    private MemberIndexFormat() {
        super(BYTES);
    }

    /** The leaf is the element's {@code stored}. */
    @Override
    void write(long entry, Element element) {
        Memory.putInt(entry, (int) element.order);
        leaf(entry, (int) element.stored);
    }

    @Override
    long orderAt(long entry) {
        return hash(entry);
    }

    static long hash(long entry) {
        return Memory.getInt(entry) & HASH_MASK;
    }

    static int leaf(long entry) {
        return Memory.getInt(entry + LEAF);
    }

    static void leaf(long entry, int leaf) {
        Memory.putInt(entry + LEAF, leaf);
    }
}

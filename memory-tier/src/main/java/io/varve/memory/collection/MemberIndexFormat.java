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
final class MemberIndexFormat extends LeafFormat {
    static final MemberIndexFormat INSTANCE = new MemberIndexFormat();

    private static final int LEAF = Integer.BYTES;
    private static final int BYTES = LEAF + Integer.BYTES;
    private static final long HASH_MASK = 0xFFFF_FFFFL;

    private MemberIndexFormat() {}

    @Override
    long bytesOf(Element element) {
        return BYTES;
    }

    /** The leaf is the element's {@code stored}. */
    @Override
    void write(long entry, Element element) {
        Memory.putInt(entry, (int) element.order);
        leaf(entry, (int) element.stored);
    }

    @Override
    int bytesAt(long entry) {
        return BYTES;
    }

    @Override
    long orderAt(long entry) {
        return hash(entry);
    }

    @Override
    boolean isBefore(long entry, Element sought) {
        long hash = hash(entry);
        return hash < sought.order || sought.behindEqual && hash == sought.order;
    }

    @Override
    int offset(long leaf, int index) {
        return NodeLayout.HEADER_BYTES + index * BYTES;
    }

    @Override
    void seek(long leaf, Element sought, TreePath path) {
        long first = leaf + NodeLayout.HEADER_BYTES;
        int low = 0;
        int high = NodeLayout.count(leaf);
        while (low < high) {
            int middle = low + high >>> 1;
            if (isBefore(first + (long) middle * BYTES, sought)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        path.index = low;
        path.offset = offset(leaf, low);
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

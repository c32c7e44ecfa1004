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

    @Override
    boolean hasEvenOrder() {
        return true;
    }

    /** It is calculated about where the hash should be, and a few steps from there. */
    @Override
    void seek(long leaf, Element sought, TreePath path) {
        long bound = sought.behindEqual ? sought.order + 1 : sought.order;
        int count = NodeLayout.count(leaf);
        long first = leaf + NodeLayout.HEADER_BYTES;
        long least = count == 0 ? bound : hash(first);
        if (bound <= least) {
            stand(path, 0);
            return;
        }
        int last = count - 1;
        long greatest = hash(first + (long) last * BYTES);
        if (bound > greatest) {
            stand(path, count);
            return;
        }
        int index = (int) ((bound - least) * last / (greatest - least));
        while (hash(first + (long) index * BYTES) < bound) {
            index++;
        }
        while (hash(first + (long) (index - 1) * BYTES) >= bound) {
            index--;
        }
        stand(path, index);
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

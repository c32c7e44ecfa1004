package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * The leaf format of a sorted set's member index, ordered by hash. Immutable. An entry holds 32 bits of the member's
 * hash, and the leaf of the other tree that holds the member.
 *
 * <pre>
 *  +------+------+
 *  | hash | leaf |
 *  | 4    | 4    |
 *  +------+------+
 * </pre>
 */
public final class MemberIndexFormat extends FixedFormat {
    public static final MemberIndexFormat INSTANCE = new MemberIndexFormat();

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

    /** Interpolates the position of the hash and corrects it by a few steps. */
    @Override
    public void seek(long leaf, Element sought, TreePath path) {
        long bound = sought.behindEqual ? sought.order + 1 : sought.order;
        int count = NodeLayout.count(leaf);
        long first = leaf + NodeLayout.HEADER_BYTES;
        long min = count == 0 ? bound : hash(first);
        if (bound <= min) {
            stand(path, 0);
            return;
        }
        int last = count - 1;
        long greatest = hash(first + (long) last * BYTES);
        if (bound > greatest) {
            stand(path, count);
            return;
        }
        int index = (int) ((bound - min) * last / (greatest - min));
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
    public void write(long entry, Element element) {
        Memory.putInt(entry, (int) element.order);
        leaf(entry, (int) element.stored);
    }

    @Override
    public long orderAt(long entry) {
        return hash(entry);
    }

    public static long hash(long entry) {
        return Memory.getInt(entry) & HASH_MASK;
    }

    public static int leaf(long entry) {
        return Memory.getInt(entry + LEAF);
    }

    public static void leaf(long entry, int leaf) {
        Memory.putInt(entry + LEAF, leaf);
    }
}

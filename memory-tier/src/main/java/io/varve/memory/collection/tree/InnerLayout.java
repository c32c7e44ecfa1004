package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of an inner node's children, after the header that {@link NodeLayout} draws. Immutable: static
 * methods only.
 *
 * <pre>
 *  16       20       24              32
 *  +--------+--------+---------------+--------+--------+---------------+---- ...
 *  | child  | below  |   separator   | child  | below  |   separator   |
 *  | 4      | 4      |   8           |        |        |               |
 *  +--------+--------+---------------+--------+--------+---------------+---- ...
 *   slot 0                            slot 1
 * </pre>
 *
 * <p>{@code below} counts the elements under the child, unsigned. INVARIANT: from slot 1 on, a separator is no greater
 * than the order of any element under its own child. It is no smaller than that of any element under the previous
 * child. The separator of slot 0 has no meaning.
 */
public final class InnerLayout {
    /** The most children of a node, however large it may be. */
    public static final int MAX_CHILDREN = 64;

    private static final int CHILD = 0;
    private static final int BELOW = CHILD + Integer.BYTES;
    private static final int SEPARATOR = BELOW + Integer.BYTES;
    private static final int SLOT_BYTES = SEPARATOR + Long.BYTES;
    /** The most elements of a tree: what 4 bytes count. */
    static final long MAX_ELEMENTS_BELOW = 0xFFFF_FFFFL;

    private InnerLayout() {}

    /** Bytes of a node with this number of children. */
    public static int bytes(int children) {
        return NodeLayout.HEADER_BYTES + children * SLOT_BYTES;
    }

    /** The most children of a node of at most this size. */
    public static int maxChildren(int targetBytes) {
        return Math.clamp((targetBytes - NodeLayout.HEADER_BYTES) / SLOT_BYTES, 4, MAX_CHILDREN);
    }

    private static long slot(long inner, int slot) {
        return inner + NodeLayout.HEADER_BYTES + (long) slot * SLOT_BYTES;
    }

    public static int child(long inner, int slot) {
        return Memory.getInt(slot(inner, slot) + CHILD);
    }

    static void child(long inner, int slot, int child) {
        Memory.putInt(slot(inner, slot) + CHILD, child);
    }

    public static long below(long inner, int slot) {
        return Memory.getInt(slot(inner, slot) + BELOW) & MAX_ELEMENTS_BELOW;
    }

    static void below(long inner, int slot, long below) {
        assert below >= 0 && below <= MAX_ELEMENTS_BELOW : below;
        Memory.putInt(slot(inner, slot) + BELOW, (int) below);
    }

    public static long separator(long inner, int slot) {
        return Memory.getLong(slot(inner, slot) + SEPARATOR);
    }

    static void separator(long inner, int slot, long separator) {
        Memory.putLong(slot(inner, slot) + SEPARATOR, separator);
    }

    public static void put(long inner, int slot, int child, long below, long separator) {
        child(inner, slot, child);
        below(inner, slot, below);
        separator(inner, slot, separator);
    }

    /** The elements below the children of the slots from one up to another. */
    public static long sumBelow(long inner, int from, int to) {
        long sum = 0;
        for (int slot = from; slot < to; slot++) {
            sum += below(inner, slot);
        }
        return sum;
    }

    /** Copies slots from one node to another, or within one. */
    static void copy(long from, int fromSlot, long to, int toSlot, int slots) {
        Memory.copy(slot(from, fromSlot), slot(to, toSlot), (long) slots * SLOT_BYTES);
    }

    /** Sets the number of children, and the used bytes that follow from it. */
    public static void count(long inner, int count) {
        NodeLayout.count(inner, count);
        NodeLayout.used(inner, bytes(count));
    }

    /** Removes a slot; those behind move down. */
    public static void remove(long inner, int slot) {
        int count = NodeLayout.count(inner);
        copy(inner, slot + 1, inner, slot, count - slot - 1);
        count(inner, count - 1);
    }

    /** Whether a slot exists, and an element of this order can only be under its child. */
    static boolean isWithin(long inner, int slot, long order) {
        int behind = slot + 1;
        int count = NodeLayout.count(inner);
        return slot < count && (slot == 0 || separator(inner, slot) < order)
                && (behind == count || separator(inner, behind) > order);
    }

    /** The last slot, from {@code from} on, whose separator is below a bound; {@code from} - 1 if none is. */
    public static int lastBelow(long inner, int from, long bound, boolean orEqual) {
        int low = from;
        int high = NodeLayout.count(inner);
        while (low < high) {
            int middle = low + high >>> 1;
            long separator = separator(inner, middle);
            if (separator < bound || orEqual && separator == bound) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    /**
     * As {@link #lastBelow}, for separators that are nearly uniformly distributed, as hashes are: it interpolates the
     * position and corrects it by a few steps.
     */
    public static int lastBelowOfEven(long inner, long bound) {
        int last = NodeLayout.count(inner) - 1;
        if (last < 1) {
            return 0;
        }
        long min = separator(inner, 1);
        long greatest = separator(inner, last);
        if (bound <= min) {
            return 0;
        }
        if (bound > greatest) {
            return last;
        }
        int slot = 1 + (int) ((bound - min) * (last - 1) / (greatest - min));
        while (separator(inner, slot) >= bound) {
            slot--;
        }
        while (separator(inner, slot + 1) < bound) {
            slot++;
        }
        return slot;
    }
}

package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The bytes that all nodes of a tree begin with. Immutable: static methods only.
 *
 * <pre>
 *  0        4       5       6       8        12        16
 *  +--------+-------+-------+-------+--------+---------+---------- ... ---------+
 *  |  tree  | level | spare | count |  used  | forward | entries     |   room   |
 *  +--------+-------+-------+-------+--------+---------+---------- ... ---------+
 *                                   |&lt;------------ used --------------&gt;|
 * </pre>
 *
 * <p>{@code level} is 0 for a leaf; {@code count} is that of its entries, or of an inner node's children; {@code used} counts
 * from the node's start; {@code forward} means something only while a sorted set is being copied.
 */
public final class NodeLayout {
    private static final int TREE = 0;
    private static final int LEVEL = TREE + Integer.BYTES;
    private static final int SPARE = LEVEL + Byte.BYTES;
    private static final int COUNT = SPARE + Byte.BYTES;
    private static final int USED = COUNT + Short.BYTES;
    private static final int FORWARD = USED + Integer.BYTES;
    /** Where the entries start. */
    static final int HEADER_BYTES = FORWARD + Integer.BYTES;

    private static final int COUNT_MASK = (1 << Short.SIZE) - 1;

    private NodeLayout() {}

    /** The tree that a node belongs to. */
    public static int tree(long node) {
        return Memory.getInt(node + TREE);
    }

    /** Says which tree a node belongs to. */
    public static void tree(long node, int tree) {
        Memory.putInt(node + TREE, tree);
    }

    /** Whether a node has elements and no children. */
    public static boolean isLeaf(long node) {
        return level(node) == 0;
    }

    static int level(long node) {
        return Memory.getByte(node + LEVEL);
    }

    static int count(long node) {
        return Memory.getShort(node + COUNT) & COUNT_MASK;
    }

    static void count(long node, int count) {
        assert count >= 0 && count <= COUNT_MASK : count;
        Memory.putShort(node + COUNT, (short) count);
    }

    static int used(long node) {
        return Memory.getInt(node + USED);
    }

    static void used(long node, int used) {
        Memory.putInt(node + USED, used);
    }

    /** The copy of a leaf. */
    static int forward(long node) {
        return Memory.getInt(node + FORWARD);
    }

    static void forward(long node, int copy) {
        Memory.putInt(node + FORWARD, copy);
    }

    /** Makes it a node without entries; the tree's id is there already. */
    static void clear(long node, int level) {
        Memory.putByte(node + LEVEL, (byte) level);
        Memory.putByte(node + SPARE, (byte) 0);
        count(node, 0);
        used(node, HEADER_BYTES);
        forward(node, NodeSpace.NONE);
    }
}

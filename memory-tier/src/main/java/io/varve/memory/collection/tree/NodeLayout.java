package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of the header of all tree nodes. Immutable: static methods only.
 *
 * <pre>
 *  0        4       5       6       8        12        16
 *  +--------+-------+-------+-------+--------+---------+---------- ... ---------+
 *  |  tree  | level | spare | count |  used  | forward | entries     |  unused  |
 *  +--------+-------+-------+-------+--------+---------+---------- ... ---------+
 *                                   |&lt;------------ used --------------&gt;|
 * </pre>
 *
 * <p>{@code level} is 0 for a leaf. {@code count} is the number of a leaf's entries or of an inner node's children.
 * {@code used} counts from the node's start. {@code forward} has a meaning only during the copy of a sorted set.
 */
public final class NodeLayout {
    private static final int TREE = 0;
    private static final int LEVEL = TREE + Integer.BYTES;
    private static final int SPARE = LEVEL + Byte.BYTES;
    private static final int COUNT = SPARE + Byte.BYTES;
    private static final int USED = COUNT + Short.BYTES;
    private static final int FORWARD = USED + Integer.BYTES;
    /** The offset of the entries. */
    public static final int HEADER_BYTES = FORWARD + Integer.BYTES;

    private static final int LINE_BYTES = 64;
    /** A node is larger only if it has one large entry, of which a search reads the head. */
    private static final int MAX_TOUCHED_BYTES = 1024;
    private static final int COUNT_MASK = (1 << Short.SIZE) - 1;

    private NodeLayout() {}

    /** The tree that a node belongs to. */
    public static int tree(long node) {
        return Memory.getInt(node + TREE);
    }

    /** Sets the tree that a node belongs to. */
    public static void tree(long node, int tree) {
        Memory.putInt(node + TREE, tree);
    }

    /** Whether a node has elements and no children. */
    public static boolean isLeaf(long node) {
        return level(node) == 0;
    }

    public static int level(long node) {
        return Memory.getByte(node + LEVEL);
    }

    public static int count(long node) {
        return Memory.getShort(node + COUNT) & COUNT_MASK;
    }

    public static void count(long node, int count) {
        assert count >= 0 && count <= COUNT_MASK : count;
        Memory.putShort(node + COUNT, (short) count);
    }

    public static int used(long node) {
        return Memory.getInt(node + USED);
    }

    public static void used(long node, int used) {
        Memory.putInt(node + USED, used);
    }

    /** The copy of a leaf. */
    public static int forward(long node) {
        return Memory.getInt(node + FORWARD);
    }

    public static void forward(long node, int copy) {
        Memory.putInt(node + FORWARD, copy);
    }

    /**
     * Reads each cache line of a node, up to a kilobyte, so that their misses overlap. A search that decodes one entry
     * after the other would have the misses one after the other.
     *
     * @return a sum of what was read, which the caller stores, so that the compiler keeps the reads
     */
    static int touch(long node) {
        int end = Math.min(used(node), MAX_TOUCHED_BYTES);
        int sum = 0;
        for (int offset = LINE_BYTES; offset < end; offset += LINE_BYTES) {
            sum += Memory.getByte(node + offset);
        }
        return sum;
    }

    /** Initializes a node without entries; its tree's id must already be set. */
    public static void clear(long node, int level) {
        Memory.putByte(node + LEVEL, (byte) level);
        Memory.putByte(node + SPARE, (byte) 0);
        count(node, 0);
        used(node, HEADER_BYTES);
        forward(node, NodeSpace.NONE);
    }
}

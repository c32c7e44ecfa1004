package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * The value of a root item: the records of its one to four trees. Immutable: static methods only; writers hold the lock
 * of the item's shard.
 *
 * <pre>
 *  0       4                            32                           60
 *  +-------+----------------------------+----------------------------+--- ...
 *  | flags | record of the first tree   | of the second, if it has   |
 *  +-------+----------------------------+----------------------------+--- ...
 *
 *  record:
 *  +--------+-----------+--------+-------------+-------------+
 *  | tree 4 | root node | height | elements    | bytes       |
 *  |        | 4         | 4      | 8           | 8           |
 *  +--------+-----------+--------+-------------+-------------+
 * </pre>
 *
 * <p>{@code height} counts the levels above the leaves. {@code bytes} is the memory of all nodes, overhead included.
 * The flags belong to the type.
 */
public final class TreeHeader {
    private static final int FLAGS = 0;
    private static final int RECORDS = FLAGS + Integer.BYTES;

    private static final int TREE = 0;
    private static final int ROOT = TREE + Integer.BYTES;
    private static final int HEIGHT = ROOT + Integer.BYTES;
    private static final int COUNT = HEIGHT + Integer.BYTES;
    private static final int BYTES = COUNT + Long.BYTES;
    private static final int RECORD_BYTES = BYTES + Long.BYTES;
    /** The most trees of a collection. What follows their records belongs to the type. */
    private static final int MAX_TREES = 4;

    private TreeHeader() {}

    /** Bytes of the header of this number of trees. */
    public static int bytes(int trees) {
        return RECORDS + trees * RECORD_BYTES;
    }

    /**
     * The number of trees in a header of this size. So what a type with fewer than the most trees has behind their
     * records is shorter than a record.
     */
    public static int trees(int headerBytes) {
        return Math.min(MAX_TREES, (headerBytes - RECORDS) / RECORD_BYTES);
    }

    /** Initializes the header of trees without nodes and ids. */
    public static void clear(long header, int trees) {
        Memory.fill(header, bytes(trees), (byte) 0);
    }

    /** The address of a tree's record. */
    public static long record(long header, int index) {
        return header + RECORDS + (long) index * RECORD_BYTES;
    }

    /** The id of a record's tree. */
    public static int tree(long record) {
        return Memory.getInt(record + TREE);
    }

    public static void tree(long record, int tree) {
        Memory.putInt(record + TREE, tree);
    }

    /** The root node, or {@link NodeSpace#NONE}. */
    public static int root(long record) {
        return Memory.getInt(record + ROOT);
    }

    /** Bytes of a tree's nodes. */
    public static long nodeBytes(long record) {
        return Memory.getLong(record + BYTES);
    }

    /** Bytes of the nodes of all trees of a header. */
    public static long nodeBytes(long header, int headerBytes) {
        long bytes = 0;
        for (int i = 0; i < trees(headerBytes); i++) {
            bytes += nodeBytes(record(header, i));
        }
        return bytes;
    }

    public static int flags(long header) {
        return Memory.getInt(header + FLAGS);
    }

    public static void flags(long header, int flags) {
        Memory.putInt(header + FLAGS, flags);
    }

    public static void root(long record, int root) {
        Memory.putInt(record + ROOT, root);
    }

    public static int height(long record) {
        return Memory.getInt(record + HEIGHT);
    }

    public static void height(long record, int height) {
        Memory.putInt(record + HEIGHT, height);
    }

    public static long count(long record) {
        return Memory.getLong(record + COUNT);
    }

    public static void count(long record, long count) {
        Memory.putLong(record + COUNT, count);
    }

    public static void nodeBytes(long record, long bytes) {
        Memory.putLong(record + BYTES, bytes);
    }
}

package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The value of a root item: what is known of its tree, or trees. Immutable: static methods only; writers hold the lock of the
 * item's shard.
 *
 * <pre>
 *  0       4                            32                           60
 *  +-------+----------------------------+----------------------------+
 *  | flags | record of the first tree   | of the second, if it has   |
 *  +-------+----------------------------+----------------------------+
 *
 *  record:
 *  +--------+-----------+--------+-------------+-------------+
 *  | tree 4 | root node | height | elements    | bytes       |
 *  |        | 4         | 4      | 8           | 8           |
 *  +--------+-----------+--------+-------------+-------------+
 * </pre>
 *
 * <p>{@code height} counts the levels above the leaves; {@code bytes} are those of all nodes with all that they take. The flags
 * belong to the type.
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

    private TreeHeader() {}

    /** Bytes of the header of so many trees. */
    public static int bytes(int trees) {
        return RECORDS + trees * RECORD_BYTES;
    }

    /** How many trees a header of so many bytes is of. */
    public static int trees(int headerBytes) {
        return (headerBytes - RECORDS) / RECORD_BYTES;
    }

    /** Makes it the header of trees without nodes, which have no ids yet. */
    public static void clear(long header, int trees) {
        Memory.fill(header, bytes(trees), (byte) 0);
    }

    /** Where the record of a tree is. */
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

    /** The node at the top, or {@link NodeSpace#NONE}. */
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

    static int flags(long header) {
        return Memory.getInt(header + FLAGS);
    }

    static void flags(long header, int flags) {
        Memory.putInt(header + FLAGS, flags);
    }

    static void root(long record, int root) {
        Memory.putInt(record + ROOT, root);
    }

    static int height(long record) {
        return Memory.getInt(record + HEIGHT);
    }

    static void height(long record, int height) {
        Memory.putInt(record + HEIGHT, height);
    }

    static long count(long record) {
        return Memory.getLong(record + COUNT);
    }

    static void count(long record, long count) {
        Memory.putLong(record + COUNT, count);
    }

    static void nodeBytes(long record, long bytes) {
        Memory.putLong(record + BYTES, bytes);
    }
}

package io.varve.memory.collection.stream;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a stream's metadata, behind the records of its trees, and of a packed stream, which consists of
 * metadata and at most one block. Immutable: static methods only; writers hold the lock of the item's shard.
 *
 * <pre>
 *  0        8            24           40           56       64        72
 *  +--------+------------+------------+------------+--------+---------+
 *  | length | last ID    | first ID   | max deleted| added  | groups  |
 *  | 8      | ms 8, seq 8| ms 8, seq 8| ms 8, seq 8| 8      | 8       |
 *  +--------+------------+------------+------------+--------+---------+
 *
 *  packed:
 *  +----------+-------------+--------------------------+
 *  | metadata | block's ID  | block, as StreamBlock    |
 *  | 72       | ms 8, seq 8 | draws it                 |
 *  +----------+-------------+--------------------------+
 * </pre>
 *
 * <p>{@code length} counts the entries that are not deleted, {@code added} those that were ever added. {@code groups}
 * is the number of the next group. A packed stream without entries has neither ID nor block.
 */
public final class StreamMetadataLayout {
    private static final int ID_BYTES = 2 * Long.BYTES;
    private static final int LENGTH = 0;
    private static final int LAST_ID = LENGTH + Long.BYTES;
    private static final int FIRST_ID = LAST_ID + ID_BYTES;
    private static final int MAX_DELETED_ID = FIRST_ID + ID_BYTES;
    private static final int ADDED = MAX_DELETED_ID + ID_BYTES;
    private static final int GROUPS = ADDED + Long.BYTES;
    public static final int BYTES = GROUPS + Long.BYTES;

    private static final int PACKED_ID = BYTES;
    /** The offset of the block in a packed stream. */
    public static final int PACKED_BLOCK = PACKED_ID + ID_BYTES;

    private StreamMetadataLayout() {}

    /** Writes the metadata of a new stream. */
    public static void clear(long metadata) {
        Memory.fill(metadata, BYTES, (byte) 0);
    }

    public static long length(long metadata) {
        return Memory.getLong(metadata + LENGTH);
    }

    public static void length(long metadata, long length) {
        Memory.putLong(metadata + LENGTH, length);
    }

    public static long lastMs(long metadata) {
        return Memory.getLong(metadata + LAST_ID);
    }

    public static long lastSeq(long metadata) {
        return Memory.getLong(metadata + LAST_ID + Long.BYTES);
    }

    public static void lastId(long metadata, long ms, long seq) {
        id(metadata + LAST_ID, ms, seq);
    }

    public static long firstMs(long metadata) {
        return Memory.getLong(metadata + FIRST_ID);
    }

    public static long firstSeq(long metadata) {
        return Memory.getLong(metadata + FIRST_ID + Long.BYTES);
    }

    public static void firstId(long metadata, long ms, long seq) {
        id(metadata + FIRST_ID, ms, seq);
    }

    public static long maxDeletedMs(long metadata) {
        return Memory.getLong(metadata + MAX_DELETED_ID);
    }

    public static long maxDeletedSeq(long metadata) {
        return Memory.getLong(metadata + MAX_DELETED_ID + Long.BYTES);
    }

    public static void maxDeletedId(long metadata, long ms, long seq) {
        id(metadata + MAX_DELETED_ID, ms, seq);
    }

    public static long added(long metadata) {
        return Memory.getLong(metadata + ADDED);
    }

    public static void added(long metadata, long added) {
        Memory.putLong(metadata + ADDED, added);
    }

    public static long nextGroup(long metadata) {
        return Memory.getLong(metadata + GROUPS);
    }

    public static void nextGroup(long metadata, long group) {
        Memory.putLong(metadata + GROUPS, group);
    }

    /** Milliseconds of the ID of a packed stream's block. */
    public static long packedMs(long value) {
        return Memory.getLong(value + PACKED_ID);
    }

    /** Sequence number of the ID of a packed stream's block. */
    public static long packedSeq(long value) {
        return Memory.getLong(value + PACKED_ID + Long.BYTES);
    }

    public static void packedId(long value, long ms, long seq) {
        id(value + PACKED_ID, ms, seq);
    }

    private static void id(long address, long ms, long seq) {
        Memory.putLong(address, ms);
        Memory.putLong(address + Long.BYTES, seq);
    }
}

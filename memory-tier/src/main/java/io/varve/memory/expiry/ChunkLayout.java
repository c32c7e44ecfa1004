package io.varve.memory.expiry;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a chunk: a header and as many 48-bit locations as fill it. Immutable: static methods only.
 *
 * <pre>
 *  0         4          8         12      14      16        22              250       256
 *  +---------+----------+---------+-------+-------+---------+---- ... ------+---------+
 *  |  cell   | previous |  next   | count | spare | slot 0  |    slot 1     | slot 39 |
 *  | 4 bytes | 4 bytes  | 4 bytes |   2   |   2   | 6 bytes |               | 6 bytes |
 *  +---------+----------+---------+-------+-------+---------+---- ... ------+---------+
 * </pre>
 *
 * <p>{@code cell} is the cell that the chunk belongs to, or {@link #FREE}. {@code previous} and {@code next} are chunk
 * numbers within the cell's chain or the chain of free chunks, or {@link #NO_CHUNK}. Slots {@code 0 .. count-1} are
 * filled.
 *
 * <p>Why 256 bytes: all chunks of a cell but the last are full, so a cell wastes half a chunk on average, and an entry
 * pays its share of a header. With 40 slots that share is 0.4 bytes, and 120 occupied cells waste 15 KiB in a shard.
 * With 1 KiB it would be 0.1 bytes and 60 KiB, which only pays off beyond 150,000 expiring items in a shard.
 */
final class ChunkLayout {
    static final int BYTES = 256;
    static final int SLOT_BYTES = 6;

    /** In place of a cell: the chunk holds no entries and belongs to no cell. */
    static final int FREE = -1;

    /** In place of a chunk number: the end of a chain. */
    static final int NO_CHUNK = -1;

    private static final int CELL = 0;
    private static final int PREVIOUS = CELL + Integer.BYTES;
    private static final int NEXT = PREVIOUS + Integer.BYTES;
    private static final int COUNT = NEXT + Integer.BYTES;
    private static final int SPARE = COUNT + Short.BYTES;
    static final int HEADER_BYTES = SPARE + Short.BYTES;

    /** Slots in a chunk. */
    static final int SLOTS = (BYTES - HEADER_BYTES) / SLOT_BYTES;

    /** Width of a slot number inside an entry id. */
    static final int SLOT_BITS = Integer.SIZE - Integer.numberOfLeadingZeros(SLOTS - 1);

    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

    /** As many chunks as an entry id, a non-negative int, can name. */
    static final int MAX_CHUNKS = 1 << (Integer.SIZE - 1 - SLOT_BITS);

    private ChunkLayout() {}

    /** Composes an entry id: chunk number above, slot below. */
    static int entry(int chunk, int slot) {
        return chunk << SLOT_BITS | slot;
    }

    static int chunkOf(int entry) {
        return entry >>> SLOT_BITS;
    }

    static int slotOf(int entry) {
        return entry & SLOT_MASK;
    }

    static int cell(long chunkAddress) {
        return Memory.getInt(chunkAddress + CELL);
    }

    static void cell(long chunkAddress, int cell) {
        Memory.putInt(chunkAddress + CELL, cell);
    }

    static int previous(long chunkAddress) {
        return Memory.getInt(chunkAddress + PREVIOUS);
    }

    static void previous(long chunkAddress, int chunk) {
        Memory.putInt(chunkAddress + PREVIOUS, chunk);
    }

    static int next(long chunkAddress) {
        return Memory.getInt(chunkAddress + NEXT);
    }

    static void next(long chunkAddress, int chunk) {
        Memory.putInt(chunkAddress + NEXT, chunk);
    }

    static int count(long chunkAddress) {
        return Memory.getShort(chunkAddress + COUNT);
    }

    static void count(long chunkAddress, int count) {
        Memory.putShort(chunkAddress + COUNT, (short) count);
    }

    static long location(long chunkAddress, int slot) {
        return Memory.getUnsigned48(chunkAddress + HEADER_BYTES + (long) slot * SLOT_BYTES);
    }

    static void location(long chunkAddress, int slot, long location) {
        Memory.putUnsigned48(chunkAddress + HEADER_BYTES + (long) slot * SLOT_BYTES, location);
    }
}

package io.varve.memory.expiry;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * Sets of locations, called cells, in off-heap chunks. Guarded by the shard's lock.
 *
 * <p>A cell is a chain of chunks of which only the last may have free slots. An added entry goes to the end. A removal
 * moves the cell's last entry into the hole and notifies the owner. Both are O(1), and a cell never has holes.
 *
 * <pre>
 *   tails[cell] ----------------------------------+
 *                                                 v
 *      +--------------+      +--------------+    +--------------+
 *      | chunk 7      |<-----| chunk 2      |<---| chunk 9      |
 *      | full         |-----&gt;| full         |---&gt;| 3 of 40      |
 *      +--------------+      +--------------+    +--------------+
 *
 *   slabs[0]                               slabs[1]
 *   +----+----+----+--- ... ---+------+    +----+----+--- ... --+
 *   | c0 | c1 | c2 |           | c63  |    | 64 | 65 |          |    chunks 0 .. chunks-1, in use or free;
 *   +----+----+----+--- ... ---+------+    +----+----+--- ... --+    a free one is linked into the free chain
 * </pre>
 *
 * <p>Chunk numbers stay dense: {@link #compactStep} moves the chunk with the highest number into a free one while more
 * than {@code 1/}{@value #FREE_SHARE} of them are free. It also drops free chunks at the end and frees empty slabs.
 * Only the expiry cycle calls it, so a request never pays for it, and one step handles one chunk. Density bounds the
 * memory per entry after mass expiry, and makes uniform sampling O(1): the probability that a random slot of a random
 * chunk is filled does not depend on the number of entries.
 */
final class EntryStore {
    /** 64 chunks, 2,560 entries: one system call for that many, and little waste in a small shard. */
    static final int SLAB_BYTES = 16 * 1024;

    static final int CHUNKS_PER_SLAB = SLAB_BYTES / ChunkLayout.BYTES;

    /** Compaction starts when more chunks are free than a slab's worth plus this part of those in use. */
    private static final int FREE_SHARE = 32;

    private static final int NO_CHUNK = ChunkLayout.NO_CHUNK;
    private static final long[] NO_SLABS = {};

    private final Regions regions;
    private final MemoryBudget budget;
    private final ExpiryOwner owner;

    /** The last chunk of each cell's chain; {@link #noTails} until the first entry. */
    private int[] tails;
    /** Shared by all stores of as many cells, and never written. */
    private final int[] noTails;

    private long[] slabs = NO_SLABS;
    private int slabCount;
    private int chunks;
    private int freeHead = NO_CHUNK;
    private int freeChunks;
    private long size;

    EntryStore(int cells, Regions regions, MemoryBudget budget, ExpiryOwner owner) {
        this.regions = regions;
        this.budget = budget;
        this.owner = owner;
        noTails = EmptyArrays.ints(cells, NO_CHUNK);
        tails = noTails;
    }

    long size() {
        return size;
    }

    long bytes() {
        return (long) slabCount * SLAB_BYTES;
    }

    boolean isEmpty(int cell) {
        return tails[cell] == NO_CHUNK;
    }

    /**
     * Adds an entry at the end of the cell.
     *
     * @throws CacheFullException if it needs a slab and the budget refuses; nothing is changed then
     */
    int add(int cell, long location) {
        return append(cell, location, true);
    }

    /**
     * Adds an entry that replaces another, which the caller removes next. The number of entries stays, so these calls
     * can grow the store by at most a chunk for each cell. The budget is therefore charged unconditionally: full memory
     * never keeps an item in the wrong cell.
     *
     * @throws CacheFullException if it needs a slab and the system refuses it; nothing is changed then
     */
    int addMoved(int cell, long location) {
        return append(cell, location, false);
    }

    /** Removes an entry and fills the hole with the cell's last entry; returns the cell. */
    int remove(int entry) {
        long address = addressOf(entry);
        int cell = ChunkLayout.cell(address);
        int tail = tails[cell];
        long tailAddress = address(tail);
        int lastSlot = ChunkLayout.count(tailAddress) - 1;
        if (entry != ChunkLayout.entry(tail, lastSlot)) {
            long moved = ChunkLayout.location(tailAddress, lastSlot);
            ChunkLayout.location(address, ChunkLayout.slotOf(entry), moved);
            owner.entryMoved(moved, entry);
        }
        dropLast(cell, tail, tailAddress, lastSlot);
        return cell;
    }

    /** The location of the cell's last entry; the cell must not be empty. */
    long last(int cell) {
        long tailAddress = address(tails[cell]);
        return ChunkLayout.location(tailAddress, ChunkLayout.count(tailAddress) - 1);
    }

    /** Removes the cell's last entry, so no other moves; the cell must not be empty. */
    void removeLast(int cell) {
        int tail = tails[cell];
        long tailAddress = address(tail);
        dropLast(cell, tail, tailAddress, ChunkLayout.count(tailAddress) - 1);
    }

    int cellOf(int entry) {
        return ChunkLayout.cell(addressOf(entry));
    }

    long location(int entry) {
        return ChunkLayout.location(addressOf(entry), ChunkLayout.slotOf(entry));
    }

    void relocate(int entry, long location) {
        ChunkLayout.location(addressOf(entry), ChunkLayout.slotOf(entry), location);
    }

    /** Whether the entry is the only one of its cell. */
    boolean isAlone(int entry) {
        long address = addressOf(entry);
        return ChunkLayout.count(address) == 1 && ChunkLayout.previous(address) == NO_CHUNK
                && ChunkLayout.next(address) == NO_CHUNK;
    }

    /**
     * A uniformly random entry: it tries random slots of random chunks until one is filled. All entries are equally
     * likely because all slots are. The expected number of tries is 1 over the share of filled slots.
     * {@link #compactStep} keeps that share high; it is at least 1/40 when each chunk in use holds one entry.
     *
     * @param random any number, from which the further ones are derived
     * @return the entry, or -1 when the store is empty
     */
    int sample(long random) {
        if (size == 0) {
            return -1;
        }
        for (long state = random;; state += 0x9E37_79B9_7F4A_7C15L) {
            long bits = mix(state);
            int chunk = (int) ((bits >>> 32) * chunks >>> 32);
            int slot = (int) ((bits & 0xFFFF_FFFFL) * ChunkLayout.SLOTS >>> 32);
            long address = address(chunk);
            if (ChunkLayout.cell(address) != ChunkLayout.FREE && slot < ChunkLayout.count(address)) {
                return ChunkLayout.entry(chunk, slot);
            }
        }
    }

    void forEach(LocationVisitor visitor) {
        for (int chunk = 0; chunk < chunks; chunk++) {
            visitChunk(chunk, _ -> true, visitor);
        }
    }

    /** The number of chunks, in use and free: all numbers below it can be visited. */
    int chunks() {
        return chunks;
    }

    /**
     * Visits a chunk's entries if the filter accepts its cell, which one read of the header decides.
     *
     * @return the number of visited entries
     */
    int visitChunk(int chunk, IntPredicate cells, LocationVisitor visitor) {
        long address = address(chunk);
        int cell = ChunkLayout.cell(address);
        int count = cell == ChunkLayout.FREE || !cells.test(cell) ? 0 : ChunkLayout.count(address);
        for (int slot = 0; slot < count; slot++) {
            visitor.visit(ChunkLayout.location(address, slot));
        }
        return count;
    }

    /**
     * One step towards dense chunks: moves at most one chunk and frees at most one slab; false when nothing is to do.
     */
    boolean compactStep() {
        if (chunks == 0) {
            return freeSlab(0);
        }
        int last = chunks - 1;
        long lastAddress = address(last);
        if (ChunkLayout.cell(lastAddress) == ChunkLayout.FREE) {
            unlinkFree(last, lastAddress);
            chunks--;
        } else if (freeChunks > CHUNKS_PER_SLAB + (chunks - freeChunks) / FREE_SHARE) {
            moveChunk(last, lastAddress, takeFree());
            chunks--;
        } else {
            return freeSlab(1);
        }
        freeSlab(1);
        return true;
    }

    void release() {
        while (slabCount > 0) {
            freeLastSlab();
        }
        tails = noTails;
        chunks = 0;
        freeHead = NO_CHUNK;
        freeChunks = 0;
        size = 0;
    }

    /** Checks chains, counts and bytes; shows each sound cell's entries to {@code visitor}. */
    void checkIntegrity(CellVisitor visitor, Consumer<String> problems) {
        int chunksSeen = 0;
        long entriesSeen = 0;
        for (int cell = 0; cell < tails.length; cell++) {
            int next = NO_CHUNK;
            for (int chunk = tails[cell]; chunk != NO_CHUNK; chunk = ChunkLayout.previous(address(chunk))) {
                if (chunk < 0 || chunk >= chunks || ++chunksSeen > chunks) {
                    problems.accept("cell " + cell + " has a broken chain at chunk " + chunk + " of " + chunks);
                    break;
                }
                long address = address(chunk);
                int count = ChunkLayout.count(address);
                if (ChunkLayout.cell(address) != cell) {
                    problems.accept(
                            "chunk " + chunk + " of cell " + cell + " records cell " + ChunkLayout.cell(address));
                }
                if (ChunkLayout.next(address) != next) {
                    problems.accept("chunk " + chunk + " is followed by " + next + ", but records "
                            + ChunkLayout.next(address));
                }
                if (count < 1 || count > ChunkLayout.SLOTS || next != NO_CHUNK && count < ChunkLayout.SLOTS) {
                    problems.accept("chunk " + chunk + " of cell " + cell + " holds " + count + " entries");
                }
                for (int slot = 0; slot < count; slot++) {
                    visitor.visit(cell, ChunkLayout.entry(chunk, slot), ChunkLayout.location(address, slot));
                }
                entriesSeen += count;
                next = chunk;
            }
        }
        int free = 0;
        for (int chunk = freeHead; chunk != NO_CHUNK && free <= chunks; chunk = ChunkLayout.next(address(chunk))) {
            free++;
            if (ChunkLayout.cell(address(chunk)) != ChunkLayout.FREE) {
                problems.accept("chunk " + chunk + " is both free and in use");
            }
        }
        expect(problems, "entries", size, entriesSeen);
        expect(problems, "free chunks", freeChunks, free);
        expect(problems, "chunks", chunks, (long) chunksSeen + free);
        if (chunks > (long) slabCount * CHUNKS_PER_SLAB) {
            problems.accept(chunks + " chunks do not fit into " + slabCount + " slabs");
        }
    }

    /** A callback for an entry and its position. Confined to the caller of {@link #checkIntegrity}. */
    @FunctionalInterface
    interface CellVisitor {
        void visit(int cell, int entry, long location);
    }

    private static void expect(Consumer<String> problems, String what, long noted, long counted) {
        if (noted != counted) {
            problems.accept(noted + " " + what + " recorded, but " + counted + " counted");
        }
    }

    private int append(int cell, long location, boolean limited) {
        int tail = tails[cell];
        long address = tail == NO_CHUNK ? 0 : address(tail);
        int slot = tail == NO_CHUNK ? ChunkLayout.SLOTS : ChunkLayout.count(address);
        if (slot == ChunkLayout.SLOTS) {
            tail = appendChunk(cell, tail, limited);
            address = address(tail);
            slot = 0;
        }
        ChunkLayout.location(address, slot, location);
        ChunkLayout.count(address, slot + 1);
        size++;
        return ChunkLayout.entry(tail, slot);
    }

    @SuppressWarnings("ReferenceEquality") // the shared array, not one that is equal
    private int appendChunk(int cell, int tail, boolean limited) {
        int chunk = freeHead != NO_CHUNK ? takeFree() : takeNew(limited);
        long address = address(chunk);
        ChunkLayout.cell(address, cell);
        ChunkLayout.previous(address, tail);
        ChunkLayout.next(address, NO_CHUNK);
        ChunkLayout.count(address, 0);
        if (tail != NO_CHUNK) {
            ChunkLayout.next(address(tail), chunk);
        }
        if (tails == noTails) {
            tails = noTails.clone();
        }
        tails[cell] = chunk;
        return chunk;
    }

    private void dropLast(int cell, int tail, long tailAddress, int lastSlot) {
        size--;
        ChunkLayout.count(tailAddress, lastSlot);
        if (lastSlot > 0) {
            return;
        }
        int previous = ChunkLayout.previous(tailAddress);
        tails[cell] = previous;
        if (previous != NO_CHUNK) {
            ChunkLayout.next(address(previous), NO_CHUNK);
        }
        ChunkLayout.cell(tailAddress, ChunkLayout.FREE);
        ChunkLayout.previous(tailAddress, NO_CHUNK);
        ChunkLayout.next(tailAddress, freeHead);
        if (freeHead != NO_CHUNK) {
            ChunkLayout.previous(address(freeHead), tail);
        }
        freeHead = tail;
        freeChunks++;
    }

    private int takeFree() {
        int chunk = freeHead;
        unlinkFree(chunk, address(chunk));
        return chunk;
    }

    private void unlinkFree(int chunk, long address) {
        int previous = ChunkLayout.previous(address);
        int next = ChunkLayout.next(address);
        if (previous == NO_CHUNK) {
            assert freeHead == chunk : "free chunk " + chunk + " has no previous, but the head is " + freeHead;
            freeHead = next;
        } else {
            ChunkLayout.next(address(previous), next);
        }
        if (next != NO_CHUNK) {
            ChunkLayout.previous(address(next), previous);
        }
        freeChunks--;
    }

    private int takeNew(boolean limited) {
        if (chunks == slabCount * CHUNKS_PER_SLAB) {
            takeSlab(limited);
        }
        return chunks++;
    }

    private void takeSlab(boolean limited) {
        if (chunks == ChunkLayout.MAX_CHUNKS) {
            throw CacheFullException.INSTANCE;
        }
        if (!limited) {
            budget.charge(SLAB_BYTES);
        } else if (!budget.tryCharge(SLAB_BYTES)) {
            throw CacheFullException.INSTANCE;
        }
        long slab = regions.allocate(SLAB_BYTES);
        if (slab == 0) {
            budget.release(SLAB_BYTES);
            throw CacheFullException.INSTANCE;
        }
        if (slabCount == slabs.length) {
            slabs = Arrays.copyOf(slabs, Math.max(4, 2 * slabs.length));
        }
        slabs[slabCount++] = slab;
    }

    /** Frees the last slab if it and {@code kept} more before it are empty: a little hysteresis. */
    private boolean freeSlab(int kept) {
        int needed = (chunks + CHUNKS_PER_SLAB - 1) / CHUNKS_PER_SLAB;
        if (slabCount <= needed + kept) {
            return false;
        }
        freeLastSlab();
        return true;
    }

    private void freeLastSlab() {
        regions.free(slabs[--slabCount], SLAB_BYTES);
        budget.release(SLAB_BYTES);
    }

    private void moveChunk(int from, long fromAddress, int to) {
        long toAddress = address(to);
        Memory.copy(fromAddress, toAddress, ChunkLayout.BYTES);
        int previous = ChunkLayout.previous(toAddress);
        int next = ChunkLayout.next(toAddress);
        if (previous != NO_CHUNK) {
            ChunkLayout.next(address(previous), to);
        }
        if (next == NO_CHUNK) {
            assert tails[ChunkLayout.cell(toAddress)] == from
                    : "chunk " + from + " has no next chunk, but is not the tail";
            tails[ChunkLayout.cell(toAddress)] = to;
        } else {
            ChunkLayout.previous(address(next), to);
        }
        int count = ChunkLayout.count(toAddress);
        for (int slot = 0; slot < count; slot++) {
            owner.entryMoved(ChunkLayout.location(toAddress, slot), ChunkLayout.entry(to, slot));
        }
    }

    private long addressOf(int entry) {
        assert entry >= 0 && ChunkLayout.chunkOf(entry) < chunks : "entry " + entry + " of " + chunks + " chunks";
        long address = address(ChunkLayout.chunkOf(entry));
        assert ChunkLayout.cell(address) != ChunkLayout.FREE : "entry " + entry + " is in a free chunk";
        assert ChunkLayout.slotOf(entry) < ChunkLayout.count(address) : "entry " + entry + " is not filled";
        return address;
    }

    private long address(int chunk) {
        return slabs[chunk / CHUNKS_PER_SLAB] + (long) (chunk % CHUNKS_PER_SLAB) * ChunkLayout.BYTES;
    }

    /** The finalizer of SplitMix64: from a counter to well-mixed bits. */
    private static long mix(long state) {
        long z = (state ^ state >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }
}

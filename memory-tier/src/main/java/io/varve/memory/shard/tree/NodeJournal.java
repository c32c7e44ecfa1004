package io.varve.memory.shard.tree;

import java.util.Arrays;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * The undo journal of the node table: the former entries of node ids, for several writes that must be atomic. Guarded
 * by the shard's lock.
 *
 * <p>The journal is a row of (id, bits) records in slabs. It allocates slabs on demand and frees all but the first at
 * the end.
 */
final class NodeJournal {
    private static final int SLAB_BYTES = 4 * 1024;
    private static final int RECORD_BYTES = 2 * Long.BYTES;
    private static final int RECORDS_PER_SLAB = SLAB_BYTES / RECORD_BYTES;
    private static final long[] NO_SLABS = {};

    private final Regions regions;
    private final MemoryBudget budget;
    private long[] slabs = NO_SLABS;
    private int slabCount;
    private int count;

    NodeJournal(Regions regions, MemoryBudget budget) {
        this.regions = regions;
        this.budget = budget;
    }

    /** @throws CacheFullException if there is no memory for it; nothing was recorded then */
    void add(int id, long bits) {
        if (count == slabCount * RECORDS_PER_SLAB) {
            take();
        }
        long record = record(count++);
        Memory.putLong(record, id);
        Memory.putLong(record + Long.BYTES, bits);
    }

    private void take() {
        if (!budget.tryCharge(SLAB_BYTES)) {
            throw CacheFullException.INSTANCE;
        }
        long slab = regions.allocate(SLAB_BYTES);
        if (slab == 0) {
            budget.release(SLAB_BYTES);
            throw CacheFullException.INSTANCE;
        }
        if (slabCount == slabs.length) {
            slabs = Arrays.copyOf(slabs, Math.max(4, slabCount * 2));
        }
        slabs[slabCount++] = slab;
    }

    private long record(int index) {
        return slabs[index / RECORDS_PER_SLAB] + (long) (index % RECORDS_PER_SLAB) * RECORD_BYTES;
    }

    int count() {
        return count;
    }

    int id(int index) {
        return (int) Memory.getLong(record(index));
    }

    /** The former entry of the id; 0 if it was free. */
    long bits(int index) {
        return Memory.getLong(record(index) + Long.BYTES);
    }

    /** Removes all records and frees the memory, except one slab for the next writes. */
    void clear() {
        count = 0;
        shrink(1);
    }

    /** Frees all memory. */
    void release() {
        count = 0;
        shrink(0);
    }

    long bytes() {
        return (long) slabCount * SLAB_BYTES;
    }

    private void shrink(int kept) {
        while (slabCount > kept) {
            regions.free(slabs[--slabCount], SLAB_BYTES);
            budget.release(SLAB_BYTES);
        }
    }
}

package io.varve.memory.index;

import java.util.Arrays;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * A row of elements of one size that grows and shrinks at its end by a few kilobytes: no element ever moves, and never is
 * more asked of the budget than the next slab. Guarded by the shard's lock.
 *
 * <pre>
 *  |4k|4k|4k| ... 16 of them ... |4k|   64k   |   64k   | ...
 * </pre>
 */
final class Slabs {
    private static final int SMALL_SLABS = 16;
    private static final int SMALL_BYTES = (int) Regions.MIN_BYTES;
    private static final int LARGE_BYTES = SMALL_SLABS * SMALL_BYTES;

    private final int elementShift;
    private final Regions regions;
    private final MemoryBudget budget;
    private long[] slabs = {};
    private int slabCount;

    /**
     * @param elementBytes a power of two
     */
    Slabs(int elementBytes, Regions regions, MemoryBudget budget) {
        this.elementShift = Integer.numberOfTrailingZeros(elementBytes);
        this.regions = regions;
        this.budget = budget;
    }

    /** Where an element is; there is memory for it. */
    long address(int element) {
        long at = (long) element << elementShift;
        return at < LARGE_BYTES
                ? slabs[(int) (at / SMALL_BYTES)] + at % SMALL_BYTES
                : slabs[SMALL_SLABS - 1 + (int) (at / LARGE_BYTES)] + at % LARGE_BYTES;
    }

    /** How many elements there is memory for. */
    int capacity() {
        return (int) (bytes() >>> elementShift);
    }

    long bytes() {
        return bytes(slabCount);
    }

    /** One slab more, all zeros; false, and nothing changed, if it is refused. */
    boolean grow() {
        long bytes = nextBytes();
        if (!budget.tryCharge(bytes)) {
            return false;
        }
        long slab = regions.allocate(bytes);
        if (slab == 0) {
            budget.release(bytes);
            return false;
        }
        if (slabCount == slabs.length) {
            slabs = Arrays.copyOf(slabs, Math.max(4, 2 * slabCount));
        }
        slabs[slabCount++] = slab;
        return true;
    }

    /** What the next slab takes. */
    long nextBytes() {
        return bytes(slabCount + 1) - bytes(slabCount);
    }

    /** Gives the last slabs back that are not needed for so many elements, but keeps some room. */
    void shrink(int elements) {
        long needed = (long) elements << elementShift;
        while (slabCount > 1) {
            long last = bytes(slabCount) - bytes(slabCount - 1);
            if (needed + last / 2 > bytes(slabCount - 1)) {
                return;
            }
            freeLast();
        }
    }

    void release() {
        while (slabCount > 0) {
            freeLast();
        }
    }

    private void freeLast() {
        long bytes = bytes(slabCount) - bytes(slabCount - 1);
        regions.free(slabs[--slabCount], bytes);
        budget.release(bytes);
    }

    private static long bytes(int count) {
        return count <= SMALL_SLABS ? (long) count * SMALL_BYTES : (count - SMALL_SLABS + 1L) * LARGE_BYTES;
    }
}

package io.varve.memory.index;

import java.util.Arrays;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * A growable array of equally sized elements that grows and shrinks at its end by a few kilobytes. Guarded by the
 * shard's lock. Elements never move, and growing charges only one slab.
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

    /** The address of an element, for which there is memory. */
    long address(int element) {
        long at = (long) element << elementShift;
        return at < LARGE_BYTES
                ? slabs[(int) (at / SMALL_BYTES)] + at % SMALL_BYTES
                : slabs[SMALL_SLABS - 1 + (int) (at / LARGE_BYTES)] + at % LARGE_BYTES;
    }

    /** The number of elements that the present memory holds. */
    int capacity() {
        return (int) (bytes() >>> elementShift);
    }

    long bytes() {
        return bytes(slabCount);
    }

    /** Adds a zeroed slab; false, with nothing changed, if it is refused. */
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

    /** The size of the next slab in bytes. */
    long nextBytes() {
        return bytes(slabCount + 1) - bytes(slabCount);
    }

    /** Frees the last slabs that {@code elements} elements do not need, with some hysteresis. */
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

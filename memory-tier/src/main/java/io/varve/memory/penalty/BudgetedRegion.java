package io.varve.memory.penalty;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/** Allocates memory of a fixed size that is charged to the budget while it is held. Immutable: static methods only. */
final class BudgetedRegion {
    private BudgetedRegion() {}

    /**
     * Allocates zeroed memory and charges it.
     *
     * @return its address; 0, with nothing charged, if the budget or the system refuses
     * @throws IllegalArgumentException if the size is no power of two from {@link Regions#MIN_BYTES}
     */
    static long open(long bytes, Regions regions, MemoryBudget budget) {
        if (bytes < Regions.MIN_BYTES || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(
                    "The size is a power of two from " + Regions.MIN_BYTES + ", not " + bytes);
        }
        if (!budget.tryCharge(bytes)) {
            return 0;
        }
        long address = regions.allocate(bytes);
        if (address == 0) {
            budget.release(bytes);
        }
        return address;
    }
}

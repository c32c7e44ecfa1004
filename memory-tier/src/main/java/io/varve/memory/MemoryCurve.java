package io.varve.memory;

import io.varve.memory.locality.MissRatioCurve;

/**
 * For each {@code maxmemory} the share of reads that would miss there, under LRU, as far as it is known. Immutable.
 *
 * @param items            the same for each size of a memory in which items take what {@link io.varve.memory.shard.Shard#usualBytes} tells
 * @param fixedBytes       of maxmemory that no item can have: what is kept free for writes that have begun, and what is charged for other things
 * @param bytesPerItemByte what a byte of items takes, with dead space and free slots of the index
 * @param accesses         that were recorded since recording began
 * @param reads            among those from which the curve is learnt
 * @param drawRate         the share of accesses that is drawn at present
 * @param followedKeys     whose next access is waited for
 * @param recorderBytes    what recording takes in memory
 */
public record MemoryCurve(MissRatioCurve items, double fixedBytes, double bytesPerItemByte, long accesses,
        double reads, double drawRate, int followedKeys, long recorderBytes) {
    /** Whether enough was seen to tell anything. */
    public boolean isKnown() {
        return items.largestBytes() > 0;
    }

    /** The share of reads that would miss, 0 to 1, at this maxmemory; 1 while nothing is known. */
    public double missRatio(double maxMemoryBytes) {
        return items.missRatio(itemBytes(maxMemoryBytes));
    }

    /** From which maxmemory on more makes no difference, as far as anybody knows. */
    public double largestBytes() {
        return isKnown() ? fixedBytes + bytesPerItemByte * items.largestBytes() : 0;
    }

    /** What items can have of so much maxmemory, in bytes of the curve. */
    double itemBytes(double maxMemoryBytes) {
        return Math.max(0, maxMemoryBytes - fixedBytes) / bytesPerItemByte;
    }
}

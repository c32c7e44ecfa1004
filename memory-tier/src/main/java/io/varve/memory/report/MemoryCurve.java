package io.varve.memory.report;

import io.varve.memory.locality.curve.MissRatioCurve;

/**
 * The miss ratio under LRU for each value of {@code maxmemory}, as far as it is known. Immutable.
 *
 * @param items the miss ratio by bytes of items, where an item takes the bytes that
 *     {@link io.varve.memory.shard.ItemFootprint#usualBytes} computes
 * @param fixedBytes the part of maxmemory that is not for items: the reserve for writes that have begun, and other
 *     charges
 * @param bytesPerItemByte the memory that one byte of items takes, with dead bytes and free index slots
 * @param accesses accesses recorded since recording began
 * @param reads the reads among those that the curve was computed from
 * @param samplingRate the share of accesses that is sampled at present
 * @param followedKeys sampled keys whose next access is awaited
 * @param recorderBytes memory of the recorder, in bytes
 */
public record MemoryCurve(MissRatioCurve items, double fixedBytes, double bytesPerItemByte, long accesses,
        double reads, double samplingRate, int followedKeys, long recorderBytes) {
    /** An argument of {@link io.varve.memory.Cache#curve}: all classes together. */
    public static final int ALL_CLASSES = -1;

    /** Whether enough accesses were seen. */
    public boolean isKnown() {
        return items.largestBytes() > 0;
    }

    /** The share of reads that would miss, 0 to 1, at this maxmemory; 1 while nothing is known. */
    public double missRatio(double maxMemoryBytes) {
        return items.missRatio(itemBytes(maxMemoryBytes));
    }

    /** The maxmemory above which more makes no known difference. */
    public double largestBytes() {
        return isKnown() ? fixedBytes + bytesPerItemByte * items.largestBytes() : 0;
    }

    /** The bytes of items, as the curve counts them, that fit in this maxmemory. */
    double itemBytes(double maxMemoryBytes) {
        return Math.max(0, maxMemoryBytes - fixedBytes) / bytesPerItemByte;
    }
}

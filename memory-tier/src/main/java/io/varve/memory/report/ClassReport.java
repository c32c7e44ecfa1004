package io.varve.memory.report;

/**
 * Statistics of one penalty class. Immutable.
 *
 * @param penaltyClass its number, from 0
 * @param range its range of penalties, as text
 * @param penaltyMicros the cost of a miss in µs: the mean over the last period with a measurement; NaN before the
 *     first
 * @param reads reads of keys of the class, since penalties are tracked
 * @param misses the misses among those reads
 * @param writes writes of items of the class
 * @param bytes bytes of its live items
 * @param share its share of the bytes of all live items, 0 to 1
 * @param suggestedShare its share of the memory for items by the last partitioning, 0 to 1; NaN before the first
 */
public record ClassReport(int penaltyClass, String range, double penaltyMicros, long reads, long misses, long writes,
        long bytes, double share, double suggestedShare) {}

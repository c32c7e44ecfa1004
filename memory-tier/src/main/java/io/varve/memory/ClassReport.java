package io.varve.memory;

/**
 * What is known of a class of penalty. Immutable.
 *
 * @param penaltyClass   its number, from 0
 * @param range          of penalties, for people
 * @param penaltyMicros  what a miss costs, µs, the mean of what was measured in the last period in which anything was; NaN while nothing ever was
 * @param reads          of keys of the class, since penalties are tracked
 * @param misses         among them
 * @param writes         of items of the class
 * @param bytes          that its items have, dead space not counted
 * @param share          of what all items have, 0 to 1
 * @param suggestedShare of the memory for items, as the last division gives it, 0 to 1; NaN before the first
 */
public record ClassReport(int penaltyClass, String range, double penaltyMicros, long reads, long misses, long writes,
        long bytes, double share, double suggestedShare) {}

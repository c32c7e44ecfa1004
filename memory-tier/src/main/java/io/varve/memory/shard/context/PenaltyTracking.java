package io.varve.memory.shard.context;

import io.varve.memory.locality.partition.PenaltyRanges;

/**
 * The settings of penalty tracking in each shard. Immutable.
 *
 * @param begun how often tracking has begun: a shard discards what it learned under a lower number
 * @param ranges the ranges of penalties, and the number of classes
 * @param monitorBytes the size of the table for misses that wait for a write: a power of two, or 0 to measure none
 * @param rememberedBytes the size of the table for classes of evicted keys: a power of two, or 0 to remember none
 */
public record PenaltyTracking(long begun, PenaltyRanges ranges, long monitorBytes, long rememberedBytes) {}

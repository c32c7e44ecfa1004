package io.varve.memory.shard;

import io.varve.memory.locality.PenaltyRanges;

/**
 * How penalties are tracked in each shard. Immutable.
 *
 * @param begun           which time it is that tracking has begun: what was learnt before does not count
 * @param ranges          of penalties, and how many classes there are
 * @param monitorBytes    for misses that wait for a write: a power of two, or 0: none is measured
 * @param rememberedBytes for the classes of keys that have gone: a power of two, or 0: none is remembered
 */
public record PenaltyTracking(long begun, PenaltyRanges ranges, long monitorBytes, long rememberedBytes) {}

package io.varve.memory.maintenance;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.expiry.DueCount;
import io.varve.memory.item.Ticker;
import io.varve.memory.shard.Shard;

/**
 * Figures that need a scan: the number of items that are past their expiry time and not reclaimed, and the mean
 * remaining lifetime of expiring items. Written by the maintenance thread alone; many readers.
 *
 * <p>The scan reads very many items, too many for a request: a client behind an INFO would have to wait. Maintenance
 * therefore counts in slices, and readers get the result of the last complete count.
 */
public final class KeyspaceStats {
    /** The interval between counts... */
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** ... or this multiple of the last count's duration, if that is longer. */
    private static final long REST_SHARE = 64;
    private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final int TTL_SAMPLES = 16;

    /**
     * A finished count. Immutable.
     *
     * @param expiredUnreclaimed items past their expiry time
     * @param averageTtlMillis by logical database: the mean of the remaining lifetimes, sampled
     */
    public record Figures(long expiredUnreclaimed, List<Long> averageTtlMillis) {}

    private final Shard[] shards;
    private final Ticker ticker;
    private final long[] ttlSums;
    private final long[] ttlWeights;
    private volatile Figures figures;

    private DueCount due = new DueCount();
    /** The shard being counted; between two counts, the number of shards. */
    private int shard;
    /** Whether the present slice met a held shard. */
    private boolean isHeld;
    private long countedNanos;
    private long workedNanos;

    public KeyspaceStats(Shard[] shards, int databases, Ticker ticker) {
        this.shards = shards;
        this.ticker = ticker;
        ttlSums = new long[databases];
        ttlWeights = new long[databases];
        figures = new Figures(0, averages());
        shard = shards.length;
        countedNanos = ticker.nanoTime() - PERIOD_NANOS;
    }

    /** The results of the last count. */
    public Figures figures() {
        return figures;
    }

    /**
     * Runs one slice, if a count is due or in progress.
     *
     * @return whether there is more to count at once
     */
    public boolean slice(Runnable pause) {
        long start = ticker.nanoTime();
        if (shard == shards.length && !begin(start)) {
            return false;
        }
        long deadline = start + SLICE_NANOS;
        isHeld = false;
        do {
            if (count(shards[shard], deadline)) {
                shard++;
            }
        } while (shard < shards.length && !isHeld && ticker.nanoTime() - deadline < 0);
        long end = ticker.nanoTime();
        workedNanos += end - start;
        if (shard == shards.length) {
            figures = new Figures(due.items(), averages());
            countedNanos = end;
        }
        pause.run();
        return shard < shards.length && !isHeld;
    }

    private boolean begin(long now) {
        if (now - countedNanos < Math.max(PERIOD_NANOS, REST_SHARE * workedNanos)) {
            return false;
        }
        workedNanos = 0;
        shard = 0;
        due = new DueCount();
        Arrays.fill(ttlSums, 0);
        Arrays.fill(ttlWeights, 0);
        return true;
    }

    /** @return whether the shard is complete */
    private boolean count(Shard counted, long deadline) {
        long nowMillis = ticker.wallMillis();
        if (!counted.lockWithin(Shard.DEFAULT_NAPS, false)) {
            isHeld = true;
            return false;
        }
        try {
            if (!counted.upkeep().countExpired(due, nowMillis, deadline)) {
                return false;
            }
            due.nextStore();
            counted.lifetimes().addTo(ttlSums, ttlWeights, nowMillis, TTL_SAMPLES);
            return true;
        } finally {
            counted.unlock();
        }
    }

    private List<Long> averages() {
        Long[] averages = new Long[ttlSums.length];
        for (int i = 0; i < averages.length; i++) {
            averages[i] = ttlWeights[i] == 0 ? 0 : ttlSums[i] / ttlWeights[i];
        }
        return List.of(averages);
    }
}

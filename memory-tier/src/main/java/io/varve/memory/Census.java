package io.varve.memory;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.expiry.DueCount;
import io.varve.memory.item.Ticker;
import io.varve.memory.shard.Shard;

/**
 * What nobody keeps count of: how many items are past their time and not reclaimed, and how long those that expire have
 * left. Single-writer the maintenance thread, many readers.
 *
 * <p>It takes a look at very many items, which whoever asks has no time for: a request behind an INFO would wait. So
 * maintenance counts, slice by slice, and who asks is told what was counted last.
 */
final class Census {
    /** From one count to the next... */
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** ... or so many times what the last one took, if that is longer. */
    private static final long REST_SHARE = 64;
    private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final int TTL_SAMPLES = 16;

    /**
     * A finished count. Immutable.
     *
     * @param expiredUnreclaimed items past their time
     * @param averageTtlMillis   by logical database: the mean of the remaining lifetimes, sampled
     */
    record Figures(long expiredUnreclaimed, List<Long> averageTtlMillis) {}

    private final Shard[] shards;
    private final Ticker ticker;
    private final long[] ttlSums;
    private final long[] ttlWeights;
    private volatile Figures figures;

    private DueCount due = new DueCount();
    /** The shard that is counted; their number between two counts. */
    private int shard;
    /** Whether the slice that is under way came upon a shard that is held. */
    private boolean isHeld;
    private long countedNanos;
    private long workedNanos;

    Census(Shard[] shards, int databases, Ticker ticker) {
        this.shards = shards;
        this.ticker = ticker;
        ttlSums = new long[databases];
        ttlWeights = new long[databases];
        figures = new Figures(0, averages());
        shard = shards.length;
        countedNanos = ticker.nanoTime() - PERIOD_NANOS;
    }

    /** What was counted last. */
    Figures figures() {
        return figures;
    }

    /**
     * One slice, if a count is due or under way.
     *
     * @return whether there is more to count at once
     */
    boolean slice(Runnable giveWay) {
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
        giveWay.run();
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

    /** Whether the shard is done. */
    private boolean count(Shard counted, long deadline) {
        long nowMillis = ticker.wallMillis();
        if (!counted.lockWithin(Shard.PATIENCE_NAPS, false)) {
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

package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ItemSampler;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;

/** Samples the remaining lifetimes of a shard's expiring items. Guarded by the shard's lock. */
public final class Lifetimes {
    private final ShardItems items;
    private final ShardContext context;

    Lifetimes(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    /**
     * Adds, by logical database, the number of expiring items to the weights, and that number times the sampled mean of
     * their remaining lifetimes in ms to the sums. The search for expiring items among hashes whose fields have times
     * is bounded: for all databases together, it reads as many items as an eviction.
     *
     * @param samples the samples per database
     */
    public void addTo(long[] sums, long[] weights, long nowMillis, int samples) {
        long enough = items.sampler().failures() + ItemSampler.MAX_FAILURES;
        for (int logical = 0; logical < sums.length; logical++) {
            int physical = context.databases.physical(logical);
            long expiring = items.expiringOf(physical);
            long mean = expiring == 0 ? 0 : meanLifetimeMillis(physical, nowMillis, samples, enough);
            if (mean > 0) {
                sums[logical] += mean * expiring;
                weights[logical] += expiring;
            }
        }
    }

    private long meanLifetimeMillis(int physical, long nowMillis, int samples, long enough) {
        long sum = 0;
        int sampled = 0;
        for (int i = 0; i < samples; i++) {
            long location = items.sampler().expiring(enough - items.sampler().failures());
            if (location == Index.NONE) {
                break;
            }
            long address = items.address(location);
            if (ItemLayout.database(address) == physical) {
                sum += Math.max(0, TimedHashes.expireAtMillis(address) - nowMillis);
                sampled++;
            }
        }
        return sampled == 0 ? 0 : sum / sampled;
    }
}

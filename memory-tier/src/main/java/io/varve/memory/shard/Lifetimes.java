package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.segment.ItemLayout;

/** How long the items of a shard that expire have left, sampled. Guarded by the shard's lock. */
public final class Lifetimes {
    private final ShardItems items;
    private final ShardContext context;

    Lifetimes(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    /**
     * Adds, by logical database, how many items expire, and to the sums as many times the mean remaining lifetime of some of them, ms. Where few
     * are found among hashes whose fields have times, no more are looked at in all databases together than for an eviction.
     *
     * @param samples of a database
     */
    public void addTo(long[] sums, long[] weights, long nowMillis, int samples) {
        long enough = items.sampler().inVain() + ItemSampler.MOST_IN_VAIN;
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
        int drawn = 0;
        for (int i = 0; i < samples; i++) {
            long location = items.sampler().expiring(enough - items.sampler().inVain());
            if (location == Index.NONE) {
                break;
            }
            long address = items.address(location);
            if (ItemLayout.database(address) == physical) {
                sum += Math.max(0, TimedHashes.expireAtMillis(address) - nowMillis);
                drawn++;
            }
        }
        return drawn == 0 ? 0 : sum / drawn;
    }
}

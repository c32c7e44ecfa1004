package io.varve.memory;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.item.Ticker;
import io.varve.memory.locality.DemandSettings;
import io.varve.memory.segment.CleanerPolicy;
import org.jspecify.annotations.Nullable;

/**
 * How a cache is to be. Immutable; {@link #defaults} and the {@code with…} methods make one.
 *
 * @param maxMemoryBytes          everything that grows with data stays under it; at least 1
 * @param databases               logical databases, 1 to 16
 * @param shards                  a power of two up to 1024, or 0 for several per core
 * @param segmentSizeBytes        a power of two from 4 KiB to 8 MiB, or 0 for the size that fits maxmemory
 * @param heads                   how many segments a shard may have open at once, one for each class of lifetime, 1 to 8
 * @param evictionPolicy          who goes under pressure
 * @param evictionSamples         items looked at for each that goes (maxmemory-samples), 1 to 64
 * @param cleanerPolicy           which segment is worth cleaning
 * @param expireAlgorithm         how expired items are found
 * @param expireBaseMillis        BASE: the width of a time bucket, at least 1
 * @param expireBuckets           NUM_BUCKETS, at least 2
 * @param expireCycleMillis       how often expiry runs, at least 1
 * @param activeExpire            whether it runs at all (DEBUG SET-ACTIVE-EXPIRE)
 * @param hashSeed                the seed of the index hash: random in production, fixed in tests
 * @param ticker                  the time
 * @param curves                  whether accesses are recorded for the miss-ratio curve
 * @param penalties               whether it is measured what misses cost
 * @param demand                  how the demand for each class of penalty is watched, where penalties are tracked and there is a tier below; null: not at all
 */
public record CacheConfig(long maxMemoryBytes, int databases, int shards, int segmentSizeBytes, int heads,
        EvictionPolicy evictionPolicy, int evictionSamples, CleanerPolicy cleanerPolicy,
        ExpireAlgorithm expireAlgorithm, int expireBaseMillis, int expireBuckets, int expireCycleMillis,
        boolean activeExpire, long hashSeed, Ticker ticker, CurveSettings curves,
        PenaltySettings penalties, @Nullable DemandSettings demand) {
    private static final java.security.SecureRandom SEEDS = new java.security.SecureRandom();

    /** What a server starts with, but for the limit. */
    public static CacheConfig defaults(long maxMemoryBytes) {
        return new CacheConfig(maxMemoryBytes, 16, 0, 0, 6, EvictionPolicy.NOEVICTION, 5, CleanerPolicy.MODIFIED,
                ExpireAlgorithm.WHEEL, 1000, 120, 100, true, SEEDS.nextLong(), Ticker.system(), CurveSettings.OFF,
                PenaltySettings.OFF, null);
    }

    public CacheConfig {
        require(maxMemoryBytes >= 1, "maxmemory", maxMemoryBytes, "at least 1 byte");
        require(databases >= 1 && databases <= 16, "databases", databases, "1 to 16");
        require(shards >= 0 && shards <= 1024 && Integer.bitCount(shards) <= 1, "shards", shards,
                "auto or a power of two up to 1024");
        require(segmentSizeBytes == 0 || segmentSizeBytes >= 4096 && segmentSizeBytes <= 8 << 20
                && Integer.bitCount(segmentSizeBytes) == 1, "segment-size", segmentSizeBytes,
                "auto or a power of two from 4kb to 8mb");
        require(heads >= 1 && heads <= 8, "heads", heads, "1 to 8");
        require(evictionSamples >= 1 && evictionSamples <= 64, "maxmemory-samples", evictionSamples, "1 to 64");
        require(expireBaseMillis >= 1, "expire-bucket-base-ms", expireBaseMillis, "at least 1");
        require(expireBuckets >= 2 && expireBuckets <= 65_536, "expire-buckets", expireBuckets, "2 to 65536");
        require(expireCycleMillis >= 1, "expire-cycle-ms", expireCycleMillis, "at least 1");
    }

    private static void require(boolean condition, String name, long value, String allowed) {
        if (!condition) {
            throw new IllegalArgumentException(name + " " + value + ": allowed is " + allowed);
        }
    }

    public CacheConfig withMaxMemoryBytes(long value) {
        return new CacheConfig(value, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withDatabases(int value) {
        return new CacheConfig(maxMemoryBytes, value, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withShards(int value) {
        return new CacheConfig(maxMemoryBytes, databases, value, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withSegmentSizeBytes(int value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, value, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withHeads(int value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, value, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withEvictionPolicy(EvictionPolicy value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, value,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withEvictionSamples(int value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                value, cleanerPolicy, expireAlgorithm, expireBaseMillis, expireBuckets,
                expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withCleanerPolicy(CleanerPolicy value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, value, expireAlgorithm, expireBaseMillis, expireBuckets,
                expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withExpireAlgorithm(ExpireAlgorithm value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, value, expireBaseMillis, expireBuckets,
                expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withExpireBaseMillis(int value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, value, expireBuckets,
                expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withExpireBuckets(int value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis, value,
                expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withExpireCycleMillis(int value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, value, activeExpire, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withActiveExpire(boolean value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, value, hashSeed, ticker, curves, penalties, demand);
    }

    public CacheConfig withHashSeed(long value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, value, ticker, curves, penalties, demand);
    }

    public CacheConfig withTicker(Ticker value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, value, curves, penalties, demand);
    }

    public CacheConfig withCurves(CurveSettings value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, value, penalties, demand);
    }

    public CacheConfig withPenalties(PenaltySettings value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, value, demand);
    }

    public CacheConfig withDemand(@Nullable DemandSettings value) {
        return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, heads, evictionPolicy,
                evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis,
                expireBuckets, expireCycleMillis, activeExpire, hashSeed, ticker, curves, penalties, value);
    }

    /** Whether accesses are recorded: because somebody wants the curve, or because memory is divided by curves. */
    public boolean recordsAccesses() {
        return curves.recorded() || evictionPolicy == EvictionPolicy.ALLKEYS_PENALTY;
    }

    /** Whether items have classes of penalty: because somebody wants to see them, or because the policy asks what a miss costs. */
    public boolean tracksPenalties() {
        return penalties.tracked() || evictionPolicy.weighsPenalties();
    }
}

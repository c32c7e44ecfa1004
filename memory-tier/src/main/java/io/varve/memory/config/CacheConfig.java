package io.varve.memory.config;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.item.KeySlots;
import io.varve.memory.item.Ticker;
import io.varve.memory.locality.demand.DemandSettings;
import io.varve.memory.segment.CleanerPolicy;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a cache. Immutable; {@link #builder} and {@link #toBuilder} create instances.
 *
 * @param maxMemoryBytes the limit on everything that grows with data, in bytes; at least 1
 * @param databases the number of logical databases, 1 to 16
 * @param shards a power of two up to 1024, or 0 for several per core
 * @param segmentSizeBytes a power of two from 4 KiB to 8 MiB, or 0 for the size that fits maxmemory
 * @param maxOpenSegments the maximum number of open segments of a shard, 1 to 8: a default one, others for
 *     lifetime classes
 * @param evictionPolicy which items are evicted under memory pressure
 * @param evictionSamples items sampled for each eviction (maxmemory-samples), 1 to 64
 * @param cleanerPolicy how the cleaner rates segments
 * @param expireAlgorithm how expired items are found
 * @param expireBaseMillis BASE: the width of a time bucket in milliseconds, at least 1
 * @param expireBuckets NUM_BUCKETS, 2 to 65,536
 * @param expireCycleMillis the interval between expiry cycles in milliseconds, at least 1
 * @param activeExpire whether expiry cycles run at all (DEBUG SET-ACTIVE-EXPIRE)
 * @param hashSeed the seed of the index hash: random in production, fixed in tests
 * @param ticker the time source
 * @param curves whether accesses are recorded for the miss-ratio curve
 * @param hotKeys whether reads are sampled to find the most read keys
 * @param penalties whether the cost of misses is measured
 * @param demand how the demand for each penalty class is watched, if penalties are tracked and there is a secondary
 *     tier; null disables it
 * @param keySlots assigns a key to a slot, whose keys are in one shard; null: the hash of a key decides its shard
 */
public record CacheConfig(long maxMemoryBytes, int databases, int shards, int segmentSizeBytes, int maxOpenSegments,
        EvictionPolicy evictionPolicy, int evictionSamples, CleanerPolicy cleanerPolicy,
        ExpireAlgorithm expireAlgorithm, int expireBaseMillis, int expireBuckets, int expireCycleMillis,
        boolean activeExpire, long hashSeed, Ticker ticker, CurveSettings curves,
        boolean hotKeys, PenaltySettings penalties, @Nullable DemandSettings demand, @Nullable KeySlots keySlots) {
    private static final java.security.SecureRandom SEEDS = new java.security.SecureRandom();

    /** The defaults of a server, with the given limit. */
    public static CacheConfig defaults(long maxMemoryBytes) {
        return builder(maxMemoryBytes).build();
    }

    /** A builder that starts with the defaults of a server and the given limit. */
    public static Builder builder(long maxMemoryBytes) {
        return new Builder(maxMemoryBytes);
    }

    /** A builder that starts with this configuration. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    public CacheConfig {
        require(maxMemoryBytes >= 1, "maxmemory", maxMemoryBytes, "at least 1 byte");
        require(databases >= 1 && databases <= 16, "databases", databases, "1 to 16");
        require(shards >= 0 && shards <= 1024 && Integer.bitCount(shards) <= 1, "shards", shards,
                "auto or a power of two up to 1024");
        require(segmentSizeBytes == 0 || segmentSizeBytes >= 4096 && segmentSizeBytes <= 8 << 20
                && Integer.bitCount(segmentSizeBytes) == 1, "segment-size", segmentSizeBytes,
                "auto or a power of two from 4kb to 8mb");
        require(maxOpenSegments >= 1 && maxOpenSegments <= 8, "segment-heads", maxOpenSegments, "1 to 8");
        require(evictionSamples >= 1 && evictionSamples <= 64, "maxmemory-samples", evictionSamples, "1 to 64");
        require(expireBaseMillis >= 1, "expire-bucket-base-ms", expireBaseMillis, "at least 1");
        require(expireBuckets >= 2 && expireBuckets <= 65_536, "expire-buckets", expireBuckets, "2 to 65536");
        require(expireCycleMillis >= 1, "expire-cycle-ms", expireCycleMillis, "at least 1");
    }

    private static void require(boolean condition, String name, long value, String allowed) {
        if (!condition) {
            throw new IllegalArgumentException(name + " " + value + ": expected " + allowed);
        }
    }

    public CacheConfig withMaxMemoryBytes(long value) {
        return toBuilder().maxMemoryBytes(value).build();
    }

    public CacheConfig withDatabases(int value) {
        return toBuilder().databases(value).build();
    }

    public CacheConfig withShards(int value) {
        return toBuilder().shards(value).build();
    }

    public CacheConfig withSegmentSizeBytes(int value) {
        return toBuilder().segmentSizeBytes(value).build();
    }

    public CacheConfig withMaxOpenSegments(int value) {
        return toBuilder().maxOpenSegments(value).build();
    }

    public CacheConfig withEvictionPolicy(EvictionPolicy value) {
        return toBuilder().evictionPolicy(value).build();
    }

    public CacheConfig withEvictionSamples(int value) {
        return toBuilder().evictionSamples(value).build();
    }

    public CacheConfig withCleanerPolicy(CleanerPolicy value) {
        return toBuilder().cleanerPolicy(value).build();
    }

    public CacheConfig withExpireAlgorithm(ExpireAlgorithm value) {
        return toBuilder().expireAlgorithm(value).build();
    }

    public CacheConfig withExpireBaseMillis(int value) {
        return toBuilder().expireBaseMillis(value).build();
    }

    public CacheConfig withExpireBuckets(int value) {
        return toBuilder().expireBuckets(value).build();
    }

    public CacheConfig withExpireCycleMillis(int value) {
        return toBuilder().expireCycleMillis(value).build();
    }

    public CacheConfig withActiveExpire(boolean value) {
        return toBuilder().activeExpire(value).build();
    }

    public CacheConfig withHashSeed(long value) {
        return toBuilder().hashSeed(value).build();
    }

    public CacheConfig withTicker(Ticker value) {
        return toBuilder().ticker(value).build();
    }

    public CacheConfig withCurves(CurveSettings value) {
        return toBuilder().curves(value).build();
    }

    public CacheConfig withHotKeys(boolean value) {
        return toBuilder().hotKeys(value).build();
    }

    public CacheConfig withPenalties(PenaltySettings value) {
        return toBuilder().penalties(value).build();
    }

    public CacheConfig withDemand(@Nullable DemandSettings value) {
        return toBuilder().demand(value).build();
    }

    public CacheConfig withKeySlots(@Nullable KeySlots value) {
        return toBuilder().keySlots(value).build();
    }

    /** Whether accesses are recorded: either for the curve, or because memory is partitioned by curves. */
    public boolean recordsAccesses() {
        return curves.recorded() || evictionPolicy == EvictionPolicy.ALLKEYS_PENALTY;
    }

    /**
     * Whether items have penalty classes: either for their statistics, or because the policy needs the cost of a miss.
     */
    public boolean tracksPenalties() {
        return penalties.tracked() || evictionPolicy.weighsPenalties();
    }

    /** Collects the values of a configuration. Confined to one thread. */
    public static final class Builder {
        private long maxMemoryBytes;
        private int databases = 16;
        private int shards = 0;
        private int segmentSizeBytes = 0;
        private int maxOpenSegments = 6;
        private EvictionPolicy evictionPolicy = EvictionPolicy.NOEVICTION;
        private int evictionSamples = 5;
        private CleanerPolicy cleanerPolicy = CleanerPolicy.MODIFIED;
        private ExpireAlgorithm expireAlgorithm = ExpireAlgorithm.WHEEL;
        private int expireBaseMillis = 1000;
        private int expireBuckets = 120;
        private int expireCycleMillis = 100;
        private boolean activeExpire = true;
        private long hashSeed = SEEDS.nextLong();
        private Ticker ticker = Ticker.system();
        private CurveSettings curves = CurveSettings.OFF;
        private boolean hotKeys;
        private PenaltySettings penalties = PenaltySettings.OFF;
        private @Nullable DemandSettings demand;
        private @Nullable KeySlots keySlots;

        private Builder(long maxMemoryBytes) {
            this.maxMemoryBytes = maxMemoryBytes;
        }

        private Builder(CacheConfig config) {
            maxMemoryBytes = config.maxMemoryBytes;
            databases = config.databases;
            shards = config.shards;
            segmentSizeBytes = config.segmentSizeBytes;
            maxOpenSegments = config.maxOpenSegments;
            evictionPolicy = config.evictionPolicy;
            evictionSamples = config.evictionSamples;
            cleanerPolicy = config.cleanerPolicy;
            expireAlgorithm = config.expireAlgorithm;
            expireBaseMillis = config.expireBaseMillis;
            expireBuckets = config.expireBuckets;
            expireCycleMillis = config.expireCycleMillis;
            activeExpire = config.activeExpire;
            hashSeed = config.hashSeed;
            ticker = config.ticker;
            curves = config.curves;
            hotKeys = config.hotKeys;
            penalties = config.penalties;
            demand = config.demand;
            keySlots = config.keySlots;
        }

        public Builder maxMemoryBytes(long value) {
            maxMemoryBytes = value;
            return this;
        }

        public Builder databases(int value) {
            databases = value;
            return this;
        }

        public Builder shards(int value) {
            shards = value;
            return this;
        }

        public Builder segmentSizeBytes(int value) {
            segmentSizeBytes = value;
            return this;
        }

        public Builder maxOpenSegments(int value) {
            maxOpenSegments = value;
            return this;
        }

        public Builder evictionPolicy(EvictionPolicy value) {
            evictionPolicy = value;
            return this;
        }

        public Builder evictionSamples(int value) {
            evictionSamples = value;
            return this;
        }

        public Builder cleanerPolicy(CleanerPolicy value) {
            cleanerPolicy = value;
            return this;
        }

        public Builder expireAlgorithm(ExpireAlgorithm value) {
            expireAlgorithm = value;
            return this;
        }

        public Builder expireBaseMillis(int value) {
            expireBaseMillis = value;
            return this;
        }

        public Builder expireBuckets(int value) {
            expireBuckets = value;
            return this;
        }

        public Builder expireCycleMillis(int value) {
            expireCycleMillis = value;
            return this;
        }

        public Builder activeExpire(boolean value) {
            activeExpire = value;
            return this;
        }

        public Builder hashSeed(long value) {
            hashSeed = value;
            return this;
        }

        public Builder ticker(Ticker value) {
            ticker = value;
            return this;
        }

        public Builder curves(CurveSettings value) {
            curves = value;
            return this;
        }

        public Builder hotKeys(boolean value) {
            hotKeys = value;
            return this;
        }

        public Builder penalties(PenaltySettings value) {
            penalties = value;
            return this;
        }

        public Builder demand(@Nullable DemandSettings value) {
            demand = value;
            return this;
        }

        public Builder keySlots(@Nullable KeySlots value) {
            keySlots = value;
            return this;
        }

        /** @throws IllegalArgumentException if a value is out of its range */
        public CacheConfig build() {
            return new CacheConfig(maxMemoryBytes, databases, shards, segmentSizeBytes, maxOpenSegments, evictionPolicy,
                    evictionSamples, cleanerPolicy, expireAlgorithm, expireBaseMillis, expireBuckets, expireCycleMillis,
                    activeExpire, hashSeed, ticker, curves, hotKeys, penalties, demand, keySlots);
        }
    }
}

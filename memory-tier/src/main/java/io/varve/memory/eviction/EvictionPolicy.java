package io.varve.memory.eviction;

import java.util.Locale;
import java.util.Optional;

/** The values of {@code maxmemory-policy}. Immutable. */
public enum EvictionPolicy {
    NOEVICTION, ALLKEYS_RANDOM, ALLKEYS_LRU, ALLKEYS_LFU, ALLKEYS_PENALTY, ALLKEYS_HYPERBOLIC, VOLATILE_RANDOM, VOLATILE_LRU, VOLATILE_LFU, VOLATILE_TTL;

    /** The name in redis.conf, such as {@code allkeys-lru}. */
    public String redisName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static Optional<EvictionPolicy> ofRedisName(String name) {
        for (EvictionPolicy policy : values()) {
            if (policy.redisName().equalsIgnoreCase(name)) {
                return Optional.of(policy);
            }
        }
        return Optional.empty();
    }

    public boolean evicts() {
        return this != NOEVICTION;
    }

    /** Whether only items with an expiry time may be evicted. */
    public boolean onlyVolatile() {
        return switch (this) {
            case VOLATILE_RANDOM, VOLATILE_LRU, VOLATILE_LFU, VOLATILE_TTL -> true;
            case NOEVICTION, ALLKEYS_RANDOM, ALLKEYS_LRU, ALLKEYS_LFU, ALLKEYS_PENALTY, ALLKEYS_HYPERBOLIC -> false;
        };
    }

    /** Whether the policy uses the cost of a miss. */
    public boolean weighsPenalties() {
        return this == ALLKEYS_PENALTY || this == ALLKEYS_HYPERBOLIC;
    }

    /** Whether the policy uses when, or how often, an item was accessed. */
    public boolean usesAccesses() {
        return switch (this) {
            case ALLKEYS_LRU, ALLKEYS_LFU, ALLKEYS_PENALTY, ALLKEYS_HYPERBOLIC, VOLATILE_LRU, VOLATILE_LFU -> true;
            case NOEVICTION, ALLKEYS_RANDOM, VOLATILE_RANDOM, VOLATILE_TTL -> false;
        };
    }

    /** Whether the 24 access bits of an item's header hold a frequency (and minutes) rather than a clock. */
    public boolean countsFrequency() {
        return this == ALLKEYS_LFU || this == VOLATILE_LFU;
    }

    /** Whether the 24 access bits of an item's header hold its accesses and its time of arrival ({@link Residence}). */
    public boolean countsSinceArrival() {
        return this == ALLKEYS_HYPERBOLIC;
    }

    /** Whether the 24 access bits of an item's header hold a count, which grows by chance. */
    public boolean countsAccesses() {
        return countsFrequency() || countsSinceArrival();
    }
}

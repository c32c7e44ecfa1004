package io.varve.memory.expiry;

/** What {@code expire-algorithm} may be. Immutable. */
public enum ExpireAlgorithm {
    /** Time buckets with far levels; nothing depends on sampling. The default. */
    WHEEL,
    /** The paper's hybrid: time buckets, and Redis's sampling for what finds no place in them. */
    BUCKET,
    /** Redis's: 20 samples, up to 10 rounds, again while more than 25 % of them had expired. */
    RANDOM
}

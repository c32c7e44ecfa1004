package io.varve.memory.expiry;

/** The values of {@code expire-algorithm}. Immutable. */
public enum ExpireAlgorithm {
    /** Time buckets with far levels; nothing depends on sampling. The default. */
    WHEEL,
    /** The paper's hybrid: time buckets, and Redis's sampling for items that find their bucket taken. */
    BUCKET,
    /** Redis's: 20 samples, up to 10 rounds, again while more than 25 % of them had expired. */
    RANDOM
}

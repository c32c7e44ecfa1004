package io.varve.ycsb;

/** The two databases behind a cache: which of them has a record is decided by its key's hash. Immutable. */
public enum Side {
    /** The near one. */
    LOCAL,
    /** The far one, whose simulated delay can be raised while it runs. */
    REMOTE;

    /** 2^64 divided by the golden ratio: neighbours among keys are spread over both. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    /** Where a key's record is; the same in every process and run. */
    public static Side of(String key) {
        return key.hashCode() * SPREAD < 0 ? REMOTE : LOCAL;
    }
}

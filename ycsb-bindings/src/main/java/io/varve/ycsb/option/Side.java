package io.varve.ycsb.option;

/** One of the two databases behind a cache: a key's hash determines which of them holds its record. Immutable. */
public enum Side {
    /** The near one. */
    LOCAL,
    /** The far one, whose simulated delay can be raised during a run. */
    REMOTE;

    /** 2^64 divided by the golden ratio: it spreads neighbouring keys over both. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    /** The side of a key's record; constant over processes and runs. */
    public static Side of(String key) {
        return key.hashCode() * SPREAD < 0 ? REMOTE : LOCAL;
    }
}

package io.varve.memory.shard.learning;

import io.varve.memory.shard.context.Databases;

/**
 * A key's hash for the access recorder: the number of its physical database in the top bits, then the key's hash.
 * Immutable: static methods only. The prefix allows the recorder to find all keys of a flushed database.
 */
public final class AccessedKey {
    /** The number of top bits that hold the database's number. */
    public static final int DATABASE_BITS = Integer.numberOfTrailingZeros(Databases.PHYSICAL);

    private AccessedKey() {}

    public static long hash(long keyHash, int physical) {
        return (long) physical << Long.SIZE - DATABASE_BITS | keyHash >>> DATABASE_BITS;
    }
}

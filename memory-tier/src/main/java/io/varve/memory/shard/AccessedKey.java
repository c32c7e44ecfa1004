package io.varve.memory.shard;

/**
 * What a key is to the recorder of accesses: its hash behind the number of its physical database, so that all keys of a database that was flushed can be
 * told. Immutable: static methods only.
 */
public final class AccessedKey {
    /** How many bits of the hash are the number of the database. */
    public static final int DATABASE_BITS = Integer.numberOfTrailingZeros(Databases.PHYSICAL);

    private AccessedKey() {}

    public static long hash(long keyHash, int physical) {
        return (long) physical << Long.SIZE - DATABASE_BITS | keyHash >>> DATABASE_BITS;
    }
}

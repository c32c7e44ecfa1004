package io.varve.memory.index;

/**
 * What the index asks of whoever owns the items: a location is opaque to it. Called under the shard's lock.
 */
public interface KeyVerifier {
    /** Whether the item at {@code location} has exactly this key. */
    boolean matches(long location, long keyAddress, int keyLength);

    /** The seeded 64-bit hash of the key of the item at {@code location}, computed again from its bytes. */
    long hashOf(long location);

    /**
     * Another hash of a key, seeded and independent of the first: keys whose first hashes are equal still differ in it,
     * but for chance. Asked only of what stands in an overflow or may.
     */
    int secondHash(long keyAddress, int keyLength);

    /** {@link #secondHash} of the key of the item at {@code location}. */
    int secondHashOf(long location);

    /**
     * Reads some of the item's first bytes ahead of {@link #hashOf}, so that the cache misses of several items overlap.
     * A hint: an owner without such misses leaves it as it is.
     *
     * @return anything that depends on the bytes read, so that the read is not optimised away
     */
    default long touch(long location) {
        return location;
    }
}

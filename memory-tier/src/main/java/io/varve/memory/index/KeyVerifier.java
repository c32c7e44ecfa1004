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
     * Reads some of the item's first bytes ahead of {@link #hashOf}, so that the cache misses of several items overlap.
     * A hint: an owner without such misses leaves it as it is.
     *
     * @return anything that depends on the bytes read, so that the read is not optimised away
     */
    default long touch(long location) {
        return location;
    }
}

package io.varve.memory.index;

/**
 * The index's questions to the owner of the items; a location is opaque to the index. Called under the shard's lock.
 */
public interface KeyVerifier {
    /** Whether the item at {@code location} has exactly this key. */
    boolean matches(long location, long keyAddress, int keyLength);

    /** The seeded 64-bit hash of the key of the item at {@code location}, recomputed from its bytes. */
    long hashOf(long location);

    /**
     * A second hash of a key, seeded and independent of the first: keys with equal first hashes have different second
     * hashes, except by chance. Called only for entries that are or may be in an overflow.
     */
    int secondHash(long keyAddress, int keyLength);

    /** {@link #secondHash} of the key of the item at {@code location}. */
    int secondHashOf(long location);

    /**
     * Prefetches some of the item's first bytes for {@link #hashOf}, so that the cache misses of several items overlap.
     * A hint: an owner without such misses need not override it.
     *
     * @return any value that depends on the bytes read, so that the read is not optimised away
     */
    default long touch(long location) {
        return location;
    }
}

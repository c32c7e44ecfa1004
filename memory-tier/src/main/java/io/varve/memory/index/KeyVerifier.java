package io.varve.memory.index;

/**
 * What the index asks of whoever owns the items: a location is opaque to it. Called under the shard's lock.
 */
public interface KeyVerifier {
    /** Whether the item at {@code location} has exactly this key. */
    boolean matches(long location, long keyAddress, int keyLength);

    /** The seeded 64-bit hash of the key of the item at {@code location}, computed again from its bytes. */
    long hashOf(long location);
}

package io.varve.flash.store;

/**
 * A cursor over a store's keys in the store's order: it meets each key that is present throughout exactly once.
 * Confined to one thread at a time. It holds no resource of the store between two steps, so it may pause for any time
 * and continue regardless of changes.
 */
public interface KeyCursor {
    /**
     * Moves to the next key.
     *
     * @return false at the end; the next call starts again at the beginning
     */
    boolean next();

    /** The current key. */
    byte[] key();

    /** Moves so that the next key is the first one that is not before this one. */
    void seek(byte[] from);
}

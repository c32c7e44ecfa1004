package io.varve.flash.store;

/**
 * A walk over a store's keys in the store's own order: each that is there all the time is met once. It holds nothing of the
 * store between two steps, so it may stop for as long as it likes and go on, whatever was changed meanwhile. Confined to one
 * thread at a time.
 */
public interface KeyWalk {
    /**
     * Moves on.
     *
     * @return false at the end; the next call begins anew
     */
    boolean next();

    /** The key where it stands. */
    byte[] key();

    /** Moves so that the next key is the first that is not before this one. */
    void seek(byte[] from);
}

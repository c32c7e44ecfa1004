package io.varve.flash.policy;

/**
 * Chooses the key that a full cache evicts. Many threads may call {@link #hit} at any time; one thread at a time calls
 * everything else.
 *
 * <p>A key is identified by 64 well-mixed bits of its hash. Two keys with equal hashes are one key to a policy, which
 * may cost a bad choice and nothing else.
 */
public interface ReplacementPolicy {
    /** A cached key was requested. */
    void hit(long key);

    /** A key was cached. */
    void inserted(long key);

    /** A key was removed, other than as a victim. */
    void removed(long key);

    /**
     * Reports the number of cached keys, if something other than their number limits the cache: it bounds a round of
     * the hand.
     */
    default void holds(long keys) {}

    /**
     * Searches for a victim. The caller removes it from the cache and does not report it as removed.
     *
     * @return false if there is none; else it is {@link #victim}
     */
    boolean findVictim(ClockHand clockHand);

    /** The victim of the last search. */
    long victim();

    /** Number of keys that the searches have visited, in the cache's order or in the policy's own. */
    long keysTraversed();

    /**
     * Number of searches that ended with a key that should have stayed, because none of the visited keys was better.
     */
    default long poorVictims() {
        return 0;
    }

    /** Memory in bytes, beside some objects of fixed size. */
    long ramBytes();

    /**
     * Whether the policy stores each key and needs a report of each removal; otherwise it may remember removed keys.
     */
    default boolean keepsKeys() {
        return false;
    }

    /** Whether anything is cached at all. */
    default boolean caches() {
        return true;
    }
}

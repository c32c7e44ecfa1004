package io.varve.flash.policy;

/**
 * Which of the cached keys goes when room is needed. A key is known by 64 bits of its hash, well mixed; two keys of the same
 * hash are one to a policy, which costs a bad choice and nothing else.
 *
 * <p>{@link #hit} may be called by many threads at any time; everything else by one at a time.
 */
public interface ReplacementPolicy {
    /** The key was asked for, and is cached. */
    void hit(long key);

    /** The key is cached from now on. */
    void inserted(long key);

    /** The key is no longer cached, and not because it was a victim. */
    void removed(long key);

    /** So many keys are cached, where something else than their number bounds them: a round of the hand meets no more. */
    default void holds(long keys) {}

    /**
     * Looks for the key that goes. Who has it found takes it out of the cache and does not report it as removed.
     *
     * @return false if there is none; else it is {@link #victim}
     */
    boolean findVictim(KeyHand hand);

    /** What was found last. */
    long victim();

    /** How many keys the searches have looked at, in the cache's order or in an order of the policy's own. */
    long keysTraversed();

    /** How many searches ended with a key that should have stayed, because none was better among those looked at. */
    default long poorVictims() {
        return 0;
    }

    /** What it keeps in memory, in bytes, beside some objects of fixed size. */
    long ramBytes();

    /** Whether it keeps each key, and has to be told of those that go; else what it remembers of one may outlast it. */
    default boolean keepsKeys() {
        return false;
    }

    /** Whether anything is to be cached at all. */
    default boolean caches() {
        return true;
    }
}

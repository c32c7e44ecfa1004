package io.varve.flash.policy;

/**
 * The cached keys, one after the other, in an order of the store's own that a search for a victim goes on with where the one
 * before it stopped: the hand of a clock (TBF, section II). Behind the last key comes the first. Confined to the search.
 */
public interface KeyHand {
    /**
     * Moves on.
     *
     * @return false if nothing is cached, or if this search has looked at as many keys as it may
     */
    boolean next();

    /** Where it stands, after {@link #next} said true: a key's hash. */
    long key();
}

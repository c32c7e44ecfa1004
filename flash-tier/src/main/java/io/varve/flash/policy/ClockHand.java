package io.varve.flash.policy;

/**
 * The clock hand over the cached keys: it moves in the store's order, and a search resumes where the previous one
 * stopped (TBF, section II). Confined to the search. After the last key it continues with the first.
 */
public interface ClockHand {
    /**
     * Moves to the next key.
     *
     * @return false if nothing is cached, or if this search has visited its maximum of keys
     */
    boolean next();

    /** The key at the position, after {@link #next} returned true: its hash. */
    long key();
}

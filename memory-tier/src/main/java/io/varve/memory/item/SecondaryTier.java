package io.varve.memory.item;

/**
 * The tier below memory, to which evicted items are demoted. Called under the lock of the item's shard.
 *
 * <p>A key is in memory or in the secondary tier, never in both: a fetch first removes the item there.
 */
@FunctionalInterface
public interface SecondaryTier {
    /** The answer to an offer. */
    enum Answer {
        /** The tier has stored the item. */
        TAKEN,
        /** There is no space now: the caller must offer it again. */
        LATER,
        /** The tier never takes such an item. */
        NEVER
    }

    /**
     * Takes an item that is leaving memory. Must return quickly, must not call the cache, and must not keep the item or
     * its addresses.
     *
     * @param epoch the epoch of the item's database
     * @param hash the hash of its key: {@link Key#hash}
     * @param access its 24 access bits
     * @param penaltyClass its penalty class, 0 to 15
     * @return whether the tier has stored it; if not, it is evicted. If this throws, the item stays in memory and
     *     the tier has not stored it
     */
    boolean take(long epoch, long hash, Item item, int access, int penaltyClass);

    /**
     * As {@link #take}, for an item that stays in memory unless the tier takes it. The tier refuses the item if taking
     * it could make the tier refuse later evicted items, or evict an item of its own.
     */
    default Answer offer(long epoch, long hash, Item item, int access, int penaltyClass) {
        return take(epoch, hash, item, access, penaltyClass) ? Answer.TAKEN : Answer.NEVER;
    }

    /**
     * Whether an item that the tier does not take must stay in memory, because nothing may be evicted: while data is
     * loaded.
     */
    default boolean keepsAll() {
        return false;
    }

    /** The number of the tier's items of an epoch. */
    default long count(long epoch) {
        return 0;
    }

    /** Whether the tier may have items of an epoch. */
    default boolean mightHold(long epoch) {
        return false;
    }

    /**
     * Begins a point-in-time scan: the tier passes each item that it has at this moment to the target once, in
     * {@link #capture} or before the item returns to memory. Items that it takes from here on have been visited in
     * memory. Called under the locks of all shards, one scan at a time.
     *
     * @param startMillis the moment of the scan; items that have expired by then are not passed
     * @param epochs the epochs of the databases at this moment
     */
    default void beginCapture(ItemCapture target, long startMillis, long[] epochs) {}

    /**
     * Continues the scan. Called without locks; waits for files.
     *
     * @return whether there is more
     */
    default boolean capture() {
        return false;
    }

    /** Ends the scan, complete or not. */
    default void endCapture() {}

    /**
     * Announces requests for the items of a class. The tier preloads them, as far as the cache has
     * {@linkplain io.varve.memory.Cache#admitLoaded memory for them}. Called without locks; returns at once.
     */
    default void load(int penaltyClass) {}
}

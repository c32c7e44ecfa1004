package io.varve.memory.item;

/**
 * What is below memory: items that pressure drives out fall to it. Called under the lock of the item's shard.
 *
 * <p>A key is in memory or below, never in both: who brings an item back takes it away below first.
 */
@FunctionalInterface
public interface LowerTier {
    /** What becomes of an item that is offered. */
    enum Answer {
        /** It is below from now on. */
        TAKEN,
        /** There is no room for it now: it is to be offered again. */
        LATER,
        /** Such an item is never taken. */
        NEVER
    }

    /**
     * An item leaves memory. Must return quickly, must not call the cache, and must not keep the item or its addresses.
     *
     * @param epoch        of the item's database
     * @param hash         of its key: {@link Key#hash}
     * @param access       its 24 access bits
     * @param penaltyClass its class of penalty, 0 to 15
     * @return whether it is below from now on; else it is gone; if this throws it stays in memory and is not below
     */
    boolean take(long epoch, long hash, Item item, int access, int penaltyClass);

    /**
     * As {@link #take}, of an item that stays in memory unless it is taken: so it is refused where {@link #take} might have to refuse what pressure
     * drives out because of it, or something below would have to go for it.
     */
    default Answer offer(long epoch, long hash, Item item, int access, int penaltyClass) {
        return take(epoch, hash, item, access, penaltyClass) ? Answer.TAKEN : Answer.NEVER;
    }

    /**
     * What is below of a class is going to be asked for: it comes back by itself as far as the cache has {@linkplain io.varve.memory.Cache#admitLoaded room for
     * it}. Called without locks; returns at once.
     */
    default void load(int penaltyClass) {}
}

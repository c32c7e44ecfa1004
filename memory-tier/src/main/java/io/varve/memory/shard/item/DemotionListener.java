package io.varve.memory.shard.item;

/** Called before an item leaves memory for the secondary tier, under the lock of its shard. */
@FunctionalInterface
public interface DemotionListener {
    /**
     * @param physical the item's physical database
     * @param hash the hash of its key
     */
    void leaving(int physical, long hash);
}

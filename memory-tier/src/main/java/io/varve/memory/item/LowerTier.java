package io.varve.memory.item;

/**
 * What is below memory: items that pressure drives out fall to it. Called under the lock of the item's shard.
 *
 * <p>A key is in memory or below, never in both: who brings an item back takes it away below first.
 */
@FunctionalInterface
public interface LowerTier {
    /**
     * An item leaves memory. Must return quickly, must not call the cache, and must not keep the item or its addresses.
     *
     * @param epoch  of the item's database
     * @param hash   of its key: {@link Key#hash}
     * @param access its 24 access bits
     * @return whether it is below from now on; else it is gone; if this throws it stays in memory and is not below
     */
    boolean take(long epoch, long hash, Item item, int access);
}

package io.varve.memory.shard;

import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.tree.ShardTrees;

/** The memory that an item takes, with its index slot and its expiry entry. Immutable: static methods only. */
public final class ItemFootprint {
    /** Index bytes of an item, on average. */
    static final int INDEX_SHARE = Index.bytesPerItem(Shard.MAX_INDEX_LOAD - Shard.INDEX_LOAD_STAGGER / 2);
    private static final int BESIDE_CONTENT = ItemLayout.size(0, 0, false) + INDEX_SHARE;
    private static final int WITH_EXPIRY = ItemLayout.EXPIRY_BYTES + Expiry.BYTES_PER_ENTRY;

    private ItemFootprint() {}

    /**
     * Bytes of the item itself, of its nodes if it is a large collection, of its index slot and of its expiry entry.
     * They do not depend on the rest of the cache.
     */
    static long memoryUsage(ShardItems items, ShardContext context, Item item) {
        long indexShare = items.index(ItemLayout.database(item.address())).bytesPerItem();
        long expiryShare = ItemLayout.expireAtMillis(item.address()) == Item.NEVER ? 0 : Expiry.BYTES_PER_ENTRY;
        long nodeBytes = item.isTree() ? ShardTrees.nodeBytes(item.address()) : 0;
        LargeRun run = Location.isLarge(item.location()) ? context.pool.largeItems().run(item.location()) : null;
        return (run == null ? ItemLayout.size(item.address()) : run.chargedBytes()) + nodeBytes + indexShare
                + expiryShare;
    }

    /**
     * Bytes that most items take, those with a short key in a segment: segment bytes, index share and expiry entry. It
     * is cheap to compute, and counts a value in a run like one in a segment.
     */
    public static long usualBytes(int keyLength, int capacity, boolean expires) {
        return (long) BESIDE_CONTENT + keyLength + capacity + (expires ? WITH_EXPIRY : 0);
    }
}

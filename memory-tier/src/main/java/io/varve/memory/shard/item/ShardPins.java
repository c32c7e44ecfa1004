package io.varve.memory.shard.item;

import io.varve.memory.eviction.PinnedItems;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.tree.ShardTrees;

/**
 * Pins and unpins the items of a shard, and keeps their count. Guarded by the shard's lock.
 *
 * <p>The pin belongs to the key: an item that replaces a pinned one is pinned too. It ends when the key is deleted,
 * expires or is unpinned. An item's bytes are those of its header, key, capacity and nodes.
 */
public final class ShardPins {
    private final ShardContext context;
    private final PinnedItems counts;

    ShardPins(ShardContext context) {
        this.context = context;
        counts = context.pinnedItems;
    }

    /**
     * Pins a found item.
     *
     * @param maxBytes the most bytes that all pinned items may take with it
     * @return false if they would take more; true also if it is pinned already
     */
    public boolean pin(Item item, long maxBytes) {
        long address = item.address();
        if (ItemLayout.isPinned(address)) {
            return true;
        }
        if (!counts.tryAdd(ItemLayout.database(address), bytes(address), maxBytes, context.databases::isAttached)) {
            return false;
        }
        ItemLayout.pinned(address, true);
        return true;
    }

    /** Unpins a found item; false if it was not pinned. */
    public boolean unpin(Item item) {
        return remove(item.address());
    }

    /** Unpins the item at an address, which may be about to be freed; false if it was not pinned. */
    boolean remove(long address) {
        if (!counts.isUsed() || !ItemLayout.isPinned(address)) {
            return false;
        }
        ItemLayout.pinned(address, false);
        counts.remove(ItemLayout.database(address), bytes(address));
        return true;
    }

    /** Passes the pin of an item, if it has one, to the item that replaces it. */
    void replaced(long oldAddress, long address) {
        if (counts.isUsed() && ItemLayout.isPinned(oldAddress)) {
            ItemLayout.pinned(oldAddress, false);
            ItemLayout.pinned(address, true);
            counts.grow(ItemLayout.database(address), bytes(address) - bytes(oldAddress));
        }
    }

    /** Accounts for an item that has become longer in place. */
    public void grown(long address, long moreBytes) {
        if (counts.isUsed() && ItemLayout.isPinned(address)) {
            counts.grow(ItemLayout.database(address), moreBytes);
        }
    }

    /** The bytes of an item as pinned items are counted. */
    public static long bytes(long address) {
        return ItemLayout.size(address) + (ItemLayout.isTree(address) ? ShardTrees.nodeBytes(address) : 0);
    }
}

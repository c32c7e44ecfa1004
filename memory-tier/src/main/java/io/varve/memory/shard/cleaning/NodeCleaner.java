package io.varve.memory.shard.cleaning;

import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import io.varve.memory.shard.tree.NodeItems;
import io.varve.memory.shard.tree.ShardTrees;

/**
 * Disposes of the collection nodes in a segment that the cleaner empties. Guarded by the shard's lock.
 *
 * <p>The cleaner meets a collection in proportion to its bytes and evicts it as a whole, by its root item. The nodes of
 * one collection lie in many segments, and one segment has nodes of many collections. For one segment, the cleaner
 * therefore evicts collections of at most the segment's size, and moves the other nodes.
 */
final class NodeCleaner {
    private final ShardItems items;
    private final ShardTrees trees;
    private final EvictionThreshold threshold;
    /** Bytes of collections that may still be evicted for the segment being emptied. */
    private long allowance;

    NodeCleaner(ShardItems items, EvictionThreshold threshold) {
        this.items = items;
        this.trees = items.trees();
        this.threshold = threshold;
    }

    /** Prepares for emptying a segment. */
    void begin(long extentBytes) {
        allowance = extentBytes;
    }

    /** Whether one more collection may be evicted for this segment. */
    boolean mayEvictOne() {
        return allowance > 0;
    }

    /** Accounts for an evicted collection. */
    void countEvicted(long nodeBytes) {
        allowance -= nodeBytes;
    }

    /**
     * Moves a node, or removes its collection.
     *
     * @param evicting whether its collection may be evicted because it is past the threshold
     * @param mayEvict whether it may be evicted because there is no memory to move the node to
     * @return bytes moved, or -1 if there was no memory to move it to
     */
    int dispose(long location, long address, boolean evicting, boolean mayEvict, long nowMillis) {
        int tree = ShardTrees.treeOf(address);
        if (trees.isDying(tree)) {
            return disposeDying(location, address, nowMillis);
        }
        long root = trees.rootItem(tree);
        if (evictOwner(root, ItemLayout.size(address), evicting, nowMillis)) {
            return disposeDying(location, address, nowMillis);
        }
        follow(location, root);
        int moved = move(location, address, nowMillis);
        if (moved < 0 && mayEvict && threshold.isEvictable(TimedHashes.expireAtMillis(items.address(root)))
                && evict(root)) {
            return disposeDying(location, address, nowMillis);
        }
        return moved;
    }

    /** Whether the root item at a location was removed. */
    private boolean evictOwner(long root, int size, boolean evicting, long nowMillis) {
        long address = items.address(root);
        if (items.cleaning().isDetached(address)) {
            items.cleaning().reclaim(root, address);
        } else if (items.cleaning().expireNow(root, address, nowMillis)) {
            return true;
        } else {
            return evicting && mayEvictOne() && isOwnersTurn(root, address, size, nowMillis) && evict(root);
        }
        return true;
    }

    /**
     * A random policy takes whole segments: the probability is chosen so that it evicts, on average, as many bytes of a
     * collection as it meets.
     */
    private boolean isOwnersTurn(long root, long address, int size, long nowMillis) {
        return (!threshold.isRandom()
                || Long.remainderUnsigned(items.nextRandom(), ShardTrees.nodeBytes(address)) < size)
                && threshold.isRootPastThreshold(root, nowMillis);
    }

    /** @return false if the collection's key is pinned */
    private boolean evict(long root) {
        long address = items.address(root);
        long nodeBytes = ShardTrees.nodeBytes(address);
        boolean evicted = items.cleaning().evict(root, address);
        if (evicted) {
            countEvicted(nodeBytes);
        }
        return evicted;
    }

    /**
     * Disposes of a node of a dying tree: a leaf is freed at once, but an inner node moves, because it links to the
     * nodes below it.
     */
    private int disposeDying(long location, long address, long nowMillis) {
        if (ItemLayout.isDead(address)) {
            // The node was the only one below its root item.
            return 0;
        }
        if (ShardTrees.isLeaf(address)) {
            trees.nodes().discard(NodeItems.nodeOf(address), location);
            return 0;
        }
        return move(location, address, nowMillis);
    }

    private int move(long location, long address, long nowMillis) {
        int size = ItemLayout.size(address);
        try {
            trees.nodes().move(NodeItems.nodeOf(address), location, nowMillis);
            return size;
        } catch (CacheFullException full) {
            return -1;
        }
    }

    /** Whether emptying a segment would free a node, because its collection would be removed. */
    boolean wouldEvict(long address, long nowMillis) {
        int tree = ShardTrees.treeOf(address);
        if (trees.isDying(tree)) {
            return true;
        }
        long root = trees.rootItem(tree);
        return items.timed().isDueForRemoval(items.address(root), nowMillis)
                || !threshold.isRandom() && threshold.isRootPastThreshold(root, nowMillis) && !threshold.isPinned(root);
    }

    /** Gives a node the penalty class of its root item, which a client may have changed. */
    private void follow(long location, long root) {
        trees.nodes().penaltyClass(location, ItemLayout.penaltyClass(items.address(root)));
    }

    /**
     * The item to evict for a large one: the item itself, or for a node the root item, whose class the node then gets;
     * {@link Index#NONE} if the root item was removed.
     */
    long ownerOf(long location) {
        long address = items.address(location);
        if (!ItemLayout.isInternal(address)) {
            return location;
        }
        int tree = ShardTrees.treeOf(address);
        if (trees.isDying(tree)) {
            return Index.NONE;
        }
        long root = trees.rootItem(tree);
        follow(location, root);
        return root;
    }
}

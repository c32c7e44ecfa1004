package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.segment.ItemLayout;

/**
 * What becomes of the nodes in a segment that is emptied: the cleaner's part of collections. Guarded by the shard's lock.
 *
 * <p>A collection is met in proportion to its bytes, and goes as a whole, by its root item. The nodes of one lie in many segments, and one
 * segment has nodes of many: so only as much goes for one segment as the segment holds, and the other nodes move.
 */
final class NodeCleaner {
    private final ShardItems items;
    private final ShardTrees trees;
    private final EvictionLine line;
    /** Bytes of the collections that may still go for the segment that is emptied. */
    private long allowance;

    NodeCleaner(ShardItems items, EvictionLine line) {
        this.items = items;
        this.trees = items.trees();
        this.line = line;
    }

    /** A segment is about to be emptied. */
    void begin(long extentBytes) {
        allowance = extentBytes;
    }

    /** Whether one more collection may go for this segment. */
    boolean mayLetOneGo() {
        return allowance > 0;
    }

    /** A collection has gone, by its root item. */
    void goes(long nodeBytes) {
        allowance -= nodeBytes;
    }

    /**
     * Moves a node, or lets it go.
     *
     * @param evicting whether its collection may go because it is past the line
     * @param mayEvict whether it may go because there is no room to move the node to
     * @return bytes moved, or -1 if there was no room to move it to
     */
    int dispose(long location, long address, boolean evicting, boolean mayEvict, long nowMillis) {
        int tree = ShardTrees.treeOf(address);
        if (trees.isDying(tree)) {
            return disposeDying(location, address, nowMillis);
        }
        long root = trees.rootItem(tree);
        if (letOwnerGo(root, ItemLayout.size(address), evicting, nowMillis)) {
            return disposeDying(location, address, nowMillis);
        }
        follow(location, root);
        int moved = move(location, address, nowMillis);
        if (moved < 0 && mayEvict && line.mayGo(TimedHashes.expireAtMillis(items.address(root))) && evict(root)) {
            return disposeDying(location, address, nowMillis);
        }
        return moved;
    }

    /** Whether the root item at a location has gone. */
    private boolean letOwnerGo(long root, int size, boolean evicting, long nowMillis) {
        long address = items.address(root);
        if (items.cleaning().isDetached(address)) {
            items.cleaning().reclaim(root, address);
        } else if (items.cleaning().expireNow(root, address, nowMillis)) {
            return true;
        } else {
            return evicting && mayLetOneGo() && isOwnersTurn(root, address, size, nowMillis) && evict(root);
        }
        return true;
    }

    /** A policy that chooses at random takes whole segments: of a collection it takes, on the mean, as much as it meets. */
    private boolean isOwnersTurn(long root, long address, int size, long nowMillis) {
        return (!line.isRandom() || Long.remainderUnsigned(items.nextRandom(), ShardTrees.nodeBytes(address)) < size)
                && line.isOwnerPast(root, nowMillis);
    }

    /** False if the collection's key is pinned. */
    private boolean evict(long root) {
        long address = items.address(root);
        long nodeBytes = ShardTrees.nodeBytes(address);
        boolean gone = items.cleaning().evict(root, address);
        if (gone) {
            goes(nodeBytes);
        }
        return gone;
    }

    /** A leaf is gone at once; an inner node, which knows what is below it, has to move. */
    private int disposeDying(long location, long address, long nowMillis) {
        if (ItemLayout.isDead(address)) {
            // It was all there was below its root item.
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

    /** Whether a node would be gained if its segment were emptied, because its collection goes. */
    boolean wouldGo(long address, long nowMillis) {
        int tree = ShardTrees.treeOf(address);
        if (trees.isDying(tree)) {
            return true;
        }
        long root = trees.rootItem(tree);
        return items.timed().isGone(items.address(root), nowMillis)
                || !line.isRandom() && line.isOwnerPast(root, nowMillis) && !line.isPinned(root);
    }

    /** A node takes the class of its root item, which a client may have changed since they met last. */
    private void follow(long location, long root) {
        trees.nodes().penaltyClass(location, ItemLayout.penaltyClass(items.address(root)));
    }

    /**
     * The item that goes in the stead of a large one that is met: itself, or the root item of a node, which takes its class; none if that
     * has gone.
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

package io.varve.memory.shard;

import io.varve.memory.collection.NodeLayout;
import io.varve.memory.collection.NodeSpace;
import io.varve.memory.collection.NodeTeardown;
import io.varve.memory.collection.TreeHeader;
import io.varve.memory.segment.ItemLayout;

/**
 * The trees of a shard: whose they are, and how they go. Guarded by the shard's lock.
 *
 * <p>A tree has an id, which its nodes name. While it lives the id stands for the location of its root item, so that whoever comes upon a
 * node finds out whose it is. When the root item goes, the tree is dying: nobody can reach it any more, and its nodes are freed in
 * slices, the last leaf first. Dying trees are a list through the node table.
 *
 * <pre>
 *   root item --header--&gt; tree id, root node            node --first bytes--&gt; tree id
 *       ^                     |                                                |
 *       |                     v                                                |
 *       +------------ NodeTable: entry of the tree &lt;---------------------------+
 * </pre>
 */
final class ShardTrees {
    private static final int NONE = NodeSpace.NONE;
    /** Leaves freed between two readings of the clock: a microsecond, or some 50 for each that has a run. */
    private static final int LEAVES_PER_CLOCK = 4;

    private final ShardContext context;
    private final NodeTable table;
    private final ShardNodes nodes;
    /** The dying tree that is being freed. */
    private int dying = NONE;

    ShardTrees(NodeItems items, ShardContext context) {
        this.context = context;
        table = new NodeTable(context.regions, context.budget);
        nodes = new ShardNodes(items, context, table);
    }

    ShardNodes nodes() {
        return nodes;
    }

    NodeTable table() {
        return table;
    }

    // --- whose a tree is

    /**
     * Gives the trees of a fresh header their ids; the root item is at a location.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no memory for them; those that have one are in the header
     */
    void plant(long header, int trees, long location) {
        TreeHeader.clear(header, trees);
        for (int i = 0; i < trees; i++) {
            int tree = nodes.newId();
            table.tree(tree, location);
            TreeHeader.tree(TreeHeader.record(header, i), tree);
        }
    }

    /** A root item has another place. */
    void moved(long address, long location) {
        long header = ItemLayout.valueAddress(address);
        int trees = TreeHeader.trees(ItemLayout.valueLength(address));
        for (int i = 0; i < trees; i++) {
            table.tree(TreeHeader.tree(TreeHeader.record(header, i)), location);
        }
    }

    /** Bytes of the nodes of a root item's trees. */
    static long nodeBytes(long address) {
        return TreeHeader.nodeBytes(ItemLayout.valueAddress(address), ItemLayout.valueLength(address));
    }

    /** The id of the tree that an internal item belongs to. */
    static int treeOf(long address) {
        return NodeLayout.tree(ItemLayout.valueAddress(address));
    }

    /** Whether the node that an internal item is has no children. */
    static boolean isLeaf(long address) {
        return NodeLayout.isLeaf(ItemLayout.valueAddress(address));
    }

    boolean isDying(int tree) {
        return table.isDying(tree);
    }

    /** Where the root item of a living tree is. */
    long rootItem(int tree) {
        assert table.isTree(tree) : "tree " + tree + " does not live";
        return table.location(tree);
    }

    // --- how it goes

    /** A root item goes: its trees are dying from now on. */
    void die(long address) {
        die(ItemLayout.valueAddress(address), TreeHeader.trees(ItemLayout.valueLength(address)));
    }

    private void die(long header, int trees) {
        for (int i = 0; i < trees; i++) {
            long record = TreeHeader.record(header, i);
            int tree = TreeHeader.tree(record);
            int root = TreeHeader.root(record);
            if (root != NONE && !NodeLayout.isLeaf(nodes.address(root))) {
                table.dying(tree, root, dying);
                dying = tree;
            } else if (tree != NONE) {
                if (root != NONE) {
                    nodes.freeForGood(root);
                }
                table.free(tree);
            }
        }
    }

    boolean hasDying() {
        return dying != NONE;
    }

    /**
     * Frees nodes of dying trees until the deadline, a few at least.
     *
     * @return whether any are left
     */
    boolean freeSlice(long deadlineNanos) {
        while (dying != NONE) {
            int root = NodeTeardown.free(nodes, table.dyingRoot(dying), LEAVES_PER_CLOCK);
            int next = table.dyingNext(dying);
            if (root == NONE) {
                table.free(dying);
                dying = next;
            } else {
                table.dying(dying, root, next);
            }
            if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                return dying != NONE;
            }
        }
        return false;
    }

    /** The dying tree that is being freed, for a walk over all of them. */
    int firstDying() {
        return dying;
    }

    /** Gives all memory back but that of the items, which are in segments and runs. */
    void release() {
        table.release();
        nodes.releaseJournal();
        dying = NONE;
    }

    long bytes() {
        return table.bytes() + nodes.bytes();
    }
}

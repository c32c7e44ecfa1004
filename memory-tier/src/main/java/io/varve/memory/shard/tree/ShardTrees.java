package io.varve.memory.shard.tree;

import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.NodeTeardown;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.ShardContext;

/**
 * The trees of a shard: their owners, and their teardown. Guarded by the shard's lock.
 *
 * <p>A tree has an id, which its nodes name. While the tree lives, the id maps to the location of its root item, so a
 * node leads to its owner. When the root item is removed, the tree is dying: it is unreachable, and its nodes are freed
 * in slices, the last leaf first. Dying trees form a list through the node table.
 *
 * <pre>
 *   root item --header--&gt; tree id, root node            node --first bytes--&gt; tree id
 *       ^                     |                                                |
 *       |                     v                                                |
 *       +------------ NodeTable: entry of the tree &lt;---------------------------+
 * </pre>
 */
public final class ShardTrees {
    private static final int NONE = NodeSpace.NONE;
    /** Leaves freed between two readings of the clock: about a microsecond, or some 50 for each leaf with a run. */
    private static final int LEAVES_PER_CLOCK = 4;

    private final ShardContext context;
    private final NodeTable table;
    private final ShardNodes nodes;
    /** The dying tree that is being freed. */
    private int dying = NONE;

    public ShardTrees(NodeItems items, ShardContext context) {
        this.context = context;
        table = new NodeTable(context.regions, context.budget);
        nodes = new ShardNodes(items, context, table);
    }

    public ShardNodes nodes() {
        return nodes;
    }

    public NodeTable table() {
        return table;
    }

    // --- owners

    /**
     * Allocates ids for the trees of a fresh header, whose root item is at a location.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no memory for them; the header names those that
     *     have one
     */
    public void plant(long header, int trees, long location) {
        TreeHeader.clear(header, trees);
        for (int i = 0; i < trees; i++) {
            int tree = nodes.newId();
            table.tree(tree, location);
            TreeHeader.tree(TreeHeader.record(header, i), tree);
        }
    }

    /** Updates the location of a root item that has moved. */
    public void moved(long address, long location) {
        long header = ItemLayout.valueAddress(address);
        int trees = TreeHeader.trees(ItemLayout.valueLength(address));
        for (int i = 0; i < trees; i++) {
            table.tree(TreeHeader.tree(TreeHeader.record(header, i)), location);
        }
    }

    /** Bytes of the nodes of a root item's trees. */
    public static long nodeBytes(long address) {
        return TreeHeader.nodeBytes(ItemLayout.valueAddress(address), ItemLayout.valueLength(address));
    }

    /** The id of the tree that an internal item belongs to. */
    public static int treeOf(long address) {
        return NodeLayout.tree(ItemLayout.valueAddress(address));
    }

    /** Whether the node in an internal item has no children. */
    public static boolean isLeaf(long address) {
        return NodeLayout.isLeaf(ItemLayout.valueAddress(address));
    }

    public boolean isDying(int tree) {
        return table.isDying(tree);
    }

    /** The location of a living tree's root item. */
    public long rootItem(int tree) {
        assert table.isTree(tree) : "tree " + tree + " is not alive";
        return table.location(tree);
    }

    // --- teardown

    /** Marks the trees of a removed root item as dying. */
    public void markDying(long address) {
        markDying(ItemLayout.valueAddress(address), TreeHeader.trees(ItemLayout.valueLength(address)));
    }

    private void markDying(long header, int trees) {
        for (int i = 0; i < trees; i++) {
            long record = TreeHeader.record(header, i);
            int tree = TreeHeader.tree(record);
            int root = TreeHeader.root(record);
            if (root != NONE && !NodeLayout.isLeaf(nodes.address(root))) {
                table.dying(tree, root, dying);
                dying = tree;
            } else if (tree != NONE) {
                if (root != NONE) {
                    nodes.freePermanently(root);
                }
                table.free(tree);
            }
        }
    }

    public boolean hasDying() {
        return dying != NONE;
    }

    /**
     * Frees nodes of dying trees until the deadline, at least a few.
     *
     * @return whether any are left
     */
    public boolean freeSlice(long deadlineNanos) {
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

    /** The head of the list of dying trees. */
    public int firstDying() {
        return dying;
    }

    /** Frees all memory except the items in segments and runs. */
    public void release() {
        table.release();
        nodes.releaseJournal();
        dying = NONE;
    }

    public long bytes() {
        return table.bytes() + nodes.bytes();
    }
}

package io.varve.memory.shard;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import io.varve.memory.shard.tree.NodeItems;
import io.varve.memory.shard.tree.NodeTable;
import io.varve.memory.shard.tree.ShardTrees;

/**
 * Walks the trees of a shard and its node table, and reports every violated invariant. Guarded by the shard's lock; for
 * tests.
 */
final class TreesIntegrity {
    private final ShardItems items;
    private final ShardTrees trees;
    private final NodeTable table;
    private final Consumer<String> problems;
    private final Set<Integer> living = new HashSet<>();
    private final Set<Integer> reached = new HashSet<>();
    private long nodeItems;
    private long large;
    private long datasetBytes;
    private final long[] classBytes = new long[ItemLayout.MAX_PENALTY_CLASS + 1];

    TreesIntegrity(ShardItems items, Consumer<String> problems) {
        this.items = items;
        this.trees = items.trees();
        this.table = trees.table();
        this.problems = problems;
    }

    /** Checks the trees of an item that an index holds, if it has any. */
    void checkRoot(long location) {
        long address = items.address(location);
        if (ItemLayout.isDead(address) || !ItemLayout.isTree(address)) {
            return;
        }
        Item item = new Item();
        items.bind(item, location, address);
        CollectionTree tree = CollectionTree.of(item.type());
        if (item.valueLength() != tree.headerBytes() && !TimedHashes.isTimed(address)) {
            problems.accept("the root item at " + location + " has a header of " + item.valueLength() + " bytes");
            return;
        }
        for (int i = 0; i < TreeHeader.trees(item.valueLength()); i++) {
            int id = TreeHeader.tree(TreeHeader.record(item.valueAddress(), i));
            if (!table.isUsed(id) || !table.isTree(id) || table.location(id) != location) {
                problems.accept("tree " + id + " of the root item at " + location + " is recorded at another location");
                return;
            }
            living.add(id);
        }
        tree.open(trees.nodes(), item.valueAddress(), item.valueLength(), 0);
        if (tree.size() == 0 && !tree.mayBeEmpty()) {
            problems.accept("the tree at " + location + " has no elements");
        }
        tree.checkIntegrity(node -> {
            if (!reached.add(node)) {
                problems.accept("node " + node + " is reached twice");
            }
        }, problems);
    }

    /** Checks all entries of the node table, after all roots were checked. */
    void checkNodes(Set<Long> indexed) {
        table.checkIntegrity(problems);
        if (trees.nodes().isBegun()) {
            problems.accept("a group of writes has begun and has not ended");
        }
        long nodes = 0;
        Set<Integer> dying = dying();
        for (int id = 0; id < table.end(); id++) {
            if (!table.isUsed(id)) {
                continue;
            }
            if (table.isNode(id)) {
                nodes++;
                checkNode(id, dying);
            } else if (table.isTree(id)) {
                if (!living.contains(id)) {
                    problems.accept("tree " + id + " has its root item at location " + table.location(id)
                            + ", which belongs to "
                            + (indexed.contains(table.location(id)) ? "another tree" : "no index"));
                }
            } else if (!dying.contains(id)) {
                problems.accept("dying tree " + id + " is not in the list");
            }
        }
        if (nodes != trees.nodes().count()) {
            problems.accept(nodes + " nodes counted, but " + trees.nodes().count() + " recorded");
        }
    }

    private Set<Integer> dying() {
        Set<Integer> dying = new HashSet<>();
        for (int tree = trees.firstDying(); tree != 0; tree = table.dyingNext(tree)) {
            if (!table.isUsed(tree) || !table.isDying(tree) || !dying.add(tree)) {
                problems.accept("the list of dying trees is broken at " + tree);
                return dying;
            }
        }
        return dying;
    }

    private void checkNode(int id, Set<Integer> dying) {
        if ((table.bits(id) & NodeTable.FREED) != 0) {
            if (reached.contains(id)) {
                problems.accept("node " + id + " is removed, but its tree is alive");
            }
            return;
        }
        long location = table.location(id);
        long address = items.address(location);
        if (ItemLayout.isDead(address) || !ItemLayout.isInternal(address) || NodeItems.nodeOf(address) != id) {
            problems.accept("location " + location + " holds no item of node " + id);
            return;
        }
        if (NodeTable.headerBytesOf(table.bits(id)) != ItemLayout.valueAddress(address) - address) {
            problems.accept("node " + id + " is not at the recorded offset in its item");
        }
        int tree = ShardTrees.treeOf(address);
        if (!(living.contains(tree) ? reached.contains(id) : dying.contains(tree))) {
            problems.accept("node " + id + " of tree " + tree + " is unreachable");
        }
        nodeItems++;
        classBytes[ItemLayout.penaltyClass(address)] += ItemLayout.size(address);
        large += Location.isLarge(location) ? 1 : 0;
        datasetBytes += ItemLayout.keyLength(address) + ItemLayout.valueLength(address);
    }

    /** Nodes that have items. */
    long items() {
        return nodeItems;
    }

    /** Adds the bytes of nodes by class. */
    void addClassBytes(long[] sum) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += classBytes[i];
        }
    }

    long large() {
        return large;
    }

    long datasetBytes() {
        return datasetBytes;
    }
}

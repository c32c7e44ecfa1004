package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * Copies the trees of a collection, node by node. Confined to the caller, which holds the locks of both items' shards.
 *
 * <p>The index of a sorted set names leaves of the other tree. Each copied leaf therefore records the id of its copy,
 * and the index is copied last.
 */
public final class TreeCopy {
    private final NodeSpace from;
    private final NodeSpace to;
    private final long toRecord;

    private TreeCopy(NodeSpace from, NodeSpace to, long toRecord) {
        this.from = from;
        this.to = to;
        this.toRecord = toRecord;
    }

    /**
     * Copies all trees of a header into another, whose trees have ids and no nodes.
     *
     * @param names whether the second tree names leaves of the first
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the other header then names the
     *     nodes copied so far
     */
    public static void copy(NodeSpace from, long fromHeader, NodeSpace to, long toHeader, int trees, boolean names) {
        TreeHeader.flags(toHeader, TreeHeader.flags(fromHeader));
        for (int i = 0; i < trees; i++) {
            new TreeCopy(from, to, TreeHeader.record(toHeader, i))
                    .copy(TreeHeader.record(fromHeader, i), names && i > 0);
        }
    }

    private void copy(long fromRecord, boolean names) {
        TreeHeader.height(toRecord, TreeHeader.height(fromRecord));
        TreeHeader.count(toRecord, TreeHeader.count(fromRecord));
        int root = TreeHeader.root(fromRecord);
        if (root != NodeSpace.NONE) {
            int copy = allocate(root);
            TreeHeader.root(toRecord, copy);
            fill(root, copy, names);
        }
    }

    /** Allocates an empty copy of a node. */
    private int allocate(int node) {
        long at = from.address(node);
        int capacity = from.capacity(node);
        int copy = to.allocate(TreeHeader.tree(toRecord), capacity);
        TreeHeader.nodeBytes(toRecord, TreeHeader.nodeBytes(toRecord) + to.itemBytes(capacity));
        NodeLayout.clear(to.address(copy), NodeLayout.level(at));
        return copy;
    }

    private void fill(int node, int copy, boolean names) {
        long source = from.address(node);
        long target = to.address(copy);
        int count = NodeLayout.count(source);
        if (!NodeLayout.isLeaf(source)) {
            // Each child is linked before it is filled, so that all copies are reachable after a refusal.
            for (int slot = 0; slot < count; slot++) {
                int child = InnerLayout.child(source, slot);
                int childCopy = allocate(child);
                InnerLayout.put(target, slot, childCopy, InnerLayout.below(source, slot),
                        InnerLayout.separator(source, slot));
                InnerLayout.count(target, slot + 1);
                fill(child, childCopy, names);
            }
            return;
        }
        int used = NodeLayout.used(source);
        Memory.copy(source + NodeLayout.HEADER_BYTES, target + NodeLayout.HEADER_BYTES,
                used - NodeLayout.HEADER_BYTES);
        NodeLayout.count(target, count);
        NodeLayout.used(target, used);
        if (names) {
            rename(target, count);
        } else {
            NodeLayout.forward(source, copy);
        }
    }

    private void rename(long leaf, int count) {
        for (int i = 0; i < count; i++) {
            long entry = leaf + MemberIndexFormat.INSTANCE.offset(leaf, i);
            MemberIndexFormat.leaf(entry, NodeLayout.forward(from.address(MemberIndexFormat.leaf(entry))));
        }
    }
}

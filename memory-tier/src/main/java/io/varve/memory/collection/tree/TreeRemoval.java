package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * Removes elements from a {@link CountedTree} and keeps its nodes from becoming underfull. Confined to its tree.
 *
 * <p>A leaf that falls below three eighths of its target (of the power of two below it, if it is none), or an inner
 * node below a third, is merged with a neighbour under the same parent, if both fit in one node. If not, it stays: in a
 * queue it is emptied soon. So of two neighbours one may be nearly empty while the other is just above that share. A
 * node also stays if there is no memory for the larger node: no operation here is refused.
 *
 * <p>Neighbours and unused memory are looked at when a leaf has lost another eighth of its target, not at each removal:
 * reading a neighbour is a cache miss.
 */
final class TreeRemoval {
    private static final int LOG_OF_PARTS = 3;
    private static final int THIN_PARTS = 3;
    private static final int THIN_SHARE_OF_CHILDREN = 3;
    private static final int LOG_OF_PART_ENTRIES = Integer.numberOfTrailingZeros(LeafFormat.MAX_ENTRIES) - LOG_OF_PARTS;
    /** No neighbours can be joined. */
    private static final int NONE = -1;

    private final CountedTree tree;
    private final LeafFormat format;

    TreeRemoval(CountedTree tree, LeafFormat format) {
        this.tree = tree;
        this.format = format;
    }

    /** Removes elements of one leaf from the path on: see {@link CountedTree#remove}. */
    void remove(TreePath path, int elements) {
        int leaf = path.leaf();
        long at = tree.space().forWriting(leaf);
        int end = path.offset;
        for (int i = 0; i < elements; i++) {
            end += format.bytesAt(at + end);
        }
        int used = NodeLayout.used(at);
        int left = NodeLayout.count(at) - elements;
        assert left >= 0 : elements + " of too few";
        Memory.copy(at + end, at + path.offset, used - end);
        int removed = end - path.offset;
        NodeLayout.used(at, used - removed);
        NodeLayout.count(at, left);
        for (int level = 1; level <= path.height; level++) {
            long inner = tree.space().forWriting(path.nodes[level]);
            int slot = path.slots[level];
            InnerLayout.below(inner, slot, InnerLayout.below(inner, slot) - elements);
        }
        TreeHeader.count(tree.record(), tree.count() - elements);
        if (left == 0) {
            long rank = tree.rank(path);
            dropLeaf(path);
            reduceHeight();
            tree.seek(rank, path);
        } else {
            shrunk(path, removed, elements);
        }
    }

    /**
     * Handles a leaf that has become smaller; the path stays at its element.
     *
     * @param bytes that it has lost
     * @param elements that it has lost
     */
    void shrunk(TreePath path, int bytes, int elements) {
        long leaf = tree.space().address(path.leaf());
        int used = NodeLayout.used(leaf);
        int count = NodeLayout.count(leaf);
        int parts = parts(used, count);
        if (parts == parts(used + bytes, count + elements)) {
            return;
        }
        int left = parts < THIN_PARTS ? findLeftOfPair(0, path) : NONE;
        long rank = left == NONE ? TreePath.UNKNOWN : tree.rank(path);
        if (left != NONE && join(0, path, left)) {
            reduceHeight();
            tree.seek(rank, path);
        } else {
            tree.trim(path.leaf());
        }
    }

    /**
     * Eighths of a full leaf, by bytes or by entries; smaller parts if the target is no power of two. Without a
     * division, because each removal computes it twice.
     */
    private int parts(int used, int count) {
        int logOfTarget = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(tree.targetBytes());
        return Math.max(used >> logOfTarget - LOG_OF_PARTS, count >> LOG_OF_PART_ENTRIES);
    }

    private boolean isThin(int node) {
        return NodeLayout.count(tree.space().address(node)) < tree.maxChildren() / THIN_SHARE_OF_CHILDREN;
    }

    /** Frees the path's leaf, which is empty. */
    private void dropLeaf(TreePath path) {
        tree.free(path.leaf());
        for (int level = 1; level <= path.height; level++) {
            int node = path.nodes[level];
            long inner = tree.space().forWriting(node);
            InnerLayout.remove(inner, path.slots[level]);
            if (NodeLayout.count(inner) > 0) {
                joinIfThin(level, path);
                return;
            }
            tree.free(node);
        }
        TreeHeader.root(tree.record(), NodeSpace.NONE);
        TreeHeader.height(tree.record(), 0);
    }

    /** Removes root nodes with a single child. */
    private void reduceHeight() {
        while (tree.height() > 0) {
            long inner = tree.space().address(tree.root());
            if (NodeLayout.count(inner) > 1) {
                return;
            }
            int child = InnerLayout.child(inner, 0);
            tree.free(tree.root());
            TreeHeader.root(tree.record(), child);
            TreeHeader.height(tree.record(), tree.height() - 1);
        }
    }

    private void joinIfThin(int level, TreePath path) {
        int left = isThin(path.nodes[level]) ? findLeftOfPair(level, path) : NONE;
        if (left != NONE) {
            join(level, path, left);
        }
    }

    /**
     * Finds a neighbour under the same parent that fits in one node with the path's node.
     *
     * @return the slot of the left one of both, or {@link #NONE}
     */
    private int findLeftOfPair(int level, TreePath path) {
        if (level == path.height) {
            return NONE;
        }
        long above = tree.space().address(path.nodes[level + 1]);
        int slot = path.slots[level + 1];
        if (slot + 1 < NodeLayout.count(above) && mayJoin(above, slot, level)) {
            return slot;
        }
        return slot > 0 && mayJoin(above, slot - 1, level) ? slot - 1 : NONE;
    }

    /**
     * Moves the entries of a child of the path's node to its left neighbour.
     *
     * @param level of the child
     * @param left the slot of the neighbour
     * @return false, with nothing changed, if there is no memory for it
     */
    private boolean join(int level, TreePath path, int left) {
        int parent = path.nodes[level + 1];
        long above = tree.space().address(parent);
        int leftNode = InnerLayout.child(above, left);
        int rightNode = InnerLayout.child(above, left + 1);
        int bytes = NodeLayout.used(tree.space().address(rightNode)) - NodeLayout.HEADER_BYTES;
        if (!tree.tryGrow(leftNode, NodeLayout.used(tree.space().address(leftNode)) + bytes)) {
            return false;
        }
        above = tree.space().forWriting(parent);
        moveEntries(leftNode, rightNode, level, InnerLayout.separator(above, left + 1));
        InnerLayout.below(above, left, InnerLayout.below(above, left) + InnerLayout.below(above, left + 1));
        InnerLayout.remove(above, left + 1);
        tree.free(rightNode);
        joinIfThin(level + 1, path);
        return true;
    }

    /** Whether the children of a slot and of the next one fit in one node. */
    private boolean mayJoin(long above, int slot, int level) {
        long left = tree.space().address(InnerLayout.child(above, slot));
        long right = tree.space().address(InnerLayout.child(above, slot + 1));
        int count = NodeLayout.count(left) + NodeLayout.count(right);
        return level > 0
                ? count <= tree.maxChildren()
                : count <= LeafFormat.MAX_ENTRIES && (long) NodeLayout.used(left) + NodeLayout.used(right)
                        - NodeLayout.HEADER_BYTES <= tree.targetBytes();
    }

    /**
     * Moves the entries of the right node to the end of the left one.
     *
     * @param separator the separator between both
     */
    private void moveEntries(int leftNode, int rightNode, int level, long separator) {
        long left = tree.space().forWriting(leftNode);
        long right = tree.space().forWriting(rightNode);
        if (level > 0) {
            InnerLayout.separator(right, 0, separator);
        }
        int used = NodeLayout.used(left);
        int count = NodeLayout.count(right);
        int bytes = NodeLayout.used(right) - NodeLayout.HEADER_BYTES;
        Memory.copy(right + NodeLayout.HEADER_BYTES, left + used, bytes);
        NodeLayout.count(left, NodeLayout.count(left) + count);
        NodeLayout.used(left, used + bytes);
        if (level == 0) {
            tree.moves.moved(rightNode, leftNode, left + used, count);
        }
    }
}

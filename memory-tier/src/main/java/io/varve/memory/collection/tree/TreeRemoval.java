package io.varve.memory.collection.tree;

import io.varve.memory.offheap.Memory;

/**
 * Removes elements from a {@link CountedTree} and keeps its nodes from becoming underfull. Confined to its tree.
 *
 * <p>A node below a third of its target is merged with a neighbour under the same parent, or takes some of the
 * neighbour's entries. If that needs a larger node and there is no memory for it, the node stays underfull: no
 * operation here is refused.
 */
final class TreeRemoval {
    private static final int THIN_PART = 3;

    private final CountedTree tree;
    private final LeafFormat format;

    TreeRemoval(CountedTree tree, LeafFormat format) {
        this.tree = tree;
        this.format = format;
    }

    /** Removes elements of one leaf from the path on; the path is then at the next element. */
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
        NodeLayout.used(at, used - (end - path.offset));
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
            shrunk(path);
            tree.settle(path);
        }
    }

    /** Handles a leaf that has become smaller; the path stays at its element. */
    void shrunk(TreePath path) {
        boolean thin = isThin(path.leaf(), 0);
        long rank = thin ? tree.rank(path) : TreePath.UNKNOWN;
        if (thin && rebalance(0, path)) {
            reduceHeight();
            tree.seek(rank, path);
        } else {
            tree.trim(path.leaf());
        }
    }

    private boolean isThin(int node, int level) {
        long at = tree.space().address(node);
        int count = NodeLayout.count(at);
        return level > 0
                ? count < tree.maxChildren() / THIN_PART
                : NodeLayout.used(at) < tree.targetBytes() / THIN_PART && count < LeafFormat.MAX_ENTRIES / THIN_PART;
    }

    /** Frees the path's leaf, which is empty. */
    private void dropLeaf(TreePath path) {
        tree.free(path.leaf());
        for (int level = 1; level <= path.height; level++) {
            int node = path.nodes[level];
            long inner = tree.space().forWriting(node);
            InnerLayout.remove(inner, path.slots[level]);
            if (NodeLayout.count(inner) > 0) {
                if (isThin(node, level)) {
                    rebalance(level, path);
                }
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

    /**
     * Merges an underfull node with a neighbour, or moves entries from the neighbour.
     *
     * @return whether any element has another path now
     */
    private boolean rebalance(int level, TreePath path) {
        if (level == path.height) {
            return false;
        }
        int parent = path.nodes[level + 1];
        long above = tree.space().address(parent);
        int children = NodeLayout.count(above);
        if (children == 1) {
            return false;
        }
        int slot = path.slots[level + 1];
        int left = slot + 1 < children ? slot : slot - 1;
        int leftNode = InnerLayout.child(above, left);
        int rightNode = InnerLayout.child(above, left + 1);
        if (!mayJoin(leftNode, rightNode, level)) {
            return share(level, parent, left, slot == left);
        }
        long right = tree.space().address(rightNode);
        int count = NodeLayout.count(right);
        int bytes = NodeLayout.used(right) - NodeLayout.HEADER_BYTES;
        if (!tree.tryGrow(leftNode, NodeLayout.used(tree.space().address(leftNode)) + bytes)) {
            return false;
        }
        above = tree.space().forWriting(parent);
        moveDown(leftNode, rightNode, level, count, bytes, InnerLayout.separator(above, left + 1));
        InnerLayout.below(above, left, InnerLayout.below(above, left) + InnerLayout.below(above, left + 1));
        InnerLayout.remove(above, left + 1);
        tree.free(rightNode);
        if (isThin(parent, level + 1)) {
            rebalance(level + 1, path);
        }
        return true;
    }

    private boolean mayJoin(int leftNode, int rightNode, int level) {
        long left = tree.space().address(leftNode);
        long right = tree.space().address(rightNode);
        int count = NodeLayout.count(left) + NodeLayout.count(right);
        return level > 0
                ? count <= tree.maxChildren()
                : count <= LeafFormat.MAX_ENTRIES && (long) NodeLayout.used(left) + NodeLayout.used(right)
                        - NodeLayout.HEADER_BYTES <= tree.targetBytes();
    }

    /** Moves entries between two neighbours, one of them underfull, as far as the entries are small enough. */
    private boolean share(int level, int parent, int leftSlot, boolean leftIsThin) {
        long above = tree.space().address(parent);
        int leftNode = InnerLayout.child(above, leftSlot);
        int rightNode = InnerLayout.child(above, leftSlot + 1);
        long left = tree.space().address(leftNode);
        long right = tree.space().address(rightNode);
        int difference = leftIsThin
                ? NodeLayout.used(right) - NodeLayout.used(left)
                : NodeLayout.used(left) - NodeLayout.used(right);
        int space = LeafFormat.MAX_ENTRIES - NodeLayout.count(leftIsThin ? left : right);
        int count = Math.min(space, leftIsThin
                ? fromStart(right, level, difference / 2)
                : fromEnd(left, level, difference / 2));
        if (count == 0) {
            return false;
        }
        int bytes = leftIsThin
                ? offset(right, level, count) - NodeLayout.HEADER_BYTES
                : NodeLayout.used(left) - offset(left, level, NodeLayout.count(left) - count);
        int thin = leftIsThin ? leftNode : rightNode;
        if (!tree.tryGrow(thin, NodeLayout.used(leftIsThin ? left : right) + bytes)) {
            return false;
        }
        above = tree.space().forWriting(parent);
        long separator = InnerLayout.separator(above, leftSlot + 1);
        if (leftIsThin) {
            moveDown(leftNode, rightNode, level, count, bytes, separator);
        } else {
            moveUp(leftNode, rightNode, level, count, bytes, separator);
        }
        long below = elements(tree.space().address(leftNode), level);
        long both = InnerLayout.below(above, leftSlot) + InnerLayout.below(above, leftSlot + 1);
        InnerLayout.below(above, leftSlot, below);
        InnerLayout.below(above, leftSlot + 1, both - below);
        InnerLayout.separator(above, leftSlot + 1, firstSeparator(rightNode, level));
        return true;
    }

    private static long elements(long node, int level) {
        int count = NodeLayout.count(node);
        return level == 0 ? count : InnerLayout.sumBelow(node, 0, count);
    }

    private long firstSeparator(int node, int level) {
        long at = tree.space().address(node);
        return level == 0 ? format.orderAt(at + NodeLayout.HEADER_BYTES) : InnerLayout.separator(at, 0);
    }

    /** The number of entries from the start with at most this many bytes; at least one entry stays. */
    private int fromStart(long node, int level, int max) {
        int count = 0;
        int bytes = 0;
        while (count < NodeLayout.count(node) - 1) {
            int at = NodeLayout.HEADER_BYTES + bytes;
            bytes += level > 0 ? InnerLayout.bytes(1) - InnerLayout.bytes(0) : format.bytesAt(node + at);
            if (bytes > max) {
                return count;
            }
            count++;
        }
        return count;
    }

    /** The number of entries from the end with at most this many bytes; at least one entry stays. */
    private int fromEnd(long node, int level, int max) {
        int all = NodeLayout.count(node);
        int first = 0;
        int at = NodeLayout.HEADER_BYTES;
        do {
            at += level > 0 ? InnerLayout.bytes(1) - InnerLayout.bytes(0) : format.bytesAt(node + at);
            first++;
        } while (first < all && NodeLayout.used(node) - at > max);
        return all - first;
    }

    private int offset(long node, int level, int index) {
        return level > 0 ? InnerLayout.bytes(index) : format.offset(node, index);
    }

    /**
     * Moves the first entries of the right node to the end of the left one.
     *
     * @param separator the separator between both
     */
    private void moveDown(int leftNode, int rightNode, int level, int count, int bytes, long separator) {
        long left = tree.space().forWriting(leftNode);
        long right = tree.space().forWriting(rightNode);
        if (level > 0) {
            InnerLayout.separator(right, 0, separator);
        }
        int used = NodeLayout.used(left);
        Memory.copy(right + NodeLayout.HEADER_BYTES, left + used, bytes);
        add(left, count, bytes);
        int behind = NodeLayout.used(right) - NodeLayout.HEADER_BYTES - bytes;
        Memory.copy(right + NodeLayout.HEADER_BYTES + bytes, right + NodeLayout.HEADER_BYTES, behind);
        add(right, -count, -bytes);
        if (level == 0) {
            tree.moves.moved(rightNode, leftNode, left + used, count);
        }
    }

    /** Moves the last entries of the left node to the start of the right one. */
    private void moveUp(int leftNode, int rightNode, int level, int count, int bytes, long separator) {
        long left = tree.space().forWriting(leftNode);
        long right = tree.space().forWriting(rightNode);
        if (level > 0) {
            InnerLayout.separator(right, 0, separator);
        }
        long first = right + NodeLayout.HEADER_BYTES;
        Memory.copy(first, first + bytes, NodeLayout.used(right) - NodeLayout.HEADER_BYTES);
        Memory.copy(left + NodeLayout.used(left) - bytes, first, bytes);
        add(right, count, bytes);
        add(left, -count, -bytes);
        if (level == 0) {
            tree.moves.moved(leftNode, rightNode, first, count);
        }
    }

    private static void add(long node, int count, int bytes) {
        NodeLayout.count(node, NodeLayout.count(node) + count);
        NodeLayout.used(node, NodeLayout.used(node) + bytes);
    }
}

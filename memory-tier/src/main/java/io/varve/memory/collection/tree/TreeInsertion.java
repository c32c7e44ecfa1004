package io.varve.memory.collection.tree;

import java.util.Arrays;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;

/**
 * Inserts an element into a {@link CountedTree} in two steps: {@link #reserve} allocates all memory that may be needed
 * and may be refused; {@link #apply} is never refused. Confined to its tree.
 *
 * <p>A full leaf is split in two at the boundary that halves it best, the new element included. If the new element is
 * so large that it needs a leaf of its own, the leaf is split in three. At either end of the tree the new element gets
 * a new leaf instead, so that appending leaves full leaves behind. An element before a leaf with one large element also
 * gets a new leaf, and the large one does not move. A leaf that is split keeps its id and the lower part. A format may
 * want the boundary at the new element instead ({@link LeafFormat#isMostlyAscending}).
 */
final class TreeInsertion {
    /** A leaf with one such entry is still an item whose size is an int, even after its memory is rounded up. */
    private static final int MAX_ENTRY_BYTES = Integer.MAX_VALUE / 2 - NodeLayout.HEADER_BYTES;

    private enum Plan {
        NONE,
        /** The tree is empty. */
        FIRST,
        /** The leaf has space. */
        IN_PLACE,
        /** The element gets a new leaf, behind the last or before the path's leaf. */
        APPEND, PREPEND,
        /** The leaf's upper part moves to a new leaf. */
        SPLIT,
        /** The new element and the entries behind it move to new leaves. */
        TRIPLE
    }

    private final CountedTree tree;
    private final LeafFormat format;

    private Plan plan = Plan.NONE;
    /** For a split: the number of entries in the lower part, the new one included, and their bytes. */
    private int boundary;
    private int lowerBytes;
    /** Allocated leaves, and the allocated nodes for each level that is split. */
    private int leaf;
    private int secondLeaf;
    private final int[] inners = new int[TreePath.MAX_LEVELS];
    private int newRoot;

    /** New children for the level above, and the changed counters of the present child. */
    private int newChildren;
    private final int[] newIds = new int[2];
    private final long[] newBelow = new long[2];
    private final long[] newSeparators = new long[2];
    private long oldBelow;
    private long oldSeparator;
    private boolean before;
    private int landed;

    /** The children of a node that is split, including the new ones. */
    private final int[] childIds = new int[InnerLayout.MAX_CHILDREN + 2];
    private final long[] childBelow = new long[InnerLayout.MAX_CHILDREN + 2];
    private final long[] childSeparators = new long[InnerLayout.MAX_CHILDREN + 2];

    TreeInsertion(CountedTree tree, LeafFormat format) {
        this.tree = tree;
        this.format = format;
    }

    // --- reservation

    /**
     * Allocates all memory for inserting an element at the path.
     *
     * @throws CacheFullException if there is none; the tree is unchanged except for the capacity of some nodes
     */
    void reserve(Element element, TreePath path) {
        assert plan == Plan.NONE : "reserved twice";
        long bytes = format.bytesOf(element);
        if (bytes > MAX_ENTRY_BYTES || tree.count() == InnerLayout.MAX_ELEMENTS_BELOW) {
            throw CacheFullException.TOO_LARGE;
        }
        try {
            reserve((int) bytes, path);
        } catch (CacheFullException full) {
            cancel();
            throw full;
        }
    }

    private void reserve(int bytes, TreePath path) {
        int at = path.leaf();
        if (at == NodeSpace.NONE) {
            plan = Plan.FIRST;
            leaf = allocateLeaf(bytes);
            return;
        }
        long address = tree.space().address(at);
        long grown = (long) NodeLayout.used(address) + bytes;
        if (grown <= tree.targetBytes() && NodeLayout.count(address) < LeafFormat.MAX_ENTRIES) {
            plan = Plan.IN_PLACE;
            tree.grow(at, (int) grown);
        } else if (tree.rank(path) == tree.count() || tree.rank(path) == 0) {
            plan = tree.rank(path) == 0 ? Plan.PREPEND : Plan.APPEND;
            leaf = allocateEndLeaf(bytes);
            reserveAbove(1, path);
        } else if (path.index == 0 && NodeLayout.count(address) == 1) {
            plan = Plan.PREPEND;
            leaf = allocateLeaf(bytes);
            reserveAbove(1, path);
        } else {
            reserveSplit(bytes, path, address);
        }
    }

    private void reserveSplit(int bytes, TreePath path, long address) {
        int all = NodeLayout.used(address) - NodeLayout.HEADER_BYTES + bytes;
        int space = tree.targetBytes() - NodeLayout.HEADER_BYTES;
        boolean isAtNew = format.isMostlyAscending() && chooseBoundaryAtNew(bytes, all, path, address);
        if (!isAtNew) {
            chooseBoundary(bytes, all, path.index, address);
        }
        int last = NodeLayout.count(address);
        boolean fits = (lowerBytes <= space || boundary == 1) && (all - lowerBytes <= space || boundary == last);
        if (fits) {
            plan = Plan.SPLIT;
            if (boundary > path.index) {
                tree.grow(path.leaf(), NodeLayout.HEADER_BYTES + lowerBytes);
            }
            leaf = isAtNew && boundary == path.index ? allocateEndLeaf(bytes) : allocateLeaf(all - lowerBytes);
            reserveAbove(1, path);
        } else {
            plan = Plan.TRIPLE;
            leaf = allocateLeaf(bytes);
            secondLeaf = allocateLeaf(NodeLayout.used(address) - path.offset);
            reserveAbove(2, path);
        }
    }

    /**
     * Chooses the boundary behind the new element, or in front of it at the leaf's end.
     *
     * @return false if a part would be too long
     */
    private boolean chooseBoundaryAtNew(int bytes, int all, TreePath path, long address) {
        boolean isLast = path.index == NodeLayout.count(address);
        boundary = isLast ? path.index : path.index + 1;
        lowerBytes = path.offset - NodeLayout.HEADER_BYTES + (isLast ? 0 : bytes);
        int space = tree.targetBytes() - NodeLayout.HEADER_BYTES;
        return lowerBytes <= space && all - lowerBytes <= space;
    }

    /** Chooses the boundary that minimizes the larger part. */
    private void chooseBoundary(int bytes, int all, int index, long address) {
        int count = NodeLayout.count(address);
        int best = Integer.MAX_VALUE;
        int lower = 0;
        long at = address + NodeLayout.HEADER_BYTES;
        for (int i = 1; i <= count; i++) {
            if (i - 1 == index) {
                lower += bytes;
            } else {
                int entry = format.bytesAt(at);
                lower += entry;
                at += entry;
            }
            int larger = Math.max(lower, all - lower);
            if (larger < best) {
                best = larger;
                boundary = i;
                lowerBytes = lower;
            }
        }
    }

    private int allocateLeaf(int entries) {
        return tree.allocate(tree.capacityFor(NodeLayout.HEADER_BYTES + entries));
    }

    /** A leaf at an end gets its full target size, because more insertions there are likely. */
    private int allocateEndLeaf(int entries) {
        int bytes = NodeLayout.HEADER_BYTES + entries;
        return tree.allocate(tree.height() == 0 ? tree.capacityFor(bytes) : Math.max(tree.targetBytes(), bytes));
    }

    private void reserveAbove(int children, TreePath path) {
        int more = children;
        for (int level = 1; level <= path.height; level++) {
            int count = NodeLayout.count(tree.space().address(path.nodes[level]));
            if (count + more <= tree.maxChildren()) {
                tree.grow(path.nodes[level], InnerLayout.bytes(count + more));
                return;
            }
            int upper = count + more - lowerChildren(count, more);
            inners[level] = tree.allocate(tree.capacityFor(InnerLayout.bytes(upper)));
            more = 1;
        }
        if (path.height + 2 > TreePath.MAX_LEVELS) {
            throw new IllegalStateException("A tree of " + tree.count() + " elements has " + path.height + " levels");
        }
        newRoot = tree.allocate(tree.capacityFor(InnerLayout.bytes(1 + more)));
    }

    /** The number of children that a split node keeps: all of them when elements are appended at the end. */
    private int lowerChildren(int count, int more) {
        return plan == Plan.APPEND ? count : (count + more) / 2;
    }

    /** Frees the memory that was allocated and not used. */
    void cancel() {
        plan = Plan.NONE;
        leaf = release(leaf);
        secondLeaf = release(secondLeaf);
        newRoot = release(newRoot);
        for (int level = 0; level < inners.length; level++) {
            inners[level] = release(inners[level]);
        }
    }

    private int release(int node) {
        if (node != NodeSpace.NONE) {
            tree.free(node);
        }
        return NodeSpace.NONE;
    }

    // --- application

    /**
     * Inserts the element at the path, which is then at it.
     *
     * @return its leaf
     */
    int apply(Element element, TreePath path) {
        Plan chosen = plan;
        // A path that must be found again by its rank is counted before anything moves.
        long rank = chosen == Plan.IN_PLACE ? TreePath.UNKNOWN : tree.rank(path);
        newChildren = 0;
        before = false;
        switch (chosen) {
            case NONE -> throw new IllegalStateException("Nothing was reserved");
            case FIRST -> first(element);
            case IN_PLACE -> inPlace(element, path);
            case APPEND -> ofItsOwn(element, path, false);
            case PREPEND -> ofItsOwn(element, path, true);
            case SPLIT -> split(element, path);
            case TRIPLE -> triple(element, path);
        }
        if (chosen != Plan.FIRST) {
            enterAbove(path);
        }
        long record = tree.record();
        TreeHeader.count(record, TreeHeader.count(record) + 1);
        forget();
        if (chosen != Plan.IN_PLACE) {
            tree.seek(rank, path);
        }
        return landed;
    }

    /** Forgets the reservation. */
    void forget() {
        plan = Plan.NONE;
        leaf = NodeSpace.NONE;
        secondLeaf = NodeSpace.NONE;
        newRoot = NodeSpace.NONE;
        Arrays.fill(inners, NodeSpace.NONE);
    }

    private void first(Element element) {
        single(leaf, element);
        TreeHeader.root(tree.record(), leaf);
        TreeHeader.height(tree.record(), 0);
        landed = leaf;
    }

    /** Writes a leaf with only this element. */
    private void single(int node, Element element) {
        long address = tree.space().forWriting(node);
        NodeLayout.clear(address, 0);
        format.write(address + NodeLayout.HEADER_BYTES, element);
        NodeLayout.count(address, 1);
        NodeLayout.used(address, NodeLayout.HEADER_BYTES + (int) format.bytesOf(element));
    }

    private void inPlace(Element element, TreePath path) {
        landed = path.leaf();
        long address = tree.space().forWriting(landed);
        put(element, address, path.offset);
        oldBelow = NodeLayout.count(address);
        // The separator of the tree's lowest slot is never used.
        oldSeparator = Long.MIN_VALUE;
    }

    private void put(Element element, long address, int offset) {
        int bytes = (int) format.bytesOf(element);
        int used = NodeLayout.used(address);
        Memory.copy(address + offset, address + offset + bytes, used - offset);
        format.write(address + offset, element);
        NodeLayout.used(address, used + bytes);
        NodeLayout.count(address, NodeLayout.count(address) + 1);
    }

    private void ofItsOwn(Element element, TreePath path, boolean inFront) {
        single(leaf, element);
        landed = leaf;
        long address = tree.space().address(path.leaf());
        oldBelow = NodeLayout.count(address);
        oldSeparator = format.orderAt(address + NodeLayout.HEADER_BYTES);
        before = inFront;
        child(leaf, 1, element.order);
    }

    private void split(Element element, TreePath path) {
        int index = path.index;
        boolean below = boundary > index;
        int kept = below ? boundary - 1 : boundary;
        long address = tree.space().forWriting(path.leaf());
        int from = format.offset(address, kept);
        long upper = tree.space().forWriting(leaf);
        NodeLayout.clear(upper, 0);
        int moved = NodeLayout.count(address) - kept;
        int movedBytes = NodeLayout.used(address) - from;
        Memory.copy(address + from, upper + NodeLayout.HEADER_BYTES, movedBytes);
        NodeLayout.count(upper, moved);
        NodeLayout.used(upper, NodeLayout.HEADER_BYTES + movedBytes);
        NodeLayout.count(address, kept);
        NodeLayout.used(address, from);
        int upTo = index - kept;
        if (below) {
            put(element, address, path.offset);
            landed = path.leaf();
            notifyMoved(path.leaf(), leaf, upper + NodeLayout.HEADER_BYTES, moved);
        } else {
            int offset = NodeLayout.HEADER_BYTES + path.offset - from;
            put(element, upper, offset);
            landed = leaf;
            notifyMoved(path.leaf(), leaf, upper + NodeLayout.HEADER_BYTES, upTo);
            notifyMoved(path.leaf(), leaf, upper + offset + format.bytesOf(element), moved - upTo);
        }
        oldBelow = NodeLayout.count(address);
        oldSeparator = Long.MIN_VALUE;
        child(leaf, NodeLayout.count(upper), format.orderAt(upper + NodeLayout.HEADER_BYTES));
    }

    private void triple(Element element, TreePath path) {
        single(leaf, element);
        landed = leaf;
        long address = tree.space().forWriting(path.leaf());
        long upper = tree.space().forWriting(secondLeaf);
        NodeLayout.clear(upper, 0);
        int moved = NodeLayout.count(address) - path.index;
        int movedBytes = NodeLayout.used(address) - path.offset;
        Memory.copy(address + path.offset, upper + NodeLayout.HEADER_BYTES, movedBytes);
        NodeLayout.count(upper, moved);
        NodeLayout.used(upper, NodeLayout.HEADER_BYTES + movedBytes);
        NodeLayout.count(address, path.index);
        NodeLayout.used(address, path.offset);
        notifyMoved(path.leaf(), secondLeaf, upper + NodeLayout.HEADER_BYTES, moved);
        oldBelow = path.index;
        oldSeparator = Long.MIN_VALUE;
        child(leaf, 1, element.order);
        child(secondLeaf, moved, format.orderAt(upper + NodeLayout.HEADER_BYTES));
    }

    private void notifyMoved(int from, int to, long first, int count) {
        if (count > 0) {
            tree.moves.moved(from, to, first, count);
        }
    }

    private void child(int node, long below, long separator) {
        newIds[newChildren] = node;
        newBelow[newChildren] = below;
        newSeparators[newChildren] = separator;
        newChildren++;
    }

    /** Counts the element in the levels above, and links the new children there. */
    private void enterAbove(TreePath path) {
        for (int level = 1; level <= path.height; level++) {
            long inner = tree.space().forWriting(path.nodes[level]);
            int slot = path.slots[level];
            if (newChildren == 0) {
                InnerLayout.below(inner, slot, InnerLayout.below(inner, slot) + 1);
            } else {
                InnerLayout.below(inner, slot, oldBelow);
                if (before) {
                    InnerLayout.separator(inner, slot, oldSeparator);
                }
                enter(level, path.nodes[level], inner, before ? slot : slot + 1);
            }
        }
        if (newChildren > 0) {
            raise(path);
        }
    }

    private void enter(int level, int node, long inner, int slot) {
        int count = NodeLayout.count(inner);
        if (inners[level] == NodeSpace.NONE) {
            InnerLayout.copy(inner, slot, inner, slot + newChildren, count - slot);
            for (int i = 0; i < newChildren; i++) {
                InnerLayout.put(inner, slot + i, newIds[i], newBelow[i], newSeparators[i]);
            }
            InnerLayout.count(inner, count + newChildren);
            newChildren = 0;
            return;
        }
        gather(inner, slot, count);
        int lower = lowerChildren(count, newChildren);
        int all = count + newChildren;
        scatter(inner, level, 0, lower);
        long upper = tree.space().forWriting(inners[level]);
        NodeLayout.clear(upper, level);
        scatter(upper, level, lower, all);
        oldBelow = InnerLayout.sumBelow(inner, 0, lower);
        before = false;
        newChildren = 0;
        child(inners[level], InnerLayout.sumBelow(upper, 0, all - lower), childSeparators[lower]);
        assert NodeLayout.level(inner) == level : "node " + node;
    }

    private void gather(long inner, int slot, int count) {
        int at = 0;
        for (int i = 0; i <= count; i++) {
            if (i == slot) {
                for (int j = 0; j < newChildren; j++) {
                    childIds[at] = newIds[j];
                    childBelow[at] = newBelow[j];
                    childSeparators[at++] = newSeparators[j];
                }
            }
            if (i < count) {
                childIds[at] = InnerLayout.child(inner, i);
                childBelow[at] = InnerLayout.below(inner, i);
                childSeparators[at++] = InnerLayout.separator(inner, i);
            }
        }
    }

    private void scatter(long inner, int level, int from, int to) {
        assert NodeLayout.level(inner) == level;
        for (int i = from; i < to; i++) {
            InnerLayout.put(inner, i - from, childIds[i], childBelow[i], childSeparators[i]);
        }
        InnerLayout.count(inner, to - from);
    }

    /** Adds a level to the tree. */
    private void raise(TreePath path) {
        int level = path.height + 1;
        long root = tree.space().forWriting(newRoot);
        NodeLayout.clear(root, level);
        int old = before ? newChildren : 0;
        InnerLayout.put(root, old, tree.root(), oldBelow, oldSeparator);
        for (int i = 0; i < newChildren; i++) {
            InnerLayout.put(root, before ? i : i + 1, newIds[i], newBelow[i], newSeparators[i]);
        }
        InnerLayout.count(root, 1 + newChildren);
        TreeHeader.root(tree.record(), newRoot);
        TreeHeader.height(tree.record(), level);
    }
}

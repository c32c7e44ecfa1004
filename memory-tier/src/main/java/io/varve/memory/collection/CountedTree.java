package io.varve.memory.collection;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;

/**
 * A B+tree that knows how many elements are below each child, so that an element is found by its rank as well as by its order.
 * Confined to the owner of a tree object, who holds the lock of the item's shard.
 *
 * <pre>
 *  record of the root item -----&gt; +---------------------+
 *                                 | inner: child, below, separator ...       level 2
 *                                 +--|---------|--------+
 *                         +----------+         +---------+
 *                         v                              v
 *                  +-------------+                +-------------+
 *                  | inner       |                | inner       |            level 1
 *                  +--|-----|----+                +--|----------+
 *                     v     v                        v
 *                  +-----+ +-----+                +-----+
 *                  |leaf | |leaf |                |leaf |                    level 0: entries of a LeafFormat
 *                  +-----+ +-----+                +-----+
 * </pre>
 *
 * <p>An inner node knows of an element its order alone, 64 bits: the hash of a member, or a score. Where elements of equal order
 * span children, the search looks at the first element of a child. So inner nodes have entries of one size, and a long
 * member is nowhere but in its leaf.
 *
 * <p>Leaves do not know each other: who walks keeps the path from the root ({@link TreePath}). A write through a path leaves that
 * path valid and all others invalid.
 *
 * <p>What may be refused for want of memory is taken before anything is changed ({@link TreeInsertion}); what makes the tree smaller
 * is never refused ({@link TreeRemoval}). Between {@link NodeSpace#begin} and {@link NodeSpace#keep} anything may be.
 */
final class CountedTree {
    /** The leaf that an element is put into moves, or is split in two or three; the one that it was taken out of is joined with another. */
    private static final int LEAVES_A_WRITE = 5;
    /** An inner node that is split moves. */
    private static final int INNERS_A_LEVEL = 2;

    /** Told of entries that have another leaf from now on. */
    interface Moves {
        /**
         * @param first where the first of them is now
         */
        void moved(int from, int to, long first, int count);
    }

    private static final Moves NOBODY = (from, to, first, count) -> {};

    final LeafFormat format;
    final Moves moves;
    private final boolean hasEvenOrder;
    private final TreeInsertion insertion;
    private final TreeRemoval removal;
    private final TreePath spare = new TreePath();
    private NodeSpace space = Nowhere.INSTANCE;
    private long record;
    private int targetBytes;
    private int mostChildren;
    /** Whether nodes get all the room they should have at once. */
    private boolean generous;

    CountedTree(LeafFormat format) {
        this(format, NOBODY);
    }

    CountedTree(LeafFormat format, Moves moves) {
        this.format = format;
        this.moves = moves;
        hasEvenOrder = format.hasEvenOrder();
        insertion = new TreeInsertion(this, format);
        removal = new TreeRemoval(this, format);
    }

    /**
     * From now on this is the tree of a record.
     *
     * @param newRecord where {@link TreeHeader} has it
     */
    void open(NodeSpace newSpace, long newRecord) {
        space = newSpace;
        record = newRecord;
        targetBytes = newSpace.targetBytes();
        mostChildren = InnerLayout.mostChildren(targetBytes);
    }

    // --- what is known of it

    NodeSpace space() {
        return space;
    }

    long record() {
        return record;
    }

    long count() {
        return TreeHeader.count(record);
    }

    int root() {
        return TreeHeader.root(record);
    }

    int height() {
        return TreeHeader.height(record);
    }

    int targetBytes() {
        return targetBytes;
    }

    int mostChildren() {
        return mostChildren;
    }

    // --- where things are

    /** Has a path stand at the element of a rank, at the end for the number of elements. */
    void seek(long rank, TreePath path) {
        assert rank >= 0 && rank <= count() : rank + " of " + count();
        int height = height();
        int node = root();
        path.height = height;
        path.rank = rank;
        long left = rank;
        long all = count();
        for (int level = height; level > 0; level--) {
            long inner = space.address(node);
            int slot;
            long before;
            if (left < all / 2) {
                slot = 0;
                before = 0;
                for (long below = InnerLayout.below(inner, 0); left >= before + below; below = InnerLayout.below(inner,
                        slot)) {
                    before += below;
                    slot++;
                }
            } else {
                slot = NodeLayout.count(inner) - 1;
                before = all - InnerLayout.below(inner, slot);
                while (left < before) {
                    slot--;
                    before -= InnerLayout.below(inner, slot);
                }
            }
            left -= before;
            all = InnerLayout.below(inner, slot);
            path.nodes[level] = node;
            path.slots[level] = slot;
            node = InnerLayout.child(inner, slot);
        }
        path.nodes[0] = node;
        path.index = (int) left;
        path.offset = node == NodeSpace.NONE ? 0 : offsetIn(space.address(node), path.index);
    }

    private int offsetIn(long leaf, int index) {
        return index == NodeLayout.count(leaf) ? NodeLayout.used(leaf) : format.offset(leaf, index);
    }

    /**
     * Has a path stand where what is sought is or would be put. That may be behind the last entry of a leaf that is not the
     * last: see {@link #settle}.
     */
    void seek(Element sought, TreePath path) {
        int height = height();
        int node = root();
        path.height = height;
        path.rank = TreePath.UNKNOWN;
        for (int level = height; level > 0; level--) {
            long inner = space.address(node);
            int slot = slotOf(inner, level, sought);
            path.nodes[level] = node;
            path.slots[level] = slot;
            node = InnerLayout.child(inner, slot);
        }
        path.nodes[0] = node;
        if (node == NodeSpace.NONE) {
            path.index = 0;
            path.offset = 0;
        } else {
            format.seek(space.address(node), sought, path);
        }
    }

    /** How many elements come before what a path stands at. */
    long rank(TreePath path) {
        if (path.rank == TreePath.UNKNOWN) {
            long rank = path.index;
            for (int level = path.height; level > 0; level--) {
                rank += InnerLayout.sumBelow(space.address(path.nodes[level]), 0, path.slots[level]);
            }
            path.rank = rank;
        }
        return path.rank;
    }

    /** The last child whose first element comes before what is sought, or the first child. */
    private int slotOf(long inner, int level, Element sought) {
        boolean orEqual = sought.orderOnly && sought.behindEqual;
        int below = hasEvenOrder && !orEqual
                ? InnerLayout.lastBelowOfEven(inner, sought.order)
                : Math.max(0, InnerLayout.lastBelow(inner, 1, sought.order, orEqual));
        if (sought.orderOnly) {
            return below;
        }
        int low = below + 1;
        if (low == NodeLayout.count(inner) || InnerLayout.separator(inner, low) != sought.order) {
            return below;
        }
        int high = InnerLayout.lastBelow(inner, low, sought.order, true) + 1;
        while (low < high) {
            int middle = low + high >>> 1;
            if (format.isBefore(firstEntry(InnerLayout.child(inner, middle), level - 1), sought)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    private long firstEntry(int node, int level) {
        long address = space.address(node);
        for (int i = level; i > 0; i--) {
            address = space.address(InnerLayout.child(address, 0));
        }
        return address + NodeLayout.HEADER_BYTES;
    }

    /** Has a path that stands behind the last entry of a leaf stand at the first of the next; false at the end. */
    boolean settle(TreePath path) {
        int leaf = path.leaf();
        return leaf != NodeSpace.NONE && (path.index < NodeLayout.count(space.address(leaf)) || nextLeaf(path));
    }

    /** Steps on from an element; false at the end. */
    boolean next(TreePath path) {
        long leaf = space.address(path.leaf());
        path.offset += format.bytesAt(leaf + path.offset);
        path.index++;
        path.passed(1);
        return path.index < NodeLayout.count(leaf) || nextLeaf(path);
    }

    private boolean nextLeaf(TreePath path) {
        for (int level = 1; level <= path.height; level++) {
            long inner = space.address(path.nodes[level]);
            int slot = path.slots[level] + 1;
            if (slot < NodeLayout.count(inner)) {
                path.slots[level] = slot;
                int node = InnerLayout.child(inner, slot);
                for (int below = level - 1; below > 0; below--) {
                    path.nodes[below] = node;
                    path.slots[below] = 0;
                    node = InnerLayout.child(space.address(node), 0);
                }
                path.nodes[0] = node;
                path.index = 0;
                path.offset = NodeLayout.HEADER_BYTES;
                return true;
            }
        }
        return false;
    }

    /** Steps back from an element or the end; false before the first. */
    boolean previous(TreePath path) {
        if (path.index == 0) {
            return previousLeaf(path);
        }
        path.passed(-1);
        path.step(format, space.address(path.leaf()), path.index - 1);
        return true;
    }

    private boolean previousLeaf(TreePath path) {
        int level = 1;
        while (level <= path.height && path.slots[level] == 0) {
            level++;
        }
        if (level > path.height) {
            return false;
        }
        path.passed(-1);
        int slot = --path.slots[level];
        int node = InnerLayout.child(space.address(path.nodes[level]), slot);
        for (int below = level - 1; below > 0; below--) {
            long inner = space.address(node);
            path.nodes[below] = node;
            path.slots[below] = NodeLayout.count(inner) - 1;
            node = InnerLayout.child(inner, path.slots[below]);
        }
        path.nodes[0] = node;
        long leaf = space.address(node);
        path.step(format, leaf, NodeLayout.count(leaf) - 1);
        return true;
    }

    /** The entry that a path stands at. */
    long entry(TreePath path) {
        return space.address(path.leaf()) + path.offset;
    }

    /** How many entries of its leaf come from the path's on. */
    int leftInLeaf(TreePath path) {
        return path.leaf() == NodeSpace.NONE ? 0 : NodeLayout.count(space.address(path.leaf())) - path.index;
    }

    // --- changes

    /** Takes all memory that it takes to put an element where a path stands. To be followed by one of the next two. */
    void reserve(Element element, TreePath path) {
        path.forget();
        insertion.reserve(element, path);
    }

    /** Gives back what {@link #reserve} took. */
    void cancel() {
        insertion.cancel();
    }

    /**
     * Puts the element where the path stands, which is at it afterwards.
     *
     * @return its leaf
     */
    int insertReserved(Element element, TreePath path) {
        return insertion.apply(element, path);
    }

    /** Both in one. */
    void insert(Element element, TreePath path) {
        reserve(element, path);
        insertReserved(element, path);
    }

    /** What was reserved is gone: everything was undone. */
    void forget() {
        insertion.forget();
    }

    /** Puts an element of the same order in the place of the one that a path stands at. */
    void replace(Element element, TreePath path) {
        path.forget();
        long leaf = space.address(path.leaf());
        int oldBytes = format.bytesAt(leaf + path.offset);
        long newBytes = format.bytesOf(element);
        if (newBytes == oldBytes) {
            format.write(space.forWriting(path.leaf()) + path.offset, element);
            return;
        }
        long used = NodeLayout.used(leaf) - oldBytes + newBytes;
        if (newBytes > oldBytes && (used > targetBytes && NodeLayout.count(leaf) > 1 || used > Integer.MAX_VALUE / 2)) {
            insert(element, path);
            long rank = rank(path);
            seek(rank + 1, path);
            removal.remove(path, 1);
            seek(rank, path);
            return;
        }
        grow(path.leaf(), (int) used);
        long at = space.forWriting(path.leaf());
        long entry = at + path.offset;
        int behind = NodeLayout.used(at) - path.offset - oldBytes;
        Memory.copy(entry + oldBytes, entry + newBytes, behind);
        NodeLayout.used(at, (int) used);
        format.write(entry, element);
        if (newBytes < oldBytes) {
            removal.shrunk(path);
        }
    }

    /** Removes some elements of one leaf, from the one that the path stands at on; it then stands at what is behind them, or at the end. */
    void remove(TreePath path, int elements) {
        path.forget();
        removal.remove(path, elements);
    }

    /** Removes the elements from a rank to before another. */
    void removeRange(long from, long to) {
        long left = to - from;
        while (left > 0) {
            seek(from, spare);
            int some = (int) Math.min(left, leftInLeaf(spare));
            remove(spare, some);
            left -= some;
        }
    }

    // --- nodes, counted

    int allocate(int capacity) {
        int node = space.allocate(TreeHeader.tree(record), capacity);
        TreeHeader.nodeBytes(record, TreeHeader.nodeBytes(record) + space.itemBytes(capacity));
        return node;
    }

    void free(int node) {
        long bytes = space.itemBytes(space.capacity(node));
        space.free(node);
        TreeHeader.nodeBytes(record, TreeHeader.nodeBytes(record) - bytes);
    }

    /** Makes sure that a node has so many bytes. */
    void grow(int node, int bytes) {
        if (bytes > space.capacity(node)) {
            resize(node, capacityFor(bytes));
        }
    }

    /** The same where it can be done without. */
    boolean tryGrow(int node, int bytes) {
        return bytes <= space.capacity(node) || tryResize(node, capacityFor(bytes));
    }

    /** Gives back what a node does not use, if that is much and there is room to move it. */
    void trim(int node) {
        if (generous) {
            return;
        }
        int used = NodeLayout.used(space.address(node));
        if (space.capacity(node) - used >= targetBytes / 2) {
            tryResize(node, capacityFor(used));
        }
    }

    private boolean tryResize(int node, int capacity) {
        try {
            resize(node, capacity);
            return true;
        } catch (CacheFullException full) {
            // The caller goes on without: the tree is a little less tidy.
            return false;
        }
    }

    private void resize(int node, int capacity) {
        int old = space.capacity(node);
        if (capacity == old) {
            return;
        }
        space.resize(node, capacity);
        TreeHeader.nodeBytes(record, TreeHeader.nodeBytes(record) + space.itemBytes(capacity) - space.itemBytes(old));
    }

    /** How many nodes are made or move where so many elements are put, or take the place of others, at the most. */
    long nodesFor(int writes) {
        // One level more, because the root may be split on the way.
        return writes * (LEAVES_A_WRITE + (long) INNERS_A_LEVEL * (height() + 1));
    }

    /**
     * Whether much is written before the lock is let go of: then nodes get all the room they should have at once, because what they
     * leave behind when they move cannot be used again before.
     */
    void generous(boolean isGenerous) {
        generous = isGenerous;
    }

    /** In steps of a quarter of what a node should have, so that it seldom moves and little of it is unused. */
    int capacityFor(int bytes) {
        if (bytes >= targetBytes) {
            return bytes;
        }
        if (generous) {
            return targetBytes;
        }
        int step = targetBytes / 4;
        return Math.min(targetBytes, (bytes + step - 1) / step * step);
    }
}

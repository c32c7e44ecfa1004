package io.varve.memory.collection.tree;

import java.util.Arrays;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;

/**
 * A B+tree that counts the elements below each child, so that it finds an element by rank as well as by order. Confined
 * to the owner of a tree object, which holds the lock of the item's shard.
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
 * <p>An inner node stores only the 64-bit order of an element: the hash of a member, or a score. If elements of equal
 * order span children, the search reads the first element of a child. Inner nodes thus have entries of one size, and a
 * long member is stored only in its leaf.
 *
 * <p>Leaves do not link to each other: a walk keeps the path from the root ({@link TreePath}). A write through a path
 * leaves that path valid and invalidates all others.
 *
 * <p>An insertion allocates all memory that can be refused before it changes anything ({@link TreeInsertion}).
 * Operations that make the tree smaller are never refused ({@link TreeRemoval}). Between {@link NodeSpace#begin} and
 * {@link NodeSpace#commit} any operation may be refused.
 */
public final class CountedTree {
    /** An insertion moves a leaf, or splits it in two or three; a removal merges a leaf with another. */
    private static final int LEAVES_A_WRITE = 5;
    /** Splitting an inner node moves it. */
    private static final int INNERS_A_LEVEL = 2;
    /** A leaf that grows no more moves only if more than one part in so many of it is unused. */
    private static final int LEAST_UNUSED_SHARE = 16;

    /** Receives entries that have moved to another leaf. Confined to the tree's owner. */
    public interface Moves {
        /** @param first the present address of the first of them */
        void moved(int from, int to, long first, int count);
    }

    private static final Moves NOBODY = (from, to, first, count) -> {};

    public final LeafFormat format;
    final Moves moves;
    private final boolean hasEvenOrder;
    private final boolean isMostlyAscending;
    private final TreeInsertion insertion;
    private final TreeRemoval removal;
    private final TreePath spare = new TreePath();
    private NodeSpace space = EmptyNodeSpace.INSTANCE;
    private long record;
    private int targetBytes;
    private int maxChildren;
    /** Whether nodes get their full target size at once. */
    private boolean manyWrites;
    /** The sink of what {@link #touch} reads, so that the compiler keeps the reads. */
    private int touched;

    public CountedTree(LeafFormat format) {
        this(format, NOBODY);
    }

    public CountedTree(LeafFormat format, Moves moves) {
        this.format = format;
        this.moves = moves;
        hasEvenOrder = format.hasEvenOrder();
        isMostlyAscending = format.isMostlyAscending();
        insertion = new TreeInsertion(this, format);
        removal = new TreeRemoval(this, format);
    }

    /**
     * Opens the tree of a record.
     *
     * @param newRecord the address in the {@link TreeHeader}
     */
    @SuppressWarnings("ReferenceEquality") // the same shard, not an equal one
    public void open(NodeSpace newSpace, long newRecord) {
        record = newRecord;
        if (newSpace != space) {
            space = newSpace;
            targetBytes = newSpace.targetBytes();
            maxChildren = InnerLayout.maxChildren(targetBytes);
        }
    }

    // --- facts

    public NodeSpace space() {
        return space;
    }

    long record() {
        return record;
    }

    public long count() {
        return TreeHeader.count(record);
    }

    int root() {
        return TreeHeader.root(record);
    }

    int height() {
        return TreeHeader.height(record);
    }

    public int targetBytes() {
        return targetBytes;
    }

    int maxChildren() {
        return maxChildren;
    }

    // --- searches

    /** Moves a path to the element of a rank; to the end for the number of elements. */
    public void seek(long rank, TreePath path) {
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
     * Moves a path to the sought element, or to where it would be inserted. This may be behind the last entry of a leaf
     * that is not the last: see {@link #settle}.
     */
    public void seek(Element sought, TreePath path) {
        int height = height();
        int node = root();
        path.height = height;
        path.rank = TreePath.UNKNOWN;
        for (int level = height; level > 0; level--) {
            long inner = space.address(node);
            int former = path.slots[level];
            int slot = isMostlyAscending && InnerLayout.isWithin(inner, former, sought.order)
                    ? former
                    : slotOf(inner, level, sought);
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

    /**
     * Reads the nodes on the way to several elements of a tree with {@linkplain LeafFormat#hasEvenOrder even order}:
     * one level after the other, so that the cache misses of a level overlap.
     *
     * @param nodes space for as many nodes; its content is undefined before and afterwards
     */
    public void touch(long[] orders, int[] nodes, int elements) {
        int root = root();
        if (root == NodeSpace.NONE) {
            return;
        }
        Arrays.fill(nodes, 0, elements, root);
        int sum = touched;
        for (int level = height(); level > 0; level--) {
            for (int i = 0; i < elements; i++) {
                long inner = space.address(nodes[i]);
                nodes[i] = InnerLayout.child(inner, InnerLayout.lastBelowOfEven(inner, orders[i]));
            }
            // A search of a node branches on what it reads. Without branches more of the reads overlap.
            for (int i = 0; i < elements; i++) {
                sum += NodeLayout.used(space.address(nodes[i]));
            }
        }
        for (int i = 0; i < elements; i++) {
            sum += NodeLayout.touch(space.address(nodes[i]));
        }
        touched = sum;
    }

    /** The number of elements before a path. */
    public long rank(TreePath path) {
        if (path.rank == TreePath.UNKNOWN) {
            long rank = path.index;
            for (int level = path.height; level > 0; level--) {
                rank += InnerLayout.sumBelow(space.address(path.nodes[level]), 0, path.slots[level]);
            }
            path.rank = rank;
        }
        return path.rank;
    }

    /** The last child whose first element comes before the sought one, or the first child. */
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

    /** Moves a path from behind the last entry of a leaf to the first of the next; false at the end. */
    public boolean settle(TreePath path) {
        int leaf = path.leaf();
        return leaf != NodeSpace.NONE && (path.index < NodeLayout.count(space.address(leaf)) || nextLeaf(path));
    }

    /** Moves from an element to the next; false at the end. */
    public boolean next(TreePath path) {
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

    /** Moves from an element or the end to the previous one; false before the first. */
    public boolean previous(TreePath path) {
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

    /** The entry at a path. */
    public long entry(TreePath path) {
        return space.address(path.leaf()) + path.offset;
    }

    /** The number of entries of the path's leaf from the path on. */
    public int leftInLeaf(TreePath path) {
        return path.leaf() == NodeSpace.NONE ? 0 : NodeLayout.count(space.address(path.leaf())) - path.index;
    }

    // --- changes

    /**
     * Allocates all memory for inserting an element at a path. Must be followed by {@link #insertReserved} or
     * {@link #cancel}.
     */
    public void reserve(Element element, TreePath path) {
        path.forget();
        insertion.reserve(element, path);
    }

    /** Frees the memory that {@link #reserve} allocated. */
    public void cancel() {
        insertion.cancel();
    }

    /**
     * Inserts the element at the path, which is then at it.
     *
     * @return its leaf
     */
    public int insertReserved(Element element, TreePath path) {
        return insertion.apply(element, path);
    }

    /** Reserves and inserts. */
    public void insert(Element element, TreePath path) {
        reserve(element, path);
        insertReserved(element, path);
    }

    /** Forgets the reservation, which an undo has freed. */
    public void forget() {
        insertion.forget();
    }

    /** Replaces the element at a path with one of equal order. */
    public void replace(Element element, TreePath path) {
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
            removal.shrunk(path, (int) (oldBytes - newBytes), 0);
        }
    }

    /**
     * Changes the length of the value at a path within its leaf; its bytes up to the shorter of both lengths stay.
     *
     * @param capacity bytes that the leaf gets if it must grow, so that the value can grow again in place
     * @return false, with nothing changed, if the entry has become too long for a leaf that it shares
     */
    public boolean resizeValue(TreePath path, int valueLength, int capacity) {
        path.forget();
        long leaf = space.address(path.leaf());
        int oldBytes = format.bytesAt(leaf + path.offset);
        long newBytes = format.bytesWithValue(leaf + path.offset, valueLength);
        long used = NodeLayout.used(leaf) - oldBytes + newBytes;
        if (newBytes > oldBytes && used > targetBytes && NodeLayout.count(leaf) > 1) {
            return false;
        }
        if (used > Integer.MAX_VALUE / 2) {
            throw CacheFullException.TOO_LARGE;
        }
        if (used > space.capacity(path.leaf())) {
            resize(path.leaf(), Math.max(capacityFor((int) used), capacity));
        }
        long at = space.forWriting(path.leaf());
        long entry = at + path.offset;
        int behind = NodeLayout.used(at) - path.offset - oldBytes;
        if (newBytes < oldBytes) {
            format.resizeValue(entry, valueLength);
        }
        Memory.copy(entry + oldBytes, entry + newBytes, behind);
        if (newBytes >= oldBytes) {
            format.resizeValue(entry, valueLength);
        }
        NodeLayout.used(at, (int) used);
        if (newBytes < oldBytes) {
            removal.shrunk(path, (int) (oldBytes - newBytes), 0);
        }
        return true;
    }

    /** Shortens the value at a path; its leaf keeps its capacity, so that the value can grow again in place. */
    public void shortenValue(TreePath path, int valueLength) {
        long at = space.forWriting(path.leaf());
        long entry = at + path.offset;
        int oldBytes = format.bytesAt(entry);
        int newBytes = (int) format.bytesWithValue(entry, valueLength);
        int behind = NodeLayout.used(at) - path.offset - oldBytes;
        format.resizeValue(entry, valueLength);
        Memory.copy(entry + oldBytes, entry + newBytes, behind);
        NodeLayout.used(at, NodeLayout.used(at) - oldBytes + newBytes);
    }

    /** Frees the unused part of a path's leaf, if it is large and there is memory to move the leaf. */
    public void shrinkToFit(TreePath path) {
        int fitting = capacityFor(NodeLayout.used(space.address(path.leaf())));
        if (space.capacity(path.leaf()) - fitting > fitting / LEAST_UNUSED_SHARE) {
            tryResize(path.leaf(), fitting);
        }
    }

    /**
     * Removes elements of one leaf, from the path on; the path is then at the next element, or behind the last one of
     * its leaf: see {@link #settle}.
     */
    public void remove(TreePath path, int elements) {
        path.forget();
        removal.remove(path, elements);
    }

    /** Removes the elements from one rank up to another. */
    public void removeRange(long from, long to) {
        long left = to - from;
        while (left > 0) {
            seek(from, spare);
            int some = (int) Math.min(left, leftInLeaf(spare));
            remove(spare, some);
            left -= some;
        }
    }

    // --- nodes, accounted for

    public int allocate(int capacity) {
        int node = space.allocate(TreeHeader.tree(record), capacity);
        TreeHeader.nodeBytes(record, TreeHeader.nodeBytes(record) + space.itemBytes(capacity));
        return node;
    }

    public void free(int node) {
        long bytes = space.itemBytes(space.capacity(node));
        space.free(node);
        TreeHeader.nodeBytes(record, TreeHeader.nodeBytes(record) - bytes);
    }

    /** Makes sure that a node has at least this capacity. */
    void grow(int node, int bytes) {
        if (bytes > space.capacity(node)) {
            resize(node, capacityFor(bytes));
        }
    }

    /** Grows a node if memory allows; false if not. */
    boolean tryGrow(int node, int bytes) {
        return bytes <= space.capacity(node) || tryResize(node, capacityFor(bytes));
    }

    /** Frees the unused part of a node, if it is large and there is memory to move the node. */
    void trim(int node) {
        if (manyWrites) {
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
            // The caller continues without: the tree is a little less compact.
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

    /** The most nodes that are created or moved when this number of elements is inserted or replaced. */
    public long nodesFor(int writes) {
        // One level more, because the root may be split on the way.
        return writes * (LEAVES_A_WRITE + (long) INNERS_A_LEVEL * (height() + 1));
    }

    /**
     * Sets whether many writes follow before the lock is released. Nodes then get their full target size at once,
     * because the memory that they leave when they move cannot be reused before the release.
     */
    public void expectManyWrites(boolean manyWrites) {
        this.manyWrites = manyWrites;
    }

    /** Rounds up to quarters of the target size, so that a node rarely moves and little of it is unused. */
    int capacityFor(int bytes) {
        if (bytes >= targetBytes) {
            return bytes;
        }
        if (manyWrites) {
            return targetBytes;
        }
        int step = targetBytes / 4;
        return Math.min(targetBytes, (bytes + step - 1) / step * step);
    }
}

package io.varve.memory.collection;

import java.util.function.Consumer;
import java.util.function.IntConsumer;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.collection.tree.TreeIntegrity;
import io.varve.memory.collection.tree.TreePath;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;

/**
 * A large collection as its commands see it: ordered elements, and a position among them. Confined to one thread. It is
 * valid as long as an item is: while that thread holds the lock of the item's shard, and until the key is written by
 * other means.
 *
 * <p>One object serves successive collections. Its position is at an element or at the end, behind the last element;
 * initially it is at the end. Addresses that it returns are valid until the next write to the collection. Addresses
 * passed to a write must not lie in the collection itself.
 *
 * <p>A write is all or nothing: a refused one ({@link CacheFullException}) has changed nothing. Removals are never
 * refused. The writes between {@link #begin} and {@link #commit} or {@link #rollback} are one atomic write. There any
 * of them may be refused, and the caller must then undo.
 *
 * <p>The caller that removes the last element must delete the collection, unless it {@link #mayBeEmpty may be empty}.
 */
public abstract sealed class CollectionTree permits ListTree, HashedTree, SortedSetTree, StreamTree {
    /** A packed value with more entries, or with more bytes, must become a tree. */
    public static final int MAX_PACKED_ENTRIES = 128;
    public static final int MAX_PACKED_BYTES = 8 << 10;

    /** The most overhead of a leaf entry beyond the bytes of its element. */
    private static final int ENTRY_BYTES = 64;

    final CountedTree tree;
    final TreePath path = new TreePath();
    /** Whether the position is at an element, and whether the path is at the position. */
    boolean atElement;
    boolean pathKnown;
    private final ItemType type;
    private int trees;
    private final int moreBytes;
    private final byte[] before;
    private boolean begun;
    private long header;

    /** @param maxTrees the number of its trees, unless {@link #trees(int)} sets fewer */
    CollectionTree(ItemType type, int maxTrees, CountedTree tree) {
        this(type, maxTrees, 0, tree);
    }

    /** @param moreBytes bytes that the header has behind the trees' records */
    CollectionTree(ItemType type, int maxTrees, int moreBytes, CountedTree tree) {
        this.type = type;
        this.trees = maxTrees;
        this.tree = tree;
        this.moreBytes = moreBytes;
        before = new byte[TreeHeader.bytes(maxTrees) + moreBytes];
    }

    /**
     * A new tree object for collections of a type.
     *
     * @throws IllegalArgumentException if the type has no trees
     */
    public static CollectionTree of(ItemType type) {
        return switch (type) {
            case LIST -> new ListTree();
            case SET -> new SetTree();
            case HASH -> new HashTree();
            case SORTED_SET -> new SortedSetTree();
            case STREAM -> new StreamTree();
            case STRING -> throw new IllegalArgumentException("A " + type + " has no tree");
        };
    }

    /**
     * Opens a collection; called by the shard, which knows the value of the root item.
     *
     * @param headerBytes bytes of that value
     * @param nowMillis elements that are due at this time are hidden, if elements have times
     */
    public final void open(NodeSpace space, long newHeader, int headerBytes, long nowMillis) {
        trees(TreeHeader.trees(headerBytes));
        open(space, newHeader);
        asOf(nowMillis);
    }

    /** Opens a collection with the number of trees last set, and without due elements. */
    public final void open(NodeSpace space, long newHeader) {
        header = newHeader;
        begun = false;
        openTrees(space, newHeader);
        expectManyWrites(false);
        toEnd();
    }

    void openTrees(NodeSpace space, long newHeader) {
        tree.open(space, TreeHeader.record(newHeader, 0));
    }

    /** The type of the items that have such a tree. */
    public final ItemType type() {
        return type;
    }

    /** The number of trees of the header. */
    public final int trees() {
        return trees;
    }

    /** Sets the number of trees of the next collection. */
    final void trees(int count) {
        if (TreeHeader.bytes(count) > before.length) {
            throw new IllegalArgumentException("A " + type + " cannot have " + count + " trees");
        }
        trees = count;
    }

    /** Bytes of the header. */
    public int headerBytes() {
        return TreeHeader.bytes(trees) + moreBytes;
    }

    /** Whether a collection may exist without elements. */
    public boolean mayBeEmpty() {
        return false;
    }

    /** The address of the bytes that the header has behind the trees' records. */
    final long more() {
        return header + TreeHeader.bytes(trees);
    }

    /** Hides elements that are due at this time. */
    void asOf(long nowMillis) {}

    // --- facts

    /** The number of elements. */
    public final long size() {
        return tree.count();
    }

    /** 32 bits that belong to the type; initially 0. */
    public final int flags() {
        return TreeHeader.flags(header);
    }

    public final void flags(int flags) {
        TreeHeader.flags(header, flags);
    }

    // --- the position

    /** Moves to the element of a rank, from 0 on; false, and at the end, if there is none. */
    public final boolean seek(long rank) {
        if (rank < 0 || rank >= size()) {
            toEnd();
            return false;
        }
        path.forget();
        tree.seek(rank, path);
        pathKnown = true;
        atElement = true;
        return true;
    }

    public final boolean first() {
        return seek(0);
    }

    public final boolean last() {
        return seek(size() - 1);
    }

    /** Moves to the next element; false, and at the end, if there is none. */
    public final boolean next() {
        requireElement();
        needPath();
        atElement = tree.next(path);
        return atElement;
    }

    /** Moves to the previous element, from the end to the last; false, and at the end, if there is none. */
    public final boolean previous() {
        needPath();
        if (!tree.previous(path)) {
            toEnd();
            return false;
        }
        atElement = true;
        return true;
    }

    public final boolean isAtElement() {
        return atElement;
    }

    /** The number of elements before the position. */
    public final long rank() {
        if (!atElement) {
            return size();
        }
        needPath();
        return tree.rank(path);
    }

    final void toEnd() {
        atElement = false;
        pathKnown = false;
    }

    /** Moves the path to the position. */
    void needPath() {
        if (!pathKnown) {
            path.forget();
            tree.seek(size(), path);
            pathKnown = true;
        }
    }

    /** Sets the position after a search, which has left the path at the sought element or where it would be. */
    final boolean found() {
        path.forget();
        pathKnown = true;
        atElement = tree.settle(path);
        return atElement;
    }

    final void requireElement() {
        if (!atElement) {
            throw new IllegalStateException("No element: the position is at the end");
        }
    }

    // --- removals

    /** Removes the element at the position, which moves to the next one. Never refused. */
    public void remove() {
        requireElement();
        needPath();
        tree.remove(path, 1);
        atElement = tree.settle(path);
    }

    /**
     * Removes the elements from one rank up to another, and moves to the next one. Never refused.
     *
     * @param from 0 to {@code to}
     * @param to an exclusive bound, at most {@link #size}
     */
    public final void removeRange(long from, long to) {
        if (from < 0 || to > size()) {
            throw new IndexOutOfBoundsException(from + " to " + to + " of " + size());
        }
        if (from < to) {
            removeElements(from, to);
        }
        seek(from);
    }

    void removeElements(long from, long to) {
        tree.removeRange(from, to);
    }

    // --- atomic groups of writes

    /**
     * Begins an atomic group of writes, up to {@link #commit}. Meanwhile no other key of the shard may be written. Each
     * modified leaf is copied once, so it is not worth it for a single write.
     */
    public final void begin() {
        Memory.copy(header, before, 0, TreeHeader.bytes(trees) + moreBytes);
        tree.space().begin();
        begun = true;
        expectManyWrites(true);
    }

    /** Sets whether many writes follow before the lock is released. Called by the shard. */
    public void expectManyWrites(boolean manyWrites) {
        tree.expectManyWrites(manyWrites);
    }

    public final void commit() {
        requireBegun();
        begun = false;
        expectManyWrites(false);
        tree.space().commit();
    }

    /**
     * Restores the state of {@link #begin}; the position is at the end.
     *
     * @param full the refusal
     * @return the exception to throw: it has the memory that the writes need together
     */
    public final CacheFullException rollback(CacheFullException full) {
        long written = rollback();
        // The memory taken is freed now: the writes need at least as much again.
        return full.inAll(full.bytes() + 2 * written);
    }

    private long rollback() {
        requireBegun();
        begun = false;
        expectManyWrites(false);
        long written = tree.space().rollback();
        Memory.copy(before, 0, header, TreeHeader.bytes(trees) + moreBytes);
        forget();
        toEnd();
        return written;
    }

    /**
     * Runs an atomic group of writes: they are kept if the writer returns, and undone whatever it throws.
     *
     * @throws CacheFullException if one of them was refused
     */
    public final void atomically(Runnable writer) {
        begin();
        try {
            writer.run();
        } catch (CacheFullException full) {
            throw rollback(full);
        } catch (RuntimeException | Error bug) {
            rollback();
            throw bug;
        }
        commit();
    }

    /**
     * Runs an atomic group of writes of known size. If all the memory can be reserved, nothing is copied for an undo.
     * The writes then stay if the writer throws anything other than a refusal. A single write is atomic by itself, so
     * no memory is reserved for it.
     *
     * @param writes the most elements that are put
     * @param longest bytes of the longest of them, at most
     */
    public final void atomically(int writes, long longest, Runnable writer) {
        if (writes == 1) {
            writer.run();
            return;
        }
        long nodes = nodesFor(writes);
        boolean isOrdinary = longest + ENTRY_BYTES <= tree.targetBytes() && nodes <= Integer.MAX_VALUE;
        if (!isOrdinary || !tree.space().reserve((int) nodes)) {
            atomically(writer);
            return;
        }
        try {
            writer.run();
        } catch (CacheFullException full) {
            throw new IllegalStateException("More was written than announced: " + writes + " elements of at most "
                    + longest + " bytes", full);
        } finally {
            tree.space().endReserve();
        }
    }

    /** The most nodes that this number of elements takes. */
    long nodesFor(int writes) {
        return tree.nodesFor(writes);
    }

    void forget() {
        tree.forget();
    }

    private void requireBegun() {
        if (!begun) {
            throw new IllegalStateException("No group of writes was begun");
        }
    }

    // --- integrity

    /** Walks everything and reports violated invariants; shows each node. For tests. */
    public void checkIntegrity(IntConsumer nodes, Consumer<String> problems) {
        TreeIntegrity.check(tree, nodes, problems);
    }
}

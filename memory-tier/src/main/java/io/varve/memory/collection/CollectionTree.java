package io.varve.memory.collection;

import java.util.function.Consumer;
import java.util.function.IntConsumer;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;

/**
 * A large collection as its commands see it: elements in an order, and a position among them. Confined to one thread, and valid as
 * an item is: while that thread holds the lock of the item's shard, until the key is written by other means.
 *
 * <p>One object serves one collection after the other. It stands at an element or at the end, behind the last; at first at
 * the end. Addresses that it tells are valid until the next write to the collection, and addresses that it is given to put do not lie in
 * the collection itself.
 *
 * <p>A write is all or nothing: what is refused ({@link CacheFullException}) has changed nothing. Removals are never refused. Several
 * writes are one between {@link #begin} and {@link #keep} or {@link #undo}; there any of them may be refused, and is to be
 * undone then.
 *
 * <p>A collection without elements is to be deleted by who removed the last.
 */
public abstract sealed class CollectionTree permits ListTree, HashedTree, SortedSetTree {
    /** A packed value of more entries, or of more bytes, is to become a tree. */
    public static final int MOST_PACKED_ENTRIES = 128;
    public static final int MOST_PACKED_BYTES = 8 << 10;

    /** What an entry of a leaf may have beside the bytes of its element. */
    private static final int ENTRY_BYTES = 64;

    final CountedTree tree;
    final TreePath path = new TreePath();
    /** Whether it stands at an element, and whether the path does. */
    boolean atElement;
    boolean pathKnown;
    private final ItemType type;
    private int trees;
    private final byte[] before;
    private boolean begun;
    private long header;

    /** @param mostTrees how many it has, unless it is told of fewer */
    CollectionTree(ItemType type, int mostTrees, CountedTree tree) {
        this.type = type;
        this.trees = mostTrees;
        this.tree = tree;
        before = new byte[TreeHeader.bytes(mostTrees)];
    }

    /**
     * A tree object for collections of a type.
     *
     * @throws IllegalArgumentException if there are none of it
     */
    public static CollectionTree of(ItemType type) {
        return switch (type) {
            case LIST -> new ListTree();
            case SET -> new SetTree();
            case HASH -> new HashTree();
            case SORTED_SET -> new SortedSetTree();
            case STRING, STREAM -> throw new IllegalArgumentException("There is no tree of a " + type);
        };
    }

    /**
     * Called by the shard, which knows where the value of the root item is.
     *
     * @param headerBytes bytes of that value
     * @param nowMillis   what is due then is hidden, where elements have times
     */
    public final void open(NodeSpace space, long newHeader, int headerBytes, long nowMillis) {
        trees(TreeHeader.trees(headerBytes));
        open(space, newHeader);
        asOf(nowMillis);
    }

    /** The same for one that has as many trees as this object was told last, and nothing that is due. */
    public final void open(NodeSpace space, long newHeader) {
        header = newHeader;
        begun = false;
        openTrees(space, newHeader);
        generous(false);
        toEnd();
    }

    void openTrees(NodeSpace space, long newHeader) {
        tree.open(space, TreeHeader.record(newHeader, 0));
    }

    /** The type of the items that have such a tree. */
    public final ItemType type() {
        return type;
    }

    /** How many trees the header is of. */
    public final int trees() {
        return trees;
    }

    /** How many trees the next has that it looks at. */
    final void trees(int count) {
        if (TreeHeader.bytes(count) > before.length) {
            throw new IllegalArgumentException("A " + type + " with " + count + " trees");
        }
        trees = count;
    }

    /** Bytes of the header. */
    public int headerBytes() {
        return TreeHeader.bytes(trees);
    }

    /** What is due at that time is hidden from now on. */
    void asOf(long nowMillis) {}

    // --- what is known of it

    /** How many elements it has. */
    public final long size() {
        return tree.count();
    }

    /** Bytes that its nodes take. */
    public final long bytes() {
        return TreeHeader.nodeBytes(header, TreeHeader.bytes(trees));
    }

    /** 32 bits that belong to the type; 0 at first. */
    public final int flags() {
        return TreeHeader.flags(header);
    }

    public final void flags(int flags) {
        TreeHeader.flags(header, flags);
    }

    // --- the position

    /** Goes to the element of a rank, from 0 on; false, and at the end, if there is none. */
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

    /** Goes to the next element; false, and at the end, if there is none. */
    public final boolean next() {
        requireElement();
        needPath();
        atElement = tree.next(path);
        return atElement;
    }

    /** Goes to the element before, from the end to the last; false, and at the end, if there is none. */
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

    /** How many elements are before the position. */
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

    /** Has the path stand where the position is. */
    void needPath() {
        if (!pathKnown) {
            path.forget();
            tree.seek(size(), path);
            pathKnown = true;
        }
    }

    /** A search has left the path where what was sought is or would be. */
    final boolean found() {
        path.forget();
        pathKnown = true;
        atElement = tree.settle(path);
        return atElement;
    }

    final void requireElement() {
        if (!atElement) {
            throw new IllegalStateException("At the end there is no element");
        }
    }

    // --- removals

    /** Removes the element at the position, which then is at what was behind it. Never refused. */
    public void remove() {
        requireElement();
        needPath();
        tree.remove(path, 1);
        atElement = tree.settle(path);
    }

    /**
     * Removes the elements from a rank to before another, and stands at what is behind them. Never refused.
     *
     * @param from 0 to {@code to}
     * @param to   at most {@link #size}
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

    // --- all or nothing

    /**
     * The writes from here to {@link #keep} are one. Meanwhile nothing else of the key's shard is written. Each leaf that is
     * written to is copied once: not for a single write.
     */
    public final void begin() {
        Memory.copy(header, before, 0, TreeHeader.bytes(trees));
        tree.space().begin();
        begun = true;
        generous(true);
    }

    /** Called by the shard: whether much is written before the lock is let go of. */
    public void generous(boolean isGenerous) {
        tree.generous(isGenerous);
    }

    public final void keep() {
        requireBegun();
        begun = false;
        generous(false);
        tree.space().keep();
    }

    /**
     * Everything is as it was at {@link #begin}; the position is at the end.
     *
     * @param full why
     * @return what to throw: it says how much room the writes need together
     */
    public final CacheFullException undo(CacheFullException full) {
        long written = undo();
        // What was taken is given back: as much again, at the least, is what they need.
        return full.inAll(full.bytes() + 2 * written);
    }

    private long undo() {
        requireBegun();
        begun = false;
        generous(false);
        long written = tree.space().undo();
        Memory.copy(before, 0, header, TreeHeader.bytes(trees));
        forget();
        toEnd();
        return written;
    }

    /**
     * Writes that are one: they stay if the writer returns, and are undone whatever it throws.
     *
     * @throws CacheFullException if one of them was refused
     */
    public final void together(Runnable writer) {
        begin();
        try {
            writer.run();
        } catch (CacheFullException full) {
            throw undo(full);
        } catch (RuntimeException | Error bug) {
            undo();
            throw bug;
        }
        keep();
    }

    /**
     * The same for writers of whom it is known how much they write: where there is room for all of it, nothing is copied to be able to
     * undo it. Then what a writer has written stays if it throws anything else than a refusal. One write is all or nothing by itself: no
     * room is taken for it first.
     *
     * @param writes  how many elements are put, at the most
     * @param longest bytes of the longest of them, at the most
     */
    public final void together(int writes, long longest, Runnable writer) {
        if (writes == 1) {
            writer.run();
            return;
        }
        long nodes = nodesFor(writes);
        boolean isOrdinary = longest + ENTRY_BYTES <= tree.targetBytes() && nodes <= Integer.MAX_VALUE;
        if (!isOrdinary || !tree.space().reserve((int) nodes)) {
            together(writer);
            return;
        }
        try {
            writer.run();
        } catch (CacheFullException full) {
            throw new IllegalStateException("More was written than was said: " + writes + " elements of at most "
                    + longest + " bytes", full);
        } finally {
            tree.space().endReserve();
        }
    }

    /** How many nodes so many elements take, at the most. */
    long nodesFor(int writes) {
        return tree.nodesFor(writes);
    }

    void forget() {
        tree.forget();
    }

    private void requireBegun() {
        if (!begun) {
            throw new IllegalStateException("Nothing was begun");
        }
    }

    // --- integrity

    /** Walks everything and reports what is not as it should be; tells of each node. For tests. */
    public void checkIntegrity(IntConsumer nodes, Consumer<String> problems) {
        TreeIntegrity.check(tree, nodes, problems);
    }
}

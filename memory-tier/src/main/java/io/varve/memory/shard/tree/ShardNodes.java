package io.varve.memory.shard.tree;

import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.SegmentPool;
import io.varve.memory.shard.context.ShardContext;

/**
 * The nodes of a shard's trees: internal items whose key is their id, found through the {@link NodeTable}. Guarded by
 * the shard's lock.
 *
 * <p>Between {@link #begin} and {@link #commit}, a write copies the node first and a freed node stays. The journal
 * holds the former entry of each id.
 */
public final class ShardNodes implements NodeSpace {
    /** The target size of a node: leaves small enough for a linear search, large enough to be worth an item. */
    private static final int TARGET_BYTES = 1024;
    /** A node in a segment is smaller than an item that gets a run of its own. */
    private static final int TARGET_PART_OF_LARGE = 2;

    private final NodeItems items;
    private final ShardContext context;
    private final NodeTable table;
    private final SegmentPool pool;
    private final NodeJournal journal;
    private final int targetBytes;
    private boolean begun;
    private long writtenSinceBegin;
    private long nowMillis;
    private long nodes;
    /** Bytes that pinned trees have gained since {@link #begin}, in this database. */
    private long pinnedSinceBegin;
    private int pinnedDatabase;

    ShardNodes(NodeItems items, ShardContext context, NodeTable table) {
        this.items = items;
        this.context = context;
        this.table = table;
        pool = context.pool;
        journal = new NodeJournal(context.regions, context.budget);
        targetBytes = Math.min(TARGET_BYTES, context.largeThresholdBytes / TARGET_PART_OF_LARGE);
    }

    /** The time of the following writes. */
    public long now() {
        return nowMillis;
    }

    /** Sets the time of the following writes. */
    public void now(long millis) {
        nowMillis = millis;
    }

    // --- for trees

    @Override
    public int allocate(int tree, int capacity) {
        int node = newId();
        long location;
        try {
            location = items.make(node, capacity, ItemLayout.penaltyClass(pool.address(table.location(tree))),
                    nowMillis);
        } catch (CacheFullException full) {
            table.free(node);
            throw full;
        }
        if (begun) {
            try {
                note(node, 0, location);
            } catch (CacheFullException full) {
                table.free(node);
                throw full;
            }
        }
        isAt(node, location, begun ? NodeTable.COPIED : 0);
        NodeLayout.tree(address(node), tree);
        nodes++;
        countIfPinned(tree, itemBytes(capacity));
        return node;
    }

    /** Counts bytes that a tree gains or loses, if its root item is pinned. */
    private void countIfPinned(int tree, long moreBytes) {
        if (context.pinnedItems.isUsed() && table.isTree(tree)) {
            long root = pool.address(table.location(tree));
            if (ItemLayout.isPinned(root)) {
                pinnedDatabase = ItemLayout.database(root);
                context.pinnedItems.grow(pinnedDatabase, moreBytes);
                pinnedSinceBegin += moreBytes;
            }
        }
    }

    private void countFreed(int node, long bits) {
        if (context.pinnedItems.isUsed() && (bits & NodeTable.FREED) == 0) {
            countIfPinned(NodeLayout.tree(address(node)), -itemBytes(capacity(node)));
        }
    }

    private void isAt(int node, long location, long marks) {
        long item = pool.address(location);
        table.node(node, location, (int) (ItemLayout.valueAddress(item) - item), marks);
    }

    /** Allocates an id without an entry. */
    public int newId() {
        try {
            return table.allocate();
        } catch (CacheFullException full) {
            // A slab is no segment: some free segments have to be returned for it.
            context.refusedBytes.addAndGet(context.pool.segmentBytes());
            throw full;
        }
    }

    /** Records an id's former entry after an item was created for it; frees the item if that fails. */
    private void note(int node, long bits, long made) {
        try {
            addToJournal(node, bits);
        } catch (CacheFullException full) {
            items.discard(made);
            throw full;
        }
        writtenSinceBegin += ItemLayout.size(items.address(made));
    }

    @Override
    public long address(int node) {
        assert table.isNode(node) && (table.bits(node) & NodeTable.FREED) == 0 : "no node " + node;
        long bits = table.bits(node);
        return pool.address(NodeTable.locationOf(bits)) + NodeTable.headerBytesOf(bits);
    }

    @Override
    public long forWriting(int node) {
        if (begun && (table.bits(node) & NodeTable.COPIED) == 0) {
            copy(node, capacity(node));
        }
        return address(node);
    }

    /** The old copy stays until the writes are kept or undone. */
    private void copy(int node, int capacity) {
        long from = address(node);
        int kept = Math.min(capacity, capacity(node));
        long made = items.make(node, capacity, penaltyClass(node), nowMillis);
        note(node, table.bits(node), made);
        Memory.copy(from, ItemLayout.valueAddress(items.address(made)), kept);
        isAt(node, made, NodeTable.COPIED);
    }

    @Override
    public int capacity(int node) {
        return ItemLayout.capacity(items.address(table.location(node)));
    }

    private int penaltyClass(int node) {
        return ItemLayout.penaltyClass(items.address(table.location(node)));
    }

    @Override
    public void resize(int node, int capacity) {
        long before = itemBytes(capacity(node));
        resizeItem(node, capacity);
        countIfPinned(NodeLayout.tree(address(node)), itemBytes(capacity) - before);
    }

    private void resizeItem(int node, int capacity) {
        if (begun && (table.bits(node) & NodeTable.COPIED) == 0) {
            copy(node, capacity);
            return;
        }
        long location = table.location(node);
        if (items.resize(location, capacity)) {
            return;
        }
        long made = items.make(node, capacity, penaltyClass(node), nowMillis);
        long from = address(node);
        Memory.copy(from, ItemLayout.valueAddress(items.address(made)), Math.min(capacity, capacity(node)));
        isAt(node, made, begun ? NodeTable.COPIED : 0);
        writtenSinceBegin += ItemLayout.size(items.address(made));
        items.discard(location);
    }

    @Override
    public void free(int node) {
        long bits = table.bits(node);
        if (begun) {
            if ((bits & NodeTable.COPIED) == 0) {
                addToJournal(node, bits);
            }
            countFreed(node, bits);
            table.bits(node, bits | NodeTable.DROPPED);
            return;
        }
        countFreed(node, bits);
        freePermanently(node);
    }

    /** Frees a node of a dying tree, even between begin and keep of another tree: it cannot be undone. */
    void freePermanently(int node) {
        long bits = table.bits(node);
        assert (bits & (NodeTable.COPIED | NodeTable.DROPPED)) == 0
                : "node " + node + " was written since the group of writes began";
        if ((bits & NodeTable.FREED) == 0) {
            items.discard(NodeTable.locationOf(bits));
        }
        release(node);
    }

    private void addToJournal(int node, long bits) {
        try {
            journal.add(node, bits);
        } catch (CacheFullException full) {
            context.refusedBytes.addAndGet(context.pool.segmentBytes());
            throw full;
        }
    }

    private void release(int node) {
        table.free(node);
        nodes--;
    }

    @Override
    public long itemBytes(int capacity) {
        return NodeItems.bytes(capacity) + Long.BYTES;
    }

    @Override
    public int targetBytes() {
        return targetBytes;
    }

    @Override
    public long hash(long address, int length) {
        return Integer.toUnsignedLong(context.elementHash.second(address, length));
    }

    @Override
    public boolean reserve(int count) {
        if (!items.reserve(count, targetBytes)) {
            return false;
        }
        if (table.reserve(count)) {
            return true;
        }
        items.endReserve();
        return false;
    }

    @Override
    public void endReserve() {
        items.endReserve();
        table.endReserve();
    }

    // --- atomic groups of writes

    @Override
    public void begin() {
        if (begun) {
            throw new IllegalStateException("A group of writes has already begun");
        }
        begun = true;
        writtenSinceBegin = 0;
        pinnedSinceBegin = 0;
    }

    @Override
    public void commit() {
        begun = false;
        for (int i = 0; i < journal.count(); i++) {
            int node = journal.id(i);
            long old = journal.bits(i);
            long now = table.bits(node);
            boolean copied = (now & NodeTable.COPIED) != 0;
            if (copied && old != 0) {
                items.discard(NodeTable.locationOf(old));
            }
            if ((now & NodeTable.DROPPED) != 0) {
                items.discard(NodeTable.locationOf(now));
                release(node);
            } else {
                table.unmark(node);
            }
        }
        journal.clear();
    }

    @Override
    public long rollback() {
        begun = false;
        for (int i = 0; i < journal.count(); i++) {
            int node = journal.id(i);
            long old = journal.bits(i);
            long now = table.bits(node);
            if ((now & NodeTable.COPIED) != 0) {
                items.discard(NodeTable.locationOf(now));
            }
            if (old == 0) {
                release(node);
            } else {
                table.bits(node, old);
            }
        }
        journal.clear();
        context.pinnedItems.grow(pinnedDatabase, -pinnedSinceBegin);
        pinnedSinceBegin = 0;
        return writtenSinceBegin;
    }

    // --- for the shard

    /** Updates the class of a node whose collection has changed its class. */
    public void penaltyClass(long location, int penaltyClass) {
        items.penaltyClass(location, penaltyClass);
    }

    /** Moves a node out of a segment that is being cleaned. */
    public void move(int node, long location, long millis) {
        assert table.location(node) == location : "node " + node + " is not at " + location;
        isAt(node, items.move(location, millis), 0);
    }

    /** Frees the item of a dying tree's leaf at once; the teardown of the tree frees its id. */
    public void discard(int node, long location) {
        assert table.location(node) == location : "node " + node + " is not at " + location;
        items.discard(location);
        table.node(node, 0, 0, NodeTable.FREED);
    }

    /** Bytes of the journal. */
    long bytes() {
        return journal.bytes();
    }

    /** Frees the memory of the journal. */
    void releaseJournal() {
        journal.release();
    }

    public boolean isBegun() {
        return begun || journal.count() > 0;
    }

    /** The number of nodes of living and dying trees. */
    public long count() {
        return nodes;
    }
}

package io.varve.memory.shard.tree;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.context.ShardContext;

/**
 * The items that hold tree nodes, in a shard's segments or in runs; neither the index nor the expiry refers to them.
 * Guarded by the shard's lock.
 *
 * <pre>
 *  +-------------------------+---------+---------------------------------+
 *  | header: internal is set | node id | the node's bytes: the tree's id |
 *  |                         | 4       | first; as many as the capacity  |
 *  +-------------------------+---------+---------------------------------+
 * </pre>
 */
public final class NodeItems {
    private static final int ID_BYTES = Integer.BYTES;

    private final int number;
    private final ShardContext context;
    private final Segments segments;
    private long datasetBytes;

    public NodeItems(int number, ShardContext context, Segments segments) {
        this.number = number;
        this.context = context;
        this.segments = segments;
    }

    /** Bytes of the item of a node. */
    static long bytes(int capacity) {
        return ItemLayout.size(ID_BYTES, capacity, false);
    }

    /** The id of the node that an internal item holds. */
    public static int nodeOf(long address) {
        return Memory.getInt(ItemLayout.keyAddress(address));
    }

    long address(long location) {
        return context.pool.address(location);
    }

    /**
     * Appends an item, or allocates a run for it, and writes all of it but the node's bytes.
     *
     * @param penaltyClass the class of the collection's root item
     */
    long make(int node, int capacity, int penaltyClass, long nowMillis) {
        int size = ItemLayout.size(ID_BYTES, capacity, false);
        datasetBytes += ID_BYTES + capacity;
        try {
            return size >= context.largeThresholdBytes
                    ? makeLarge(node, capacity, penaltyClass)
                    : append(node, capacity, penaltyClass, size, nowMillis);
        } catch (CacheFullException full) {
            datasetBytes -= ID_BYTES + capacity;
            throw CacheFullException.of(size);
        }
    }

    private long append(int node, int capacity, int penaltyClass, int size, long nowMillis) {
        long location = segments.append(size, Segments.DEFAULT_CLASS, nowMillis);
        write(address(location), node, capacity, penaltyClass, false);
        segments.itemWritten(location, size, Item.NEVER, nowMillis);
        return location;
    }

    private long makeLarge(int node, int capacity, int penaltyClass) {
        LargeRun run = context.pool.largeItems().allocate(ItemLayout.largeHeadroom(ID_BYTES), capacity);
        if (run == null) {
            throw CacheFullException.INSTANCE;
        }
        // It has expiry fields like every large item, but never an expiry time.
        long address = run.address() - (ItemLayout.size(ID_BYTES, capacity, true) - capacity);
        write(address, node, capacity, penaltyClass, true);
        long location = context.pool.largeItems().adopt(run, address, number);
        segments.itemWritten(location, ItemLayout.size(address), Item.NEVER, 0);
        return location;
    }

    private static void write(long address, int node, int capacity, int penaltyClass, boolean expiryFields) {
        ItemLayout.write(address, ItemType.STRING, 0, 0, ID_BYTES, capacity, capacity, expiryFields,
                ItemLayout.stamp(0, penaltyClass));
        ItemLayout.internal(address, true);
        Memory.putInt(ItemLayout.keyAddress(address), node);
    }

    /** Reserves memory for {@code items} items of at most this capacity; false if there is none. */
    boolean reserve(int items, int capacity) {
        return segments.reserved().reserve(items, ItemLayout.size(ID_BYTES, capacity, false),
                context.budget.reserveBytes());
    }

    void endReserve() {
        segments.reserved().end();
    }

    /** Changes an item's capacity in place, if possible. */
    boolean resize(long location, int capacity) {
        int size = ItemLayout.size(ID_BYTES, capacity, false);
        long address = address(location);
        int old = ItemLayout.capacity(address);
        if (size >= context.largeThresholdBytes
                || ItemLayout.isShortCapacity(old) != ItemLayout.isShortCapacity(capacity)
                || !segments.extendTail(location, size)) {
            return false;
        }
        ItemLayout.capacity(address, capacity);
        datasetBytes += capacity - old;
        return true;
    }

    /** Frees an item. */
    void discard(long location) {
        datasetBytes -= ID_BYTES + ItemLayout.capacity(address(location));
        segments.itemRemoved(location);
    }

    /** Sets the penalty class of an item to that of its collection's root item. */
    void penaltyClass(long location, int penaltyClass) {
        segments.penaltyClass(location, penaltyClass);
    }

    /** Moves an item; the caller updates the entry of its id. */
    long move(long location, long nowMillis) {
        long address = address(location);
        int size = ItemLayout.size(address);
        long writtenAt = segments.meanWrittenAtMillis(Location.segment(location));
        long made = segments.appendMoved(size, Segments.DEFAULT_CLASS, nowMillis);
        Memory.copy(address, address(made), size);
        segments.itemWritten(made, size, Item.NEVER, writtenAt);
        segments.itemRemoved(location);
        return made;
    }

    /** Bytes of the ids and of the nodes. */
    public long datasetBytes() {
        return datasetBytes;
    }
}

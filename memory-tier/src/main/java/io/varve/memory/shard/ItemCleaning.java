package io.varve.memory.shard;

import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.LowerTier;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;

/** What becomes of live items that the cleaner meets: they move, are evicted, or go because their time or their database is over. Guarded by the shard's lock. */
final class ItemCleaning {
    private final ShardItems items;
    private final ShardContext context;
    private final Segments segments;
    /** The item that falls. */
    private final Item falling = new Item();
    private long evicted;

    ItemCleaning(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
        this.segments = items.segments();
    }

    /**
     * Evicts a live item that the cleaner found in a segment; it is demoted to the tier below, if there is one that takes it.
     *
     * @return false if its key is pinned: it stays
     */
    boolean evict(long location, long address) {
        int physical = ItemLayout.database(address);
        long hash = items.verifier().hashOf(location);
        if (context.pins.contains(hash)) {
            return false;
        }
        LowerTier lower = context.lower;
        // First, for it may fail: then the item stays what it is. A tree does not fall: its nodes are many.
        boolean gone = lower == null || ItemLayout.isTree(address)
                || !fall(lower, hash, location, address, physical);
        // What fell lives on.
        evicted += gone ? 1 : 0;
        leave(hash, location, address, physical, gone ? Change.EVICTED : Change.FELL);
        return true;
    }

    private void leave(long hash, long location, long address, int physical, Change change) {
        boolean removed = items.index(physical).remove(hash, location);
        assert removed : "the index has lost " + location;
        items.penalties().evicted(hash, physical, ItemLayout.penaltyClass(address));
        items.letGo(location, address, physical, change, true);
    }

    private boolean fall(LowerTier lower, long hash, long location, long address, int physical) {
        items.look(falling, location, address);
        falling.endsAt(TimedHashes.endMillis(address));
        return lower.take(context.databases.epochOfPhysical(physical), hash, falling, ItemLayout.access(address),
                ItemLayout.penaltyClass(address));
    }

    /** Offers a live item, which is no tree, to the tier below; if that takes it, it leaves memory. */
    LowerTier.Answer offer(LowerTier lower, long location, long address) {
        int physical = ItemLayout.database(address);
        long hash = items.verifier().hashOf(location);
        items.look(falling, location, address);
        falling.endsAt(TimedHashes.endMillis(address));
        LowerTier.Answer answer = lower.offer(context.databases.epochOfPhysical(physical), hash, falling,
                ItemLayout.access(address), ItemLayout.penaltyClass(address));
        if (answer == LowerTier.Answer.TAKEN) {
            leave(hash, location, address, physical, Change.FELL);
        }
        return answer;
    }

    /** Whether the item's database was flushed. */
    boolean isDetached(long address) {
        return context.databases.logical(ItemLayout.database(address)) == Databases.DETACHED;
    }

    /** Lets an item of a flushed database go that the cleaner came upon. */
    void reclaim(long location, long address) {
        int physical = ItemLayout.database(address);
        boolean removed = items.index(physical).remove(items.verifier().hashOf(location), location);
        assert removed : "the index has lost " + location;
        items.letGo(location, address, physical, Change.DELETED, false);
    }

    /** Reclaims a live item that the cleaner came upon, if its time has come. */
    boolean expireNow(long location, long address, long nowMillis) {
        if (!items.timed().isGone(address, nowMillis)) {
            return false;
        }
        Change way = items.timed().wayOf(address, nowMillis);
        int physical = ItemLayout.database(address);
        boolean removed = items.index(physical).remove(items.verifier().hashOf(location), location);
        assert removed && way != null : "the index has lost " + location;
        items.goes(location, address, physical, way);
        return true;
    }

    /** Moves a live item to the head for its lifetime; the bytes it had are dead. */
    void move(long location, long address, long nowMillis) {
        int size = ItemLayout.size(address);
        long expireAt = ItemLayout.expireAtMillis(address);
        long writtenAt = segments.meanWrittenAtMillis(Location.segment(location));
        long made = segments.appendMoved(size, ShardItems.lifetimeClass(expireAt, nowMillis), nowMillis);
        long to = items.address(made);
        Memory.copy(address, to, size);
        segments.born(made, size, expireAt, writtenAt);
        boolean replaced = items.index(ItemLayout.database(to)).replace(items.verifier().hashOf(made), location, made);
        assert replaced : "the index has lost " + location;
        if (expireAt != Item.NEVER) {
            items.expiry().relocate(ItemLayout.expiryEntry(to), made);
        }
        if (ItemLayout.isTree(to)) {
            items.trees().moved(to, made);
        }
        segments.died(location);
    }

    long evicted() {
        return evicted;
    }

    void resetStats() {
        evicted = 0;
    }
}

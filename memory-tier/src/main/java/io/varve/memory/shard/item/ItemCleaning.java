package io.varve.memory.shard.item;

import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/** Moves, evicts, demotes, expires or reclaims the live items that the cleaner meets. Guarded by the shard's lock. */
public final class ItemCleaning {
    private final ShardItems items;
    private final ShardContext context;
    private final Segments segments;
    /** The item that is being demoted. */
    private final Item demoted = new Item();
    /** Null if nobody has to know of demotions. */
    private @Nullable DemotionListener listener;
    private long evicted;
    private long removed;

    ItemCleaning(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
        this.segments = items.segments();
    }

    /** Calls this listener before each demotion; null: none. */
    public void beforeDemotions(@Nullable DemotionListener wanted) {
        listener = wanted;
    }

    /**
     * Evicts a live item of the segment that is being cleaned, or demotes it if a secondary tier takes it.
     *
     * @return false if it stays: it or its key is pinned, or the secondary tier keeps all items and does not take it
     */
    public boolean evict(long location, long address) {
        int physical = ItemLayout.database(address);
        long hash = items.verifier().hashOf(location);
        if (ItemLayout.isPinned(address) || context.pins.contains(hash)) {
            return false;
        }
        SecondaryTier secondary = context.secondary();
        // Demotion comes first because it may fail, and the item then stays. Trees are not demoted: they have many
        // nodes.
        boolean isEvicted = secondary == null || ItemLayout.isTree(address)
                || !demote(secondary, hash, location, address, physical);
        if (isEvicted && secondary != null && secondary.keepsAll()) {
            return false;
        }
        // Demoted items do not count as evicted.
        evicted += isEvicted ? 1 : 0;
        removeItem(hash, location, address, physical, isEvicted ? Change.EVICTED : Change.DEMOTED);
        return true;
    }

    private void removeItem(long hash, long location, long address, int physical, Change change) {
        boolean isRemoved = items.index(physical).remove(hash, location);
        assert isRemoved : "the index has no entry for location " + location;
        removed++;
        items.penalties().evicted(hash, physical, ItemLayout.penaltyClass(address));
        items.releaseItem(location, address, physical, change, true);
    }

    private boolean demote(SecondaryTier secondary, long hash, long location, long address, int physical) {
        beforeDemotion(physical, hash);
        items.bind(demoted, location, address);
        demoted.endsAt(TimedHashes.endMillis(address));
        return secondary.take(context.databases.epochOfPhysical(physical), hash, demoted, ItemLayout.access(address),
                ItemLayout.penaltyClass(address));
    }

    private void beforeDemotion(int physical, long hash) {
        if (listener != null) {
            listener.leaving(physical, hash);
        }
    }

    /** Offers a live item, which is no tree, to the secondary tier; if the tier takes it, it leaves memory. */
    public SecondaryTier.Answer offer(SecondaryTier secondary, long location, long address) {
        int physical = ItemLayout.database(address);
        long hash = items.verifier().hashOf(location);
        beforeDemotion(physical, hash);
        items.bind(demoted, location, address);
        demoted.endsAt(TimedHashes.endMillis(address));
        SecondaryTier.Answer answer = secondary.offer(context.databases.epochOfPhysical(physical), hash, demoted,
                ItemLayout.access(address), ItemLayout.penaltyClass(address));
        if (answer == SecondaryTier.Answer.TAKEN) {
            removeItem(hash, location, address, physical, Change.DEMOTED);
        }
        return answer;
    }

    /** Whether the item's database was flushed. */
    public boolean isDetached(long address) {
        return context.databases.logical(ItemLayout.database(address)) == Databases.DETACHED;
    }

    /** Reclaims an item of a flushed database. */
    public void reclaim(long location, long address) {
        int physical = ItemLayout.database(address);
        boolean removed = items.index(physical).remove(items.verifier().hashOf(location), location);
        assert removed : "the index has no entry for location " + location;
        items.releaseItem(location, address, physical, Change.DELETED, false);
    }

    /** Reclaims a live item if it has expired. */
    public boolean expireNow(long location, long address, long nowMillis) {
        if (!items.timed().isDueForRemoval(address, nowMillis)) {
            return false;
        }
        Change cause = items.timed().causeOf(address, nowMillis);
        int physical = ItemLayout.database(address);
        boolean removed = items.index(physical).remove(items.verifier().hashOf(location), location);
        assert removed && cause != null : "the index has no entry for location " + location;
        items.removeExpired(location, address, physical, cause);
        return true;
    }

    /** Moves a live item to the open segment for its lifetime; its old bytes are dead. */
    public void move(long location, long address, long nowMillis) {
        int size = ItemLayout.size(address);
        long expireAt = ItemLayout.expireAtMillis(address);
        long writtenAt = segments.meanWrittenAtMillis(Location.segment(location));
        long made = segments.appendMoved(size, ShardItems.lifetimeClass(expireAt, nowMillis), nowMillis);
        long to = items.address(made);
        Memory.copy(address, to, size);
        segments.itemWritten(made, size, expireAt, writtenAt);
        boolean replaced = items.index(ItemLayout.database(to)).replace(items.verifier().hashOf(made), location, made);
        assert replaced : "the index has no entry for location " + location;
        if (expireAt != Item.NEVER) {
            items.expiry().relocate(ItemLayout.expiryEntry(to), made);
        }
        if (ItemLayout.isTree(to)) {
            items.trees().moved(to, made);
        }
        segments.itemRemoved(location);
    }

    long evicted() {
        return evicted;
    }

    /** The number of items that were evicted or demoted. */
    public long removed() {
        return removed;
    }

    void resetStats() {
        evicted = 0;
    }
}

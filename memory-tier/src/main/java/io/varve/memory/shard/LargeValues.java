package io.varve.memory.shard;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeItems;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;

/**
 * Values of a shard that lie in a run of their own: they grow where they lie, and go to other keys, without a copy. Guarded by the
 * shard's lock.
 */
public final class LargeValues {
    private final Shard shard;
    private final ShardItems items;
    private final ShardContext context;

    LargeValues(Shard shard, ShardContext context) {
        this.shard = shard;
        this.items = shard.items();
        this.context = context;
    }

    /**
     * Gives a large item a longer value where it lies, if there is address space behind it.
     *
     * @return false if a copy is needed
     * @throws CacheFullException if there is no memory for what the value gets longer by
     */
    boolean extend(long location, long address, int encoding, int valueLength) {
        int before = ItemLayout.capacity(address);
        if (!Location.isLarge(location) || valueLength <= before || items.isShared(location)
                || ItemLayout.isShortCapacity(before)) {
            // A short capacity lies in the header, which would need more bytes for a long one.
            return false;
        }
        LargeItems large = context.pool.largeItems();
        LargeRun run = large.run(location);
        if (!large.hasAddressesFor(run, valueLength)) {
            return false;
        }
        large.extend(run, valueLength);
        int capacity = run.capacity();
        items.lengthChanged(ItemLayout.valueLength(address), valueLength);
        // Without slack, as a change of the capacity asks.
        ItemLayout.valueLength(address, before);
        ItemLayout.capacity(address, capacity);
        ItemLayout.valueLength(address, valueLength);
        ItemLayout.encoding(address, encoding);
        items.segments().extendedLarge(location, capacity - before);
        run.adoptedMillis(context.ticker.wallMillis());
        return true;
    }

    /**
     * Gives the run of a found item to another key, in place of what that has; the item's own key goes. Both shards are locked.
     *
     * @param from   of this shard, the key of the item
     * @param target the shard of the other key
     * @param hint   the class of penalty, or {@link ShardPenalties#AUTOMATIC}
     * @param tells  whether a key that was not there is reported as created
     * @return false if a copy is needed: the item is in no run, or there is no room in front of its value for the other key
     * @throws CacheFullException if there is no memory for the other key's entries; the item is as it was
     */
    public boolean move(Key from, Item source, Shard target, Key to, Item written, int hint, long nowMillis,
            boolean tells) {
        if (!Location.isLarge(source.location()) || TimedHashes.isTimed(source.address())) {
            return false;
        }
        LargeRun run = context.pool.largeItems().run(source.location());
        if (run.headRoom() < ItemLayout.largeHeadRoom(to.length())) {
            return false;
        }
        ItemType type = source.type();
        int encoding = source.encoding();
        int length = source.valueLength();
        int capacity = source.capacity();
        long expireAt = source.expireAtMillis();
        // One hold for the other key's item, and one in case that is refused.
        run.retain();
        run.retain();
        try {
            shard.delete(from, nowMillis);
            try {
                target.putRun(to, written, run, type, encoding, length, capacity, expireAt, hint, nowMillis, tells);
            } catch (CacheFullException full) {
                run.retain();
                // Its entries in index and expiry are free again, so this finds room.
                shard.putRun(from, source, run, type, encoding, length, capacity, expireAt, hint, nowMillis, tells);
                throw full;
            }
        } finally {
            run.release();
        }
        return true;
    }
}

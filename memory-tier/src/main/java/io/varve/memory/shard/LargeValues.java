package io.varve.memory.shard;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeItems;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import org.jspecify.annotations.Nullable;

/**
 * Operations on values in a run of their own, which grow in place and move to other keys without a copy. Guarded by the
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

    /** The run of a found item, or null if it is in a segment. */
    public @Nullable ValueRun runOf(Item item) {
        return Location.isLarge(item.location()) ? context.pool.largeItems().run(item.location()) : null;
    }

    /** {@link Shard#put} for a value that is already in a run, whose hold passes to the item. */
    public void put(Key key, Item item, LargeRun run, int encoding, long expireAtMillis, int hint, long nowMillis) {
        if (run.headroom() < ItemLayout.largeHeadroom(key.length())) {
            throw new IllegalArgumentException("A run with " + run.headroom()
                    + " bytes in front of its value has too little space for a key of " + key.length());
        }
        put(key, item, run, ItemType.STRING, encoding, run.length(), run.length(), expireAtMillis, hint, nowMillis,
                true);
    }

    /** {@link Shard#put} for a run with a value of any type. Its capacity is not less than its length. */
    private void put(Key key, Item item, LargeRun run, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis, int hint, long nowMillis, boolean notifies) {
        long expireAt = shard.expireAt(key, expireAtMillis, nowMillis);
        long location = shard.locate(key, nowMillis);
        int penaltyClass = items.penalties().classOfWrite(key, shard.classBefore(location), hint);
        long made = items.adopt(run, key.address(), key.length(), context.databases.physical(key.database()),
                type, encoding, valueLength, capacity, expireAt,
                ItemLayout.stamp(shard.accessOfNew(location, nowMillis), penaltyClass));
        items.link(key, location, made, expireAt != Item.NEVER, expireAt, nowMillis);
        items.penalties().written();
        if (notifies) {
            items.changes().notifyIfCreated(key, location);
        }
        items.bind(item, made, items.address(made));
    }

    /**
     * Lengthens the value of a large item in place, if there is address space behind it.
     *
     * @return false if a copy is needed
     * @throws CacheFullException if there is no memory for the additional bytes
     */
    boolean extend(long location, long address, int encoding, int valueLength) {
        int before = ItemLayout.capacity(address);
        if (!Location.isLarge(location) || valueLength <= before || items.isShared(location)
                || ItemLayout.isShortCapacity(before)) {
            // A short capacity is in the header, which would have to grow for a long one.
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
        // Changing the capacity requires a value without slack.
        ItemLayout.valueLength(address, before);
        ItemLayout.capacity(address, capacity);
        ItemLayout.valueLength(address, valueLength);
        ItemLayout.encoding(address, encoding);
        items.segments().extendedLarge(location, capacity - before);
        items.pins().grown(address, capacity - before);
        run.adoptedMillis(context.ticker.wallMillis());
        return true;
    }

    /**
     * Moves the run of a found item to another key, in place of its value, and deletes the item's own key. Both shards
     * are locked.
     *
     * @param from the key of the item, in this shard
     * @param target the shard of the other key
     * @param hint the penalty class, or {@link io.varve.memory.shard.learning.ShardPenalties#AUTOMATIC}
     * @param notifies whether listeners are notified if the other key is new
     * @return false if a copy is needed: the item has no run, or the other key does not fit before its value
     * @throws CacheFullException if there is no memory for the other key's entries; the item is unchanged
     */
    public boolean move(Key from, Item source, Shard target, Key to, Item written, int hint, long nowMillis,
            boolean notifies) {
        if (!Location.isLarge(source.location()) || TimedHashes.isTimed(source.address())) {
            return false;
        }
        LargeRun run = context.pool.largeItems().run(source.location());
        if (run.headroom() < ItemLayout.largeHeadroom(to.length())) {
            return false;
        }
        ItemType type = source.type();
        int encoding = source.encoding();
        int length = source.valueLength();
        int capacity = source.capacity();
        long expireAt = source.expireAtMillis();
        boolean isPinned = ItemLayout.isPinned(source.address());
        // One hold for the other key's item, and one in case of a refusal.
        run.retain();
        run.retain();
        try {
            shard.delete(from, nowMillis);
            try {
                target.largeValues().put(to, written, run, type, encoding, length, capacity, expireAt, hint, nowMillis,
                        notifies);
            } catch (CacheFullException full) {
                run.retain();
                // Its entries in index and expiry were just freed, so this succeeds.
                put(from, source, run, type, encoding, length, capacity, expireAt, hint, nowMillis, notifies);
                if (isPinned) {
                    items.pins().pin(source, Long.MAX_VALUE);
                }
                throw full;
            }
        } finally {
            run.release();
        }
        return true;
    }
}

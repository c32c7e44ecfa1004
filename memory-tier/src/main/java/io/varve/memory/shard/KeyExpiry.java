package io.varve.memory.shard;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;

/** Changes the expiry times of keys. Guarded by the shard's lock. */
public final class KeyExpiry {
    private final ShardItems items;

    KeyExpiry(ShardItems items) {
        this.items = items;
    }

    /** Sets or removes a found item's expiry time; may move the item. */
    public void expire(Key key, Item item, long expireAtMillis, long nowMillis) {
        long expireAt = Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        boolean expired = item.expires();
        boolean isTimed = TimedHashes.isTimed(item.address());
        boolean counted = TimedHashes.countsAsTimed(item.address());
        long examineAt = isTimed ? items.timed().examineAtMillis(item.address(), expireAt) : expireAt;
        setExamineAt(key, item, examineAt, nowMillis);
        items.expires(item.address(), expired, expireAt != Item.NEVER);
        if (isTimed) {
            items.timed().count(item.address(), counted, TimedHashes.countsAsTimed(item.address()));
            TimedHashes.expireAtMillis(item.address(), expireAt);
            items.bind(item, item.location(), item.address());
        }
    }

    /** Sets the time at which the cycle examines a found item; may move it. */
    void setExamineAt(Key key, Item item, long millis, long nowMillis) {
        long location = item.location();
        if (!ItemLayout.hasExpiryFields(item.address()) && millis != Item.NEVER) {
            location = withExpiryFields(key, item, millis, nowMillis);
        }
        items.changeExpiry(location, items.address(location), millis, nowMillis);
        items.bind(item, location, items.address(location));
    }

    /**
     * Adds the ten bytes of expiry fields: in place at the tail of an open segment, else by a copy in the open
     * segment for its lifetime.
     */
    private long withExpiryFields(Key key, Item item, long expireAt, long nowMillis) {
        long location = item.location();
        int size = ItemLayout.size(item.address()) + ItemLayout.EXPIRY_BYTES;
        if (items.segments().extendTail(location, size, ShardItems.lifetimeClass(expireAt, nowMillis))) {
            return inPlace(location, item.address());
        }
        try {
            return copyWithExpiryFields(key, item, expireAt, nowMillis);
        } catch (CacheFullException full) {
            if (!items.segments().extendTail(location, size)) {
                throw full;
            }
            return inPlace(location, item.address());
        }
    }

    private long inPlace(long location, long address) {
        ItemLayout.insertExpiryFields(address);
        items.pins().grown(address, ItemLayout.EXPIRY_BYTES);
        return location;
    }

    private long copyWithExpiryFields(Key key, Item item, long expireAt, long nowMillis) {
        long made = items.make(item.keyAddress(), item.keyLength(), ItemLayout.database(item.address()), item.type(),
                item.encoding(), item.valueLength(), item.capacity(), expireAt, ItemLayout.stamp(item.address()),
                nowMillis);
        long madeAddress = items.address(made);
        items.segments().expiryChanged(made, expireAt, Item.NEVER, nowMillis);
        ItemLayout.expireAtMillis(madeAddress, Item.NEVER);
        Memory.copy(item.valueAddress(), ItemLayout.valueAddress(madeAddress), item.valueLength());
        items.replace(key.hash(), item.location(), made);
        return made;
    }
}

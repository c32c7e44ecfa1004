package io.varve.memory.shard.item;

import io.varve.memory.expiry.ExpiryOwner;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;

/** The shard's {@link ExpiryOwner}: it removes expired items and due hash fields. Guarded by the shard's lock. */
final class Expirer implements ExpiryOwner {
    private final ShardItems items;
    /** The change that the next expired item is reported as. */
    private Change cause = Change.EXPIRED;

    /** @param items the shard's items, not fully constructed yet */
    Expirer(ShardItems items) {
        this.items = items;
    }

    @Override
    public long expireAtMillis(long location) {
        return ItemLayout.expireAtMillis(items.address(location));
    }

    @Override
    public void entryMoved(long location, int entry) {
        ItemLayout.expiryEntry(items.address(location), entry);
    }

    @Override
    public long expireDue(long location, long nowMillis) {
        long address = items.address(location);
        long left = items.timed().removeDue(location, address, nowMillis);
        if (left == EXPIRED) {
            Change known = items.timed().causeOf(address, nowMillis);
            cause = known == null ? Change.EXPIRED : known;
        }
        return left;
    }

    @Override
    public void expire(long location) {
        long address = items.address(location);
        int physical = ItemLayout.database(address);
        boolean removed = items.index(physical).remove(items.verifier().hashOf(location), location);
        assert removed : "the index has no entry for location " + location;
        items.countExpired(cause, address);
        items.expires(address, TimedHashes.expireAtMillis(address) != Item.NEVER, false);
        items.timed().count(address, TimedHashes.countsAsTimed(address), false);
        items.pins().remove(address);
        items.notifyAndFree(cause, location, address, physical);
    }
}

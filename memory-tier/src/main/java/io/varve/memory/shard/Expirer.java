package io.varve.memory.shard;

import io.varve.memory.expiry.ExpiryOwner;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;

/** The shard as the owner of what expires. Guarded by the shard's lock. */
final class Expirer implements ExpiryOwner {
    private final ShardItems items;
    /** As what the item goes that is to. */
    private Change way = Change.EXPIRED;

    /** @param items is not complete yet */
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
    public long pastItsTime(long location, long nowMillis) {
        long address = items.address(location);
        long left = items.timed().removeDue(location, address, nowMillis);
        if (left == GOES) {
            Change known = items.timed().wayOf(address, nowMillis);
            way = known == null ? Change.EXPIRED : known;
        }
        return left;
    }

    @Override
    public void expire(long location) {
        long address = items.address(location);
        int physical = ItemLayout.database(address);
        boolean removed = items.index(physical).remove(items.verifier().hashOf(location), location);
        assert removed : "the index has lost " + location;
        items.countExpired(way, address);
        items.expires(address, TimedHashes.expireAtMillis(address) != Item.NEVER, false);
        items.timed().count(address, TimedHashes.countsAsTimed(address), false);
        items.tellAndAbandon(way, location, address, physical);
    }
}

package io.varve.memory.shard.item;

import io.varve.memory.index.KeyVerifier;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.context.ShardContext;

/** Answers the index's questions about the items at its locations. Guarded by the shard's lock. */
final class ItemsByLocation implements KeyVerifier {
    private final ShardContext context;

    ItemsByLocation(ShardContext context) {
        this.context = context;
    }

    @Override
    public boolean matches(long location, long keyAddress, int keyLength) {
        long address = address(location);
        long header = ItemLayout.header(address);
        return ItemLayout.keyLengthOf(address, header) == keyLength
                && Memory.equal(ItemLayout.keyAddressOf(address, header), keyAddress, keyLength);
    }

    @Override
    public long hashOf(long location) {
        long address = address(location);
        long header = ItemLayout.header(address);
        return context.keyHash.hash(ItemLayout.keyAddressOf(address, header), ItemLayout.keyLengthOf(address, header));
    }

    @Override
    public int secondHash(long keyAddress, int keyLength) {
        return context.keyHash.second(keyAddress, keyLength);
    }

    @Override
    public int secondHashOf(long location) {
        long address = address(location);
        return context.keyHash.second(ItemLayout.keyAddress(address), ItemLayout.keyLength(address));
    }

    @Override
    public long touch(long location) {
        // A large item's address comes from a table on the heap: there is nothing to prefetch.
        return Location.isLarge(location) ? location : Memory.getLong(address(location));
    }

    private long address(long location) {
        return context.pool.address(location);
    }
}

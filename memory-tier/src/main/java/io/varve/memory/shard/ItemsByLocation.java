package io.varve.memory.shard;

import io.varve.memory.index.KeyVerifier;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;

/** What the index asks about the items behind its locations. Guarded by the shard's lock. */
final class ItemsByLocation implements KeyVerifier {
    private final ShardContext context;

    ItemsByLocation(ShardContext context) {
        this.context = context;
    }

    @Override
    public boolean matches(long location, long keyAddress, int keyLength) {
        long address = address(location);
        return ItemLayout.keyLength(address) == keyLength
                && Memory.equal(ItemLayout.keyAddress(address), keyAddress, keyLength);
    }

    @Override
    public long hashOf(long location) {
        long address = address(location);
        return context.keyHash.hash(ItemLayout.keyAddress(address), ItemLayout.keyLength(address));
    }

    private long address(long location) {
        return context.pool.address(location);
    }
}

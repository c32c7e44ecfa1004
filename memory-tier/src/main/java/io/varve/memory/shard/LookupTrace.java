package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.index.SearchTrace;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.context.ShardContext;

/**
 * The memory of index and items that a read of a small item touches, for measurements of cache misses. Stateless.
 *
 * <p>It omits what all reads share, such as the word of the shard's lock and the index's own fields.
 */
public final class LookupTrace {
    private LookupTrace() {}

    /** Receives the ranges of memory in the order in which a read touches them. */
    public interface Visitor {
        /** A bucket of the index. */
        void bucket(long address, int bytes);

        /** An item with the key's tag: the searched one is the last. */
        void item(long address, int bytes);

        /** The search of the index goes on in entries beyond its buckets, which are not visited. */
        void overflow();
    }

    /** Follows the read of a key. The caller holds the lock of its shard. */
    public static void follow(ShardContext context, Shard shard, Key key, Visitor visitor) {
        Index index = shard.items().indexOrNull(context.databases.physical(key.database()));
        if (index != null) {
            SearchTrace.follow(index, key.hash(), new Search(context, key, visitor));
        }
    }

    /** Compares the key of each candidate. */
    private record Search(ShardContext context, Key key, Visitor visitor) implements SearchTrace.Visitor {
        @Override
        public void bucket(long address, int bytes) {
            visitor.bucket(address, bytes);
        }

        @Override
        public boolean candidate(long location) {
            if (Location.isLarge(location)) {
                return false;
            }
            long address = context.pool.address(location);
            int bytes = ItemLayout.shortSizeOf(Memory.peekLong(address));
            if (bytes < 0) {
                return false;
            }
            visitor.item(address, bytes);
            return ItemLayout.keyLength(address) == key.length()
                    && Memory.equal(ItemLayout.keyAddress(address), key.address(), key.length());
        }

        @Override
        public void overflow() {
            visitor.overflow();
        }
    }
}

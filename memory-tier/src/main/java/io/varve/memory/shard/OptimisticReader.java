package io.varve.memory.shard;

import java.util.Objects;

import io.varve.memory.index.Index;
import io.varve.memory.index.IndexCandidates;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.SegmentPool;
import io.varve.memory.shard.context.LookupCounters;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.context.ShardLock;
import io.varve.memory.shard.item.ShardItems;
import org.jspecify.annotations.Nullable;

/**
 * Reads small items without the lock of their shard. Confined to one thread.
 *
 * <p>It copies an item to memory of its own and then checks that no thread has held the lock meanwhile. The copy is
 * thus the item at one moment, whatever other threads do: overwrite, delete, expire, move, evict, demote or rehash. A
 * command then runs on the copy. It leaves an expired item, and what is not in one place, to a read under the lock.
 */
public final class OptimisticReader {
    /** More than any item whose header holds the lengths of key and capacity. */
    private static final long BUFFER_BYTES = Regions.MIN_BYTES;

    private static final long MAX_LAG_MILLIS = 8_000;

    private final ShardContext context;
    private final SegmentPool pool;
    private final LookupCounters lookups;
    private final IndexCandidates candidates = new IndexCandidates();
    private final long buffer;
    /** The shard of the last {@link #copy}; null before the first. */
    private @Nullable Shard shard;
    private long version;
    private boolean isFound;
    private long header;
    private long location;
    private long hash;
    /** The time of the last read that renewed a clock. */
    private long renewedMillis;

    /** @param buffer the address of {@link Regions#MIN_BYTES} bytes of its own */
    public OptimisticReader(ShardContext context, long buffer) {
        assert ItemLayout.maxShortSize() <= BUFFER_BYTES;
        this.context = context;
        pool = context.pool;
        lookups = context.newLookupCounters();
        this.buffer = buffer;
    }

    /**
     * Copies the item of a key. The copy may be a mixture, and absence may be wrong, until {@link #confirm}.
     *
     * @return false if only a read under the lock can tell
     */
    public boolean copy(Shard keyShard, Key key) {
        shard = keyShard;
        hash = key.hash();
        version = keyShard.lockWord().version();
        isFound = false;
        if (version == ShardLock.NO_VERSION || key.length() > ItemLayout.MAX_SHORT_KEY) {
            return false;
        }
        Index index = keyShard.items().indexOrNull(context.databases.physical(key.database()));
        return index == null || copy(index, key);
    }

    private boolean copy(Index index, Key key) {
        candidates.search(index, hash);
        for (long next = candidates.next(); next != Index.NONE; next = candidates.next()) {
            // SAFETY: the location may be garbage, and so may be the size in the header at it.
            if (next == IndexCandidates.UNKNOWN || Location.isLarge(next) || !pool.holds(next)
                    || !pool.holds(next, Long.BYTES)) {
                return false;
            }
            long address = pool.address(next);
            long found = Memory.peekLong(address);
            int size = ItemLayout.shortSizeOf(found);
            if (size < 0 || !pool.holds(next, size) || isElsewhere(found)) {
                return false;
            }
            Memory.putLong(buffer, found);
            Memory.peekCopy(address + Long.BYTES, buffer + Long.BYTES, size - Long.BYTES);
            if (ItemLayout.shortKeyLengthOf(found) == key.length()
                    && Memory.equal(ItemLayout.keyAddressOf(buffer, found), key.address(), key.length())) {
                header = found;
                location = next;
                isFound = true;
                return true;
            }
        }
        return true;
    }

    /**
     * Whether the copy is the item, or the key is absent, as of now: nobody has held the lock since {@link #copy}.
     * False also if the item has expired.
     */
    public boolean confirm(long nowMillis) {
        return shard().lockWord().isUnchanged(version)
                && !(isFound && ShardItems.isExpired(ItemLayout.expireAtMillisOf(buffer, header), nowMillis));
    }

    /** Whether an item with this header is more than its bytes: a tree, or a hash whose fields expire. */
    private static boolean isElsewhere(long header) {
        return ItemLayout.isTreeOf(header) || ItemLayout.encodingOf(header) == Item.TIMED
                && ItemLayout.typeOf(header) == ItemType.HASH.code();
    }

    /** Whether there is an item. */
    public boolean isFound() {
        return isFound;
    }

    /** Points a flyweight at the copy. @return whether there is an item */
    public boolean peek(Key key, Item item) {
        assert key.hash() == hash : "a copy of another key";
        if (isFound) {
            shard().items().bind(item, location, buffer, header);
        }
        return isFound;
    }

    /** As {@link #peek}; counts a hit or a miss. */
    public boolean find(Key key, Item item) {
        if (peek(key, item)) {
            lookups.hit();
        } else {
            lookups.miss();
        }
        return isFound;
    }

    /**
     * Renews the access clock of the item, under the lock. If anybody has held the lock since {@link #copy}, the clock
     * stays as it is: the item may have moved, and a later read renews it.
     *
     * <p>If nothing is evicted, only idle times depend on the clock. Then one read in each millisecond renews a clock
     * of an earlier second, and the others only a clock that is {@link #MAX_LAG_MILLIS} behind. Idle times are exact
     * where reads are few, and locks are few where reads are many.
     */
    public void touch(long nowMillis) {
        Shard itsShard = shard();
        long lag = itsShard.access().clockLagMillis(header, nowMillis);
        if (lag == 0 || lag < MAX_LAG_MILLIS && nowMillis == renewedMillis && !context.evictionPolicy().evicts()) {
            return;
        }
        ShardLock lock = itsShard.lockWord();
        if (lock.tryLockUnchanged(version)) {
            renewedMillis = nowMillis;
            try {
                itsShard.access().touch(pool.address(location), header, nowMillis);
            } finally {
                lock.unlock();
            }
        }
    }

    private Shard shard() {
        return Objects.requireNonNull(shard);
    }
}

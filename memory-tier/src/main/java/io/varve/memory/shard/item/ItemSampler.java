package io.varve.memory.shard.item;

import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;

/** Samples random items of a shard, for eviction and for commands such as RANDOMKEY. Guarded by the shard's lock. */
public final class ItemSampler {
    /** The most unsuitable items sampled before a search under the lock ends; each costs a read of an item. */
    public static final int MAX_FAILURES = 4096;

    private final ShardItems items;
    private final ShardContext context;
    private long failures;

    ItemSampler(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    /** A live item chosen at random from all databases, or {@link Index#NONE}. */
    public long any() {
        long total = 0;
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = items.indexOrNull(physical);
            total += index == null ? 0 : index.size();
        }
        if (total == 0) {
            return Index.NONE;
        }
        long pick = Long.remainderUnsigned(items.nextRandom(), total);
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = items.indexOrNull(physical);
            long size = index == null ? 0 : index.size();
            if (pick < size && index != null) {
                return of(index);
            }
            pick -= size;
        }
        return Index.NONE;
    }

    /** An item of one database chosen at random, or {@link Index#NONE}. */
    public long of(Index index) {
        // A spot is empty with a probability of at most a few in five (the load), or nine in ten after mass deletion.
        for (int tries = 0; tries < 256; tries++) {
            long location = index.sample(items.nextRandom());
            if (location != Index.NONE) {
                return location;
            }
        }
        // Finds an item that is alone in the smallest table: without it, eviction would find nothing.
        return index.sampleNearby(items.nextRandom());
    }

    /**
     * A large item chosen at random, or {@link Index#NONE}. All large items are equally likely, however many small ones
     * there are.
     */
    public long large() {
        long location = context.pool.largeItems().sample(items.number(), items.random());
        return location == Location.NONE ? Index.NONE : location;
    }

    /**
     * A random live item whose key has an expiry time, or {@link Index#NONE}. It may fail although there is one: if
     * nearly all expiry entries belong to hashes whose fields have times but whose keys have none.
     *
     * @param max the most items to read
     */
    public long expiring(long max) {
        if (!isAnyExpiring()) {
            return Index.NONE;
        }
        Expiry expiry = items.expiry();
        for (int tries = 0; tries < max; tries++) {
            long location = expiry.sample(items.nextRandom());
            if (TimedHashes.expireAtMillis(items.address(location)) != Item.NEVER) {
                return location;
            }
            failures++;
        }
        return Index.NONE;
    }

    /** The number of unsuitable items that {@link #expiring} has sampled. */
    public long failures() {
        return failures;
    }

    private boolean isAnyExpiring() {
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            if (items.expiringOf(physical) > 0) {
                return true;
            }
        }
        return false;
    }
}

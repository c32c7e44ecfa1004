package io.varve.memory.shard;

import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.segment.Location;

/** Draws items of a shard at random, for eviction and for clients that ask for any key. Guarded by the shard's lock. */
final class ItemSampler {
    /** So many are drawn in vain, each a look at some item, before a search under the lock ends. */
    static final int MOST_IN_VAIN = 4096;

    private final ShardItems items;
    private final ShardContext context;
    private long inVain;

    ItemSampler(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    /** A live item drawn at random from all databases, or {@link Index#NONE}. */
    long any() {
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

    /** An item of one database drawn at random, or {@link Index#NONE}. */
    long of(Index index) {
        // A spot is empty with a probability of at most a few in five (the load), or nine in ten after mass deletion.
        for (int tries = 0; tries < 256; tries++) {
            long location = index.sample(items.nextRandom());
            if (location != Index.NONE) {
                return location;
            }
        }
        // One item alone in the smallest table: without it, eviction would find nobody to go.
        return index.sampleNearby(items.nextRandom());
    }

    /** A large item drawn at random, or {@link Index#NONE}: each large one is as likely as the others, however many small there are. */
    long large() {
        long location = context.pool.largeItems().draw(items.number(), items.random());
        return location == Location.NONE ? Index.NONE : location;
    }

    /**
     * A live item whose key has an expiry time, drawn at random, or {@link Index#NONE}. Where nearly all that is looked at by time are
     * hashes whose fields have times, while their keys have none, it may not be found although it is there.
     *
     * @param most how many are looked at
     */
    long expiring(long most) {
        if (!isAnyExpiring()) {
            return Index.NONE;
        }
        Expiry expiry = items.expiry();
        for (int tries = 0; tries < most; tries++) {
            long location = expiry.sample(items.nextRandom());
            if (TimedHashes.expireAtMillis(items.address(location)) != Item.NEVER) {
                return location;
            }
            inVain++;
        }
        return Index.NONE;
    }

    /** How many were drawn by {@link #expiring} and are not of that kind. */
    long inVain() {
        return inVain;
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

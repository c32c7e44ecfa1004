package io.varve.memory.shard;

import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.segment.Location;

/** Draws items of a shard at random, for eviction and for clients that ask for any key. Guarded by the shard's lock. */
final class ItemSampler {
    private final ShardItems items;
    private final ShardContext context;

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

    /** A live item with an expiry time drawn at random, or {@link Index#NONE}. */
    long expiring() {
        Expiry expiry = items.expiry();
        return expiry.size() == 0 ? Index.NONE : expiry.sample(items.nextRandom());
    }
}

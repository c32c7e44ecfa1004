package io.varve.memory;

import java.util.SplittableRandom;
import java.util.function.IntPredicate;

import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.item.KeySlots;
import io.varve.memory.shard.Shard;

/**
 * Visits the items of a database in all shards: in the order of a cursor, or one at random. Confined to the thread of
 * its session; it holds a shard's lock for a few index buckets at a time.
 */
final class KeyspaceScan {
    /** Index buckets visited under one hold of a shard's lock. */
    private static final int BUCKETS_PER_HOLD = 16;
    /** Empty index buckets that a scan skips for each requested item, as in Redis. */
    private static final long BUCKETS_PER_COUNT = 10;
    private static final int RANDOM_TRIES = 100;

    private final Shard[] shards;
    private final ShardRouter router;
    private final SplittableRandom random = new SplittableRandom();
    private final Item visited = new Item();

    KeyspaceScan(Shard[] shards, ShardRouter router) {
        this.shards = shards;
        this.router = router;
    }

    /** See {@link CacheSession#scan}. */
    long scan(int database, long cursor, int count, long nowMillis, ItemVisitor visitor) {
        int shardBits = router.shardBits();
        long bucketsLeft = Math.max(BUCKETS_PER_HOLD, count * BUCKETS_PER_COUNT);
        long[] visits = {0};
        long at = cursor;
        do {
            int number = (int) (at & shards.length - 1);
            Shard shard = shards[number];
            long inIndex = at >>> shardBits;
            shard.lock();
            try {
                for (int i = 0; i < BUCKETS_PER_HOLD && visits[0] < count; i++) {
                    inIndex = shard.keyspace().scan(database, inIndex, nowMillis, location -> {
                        shard.keyspace().bind(location, visited);
                        visitor.visit(visited);
                        visits[0]++;
                    });
                    bucketsLeft--;
                    if (inIndex == 0) {
                        break;
                    }
                }
            } finally {
                shard.unlock();
            }
            if (inIndex != 0) {
                at = inIndex << shardBits | number;
            } else if (number + 1 < shards.length) {
                at = number + 1L;
            } else {
                return 0;
            }
        } while (visits[0] < count && bucketsLeft > 0);
        return at;
    }

    /** See {@link CacheSession#scanSlots}. */
    long scanSlots(int database, int slot, IntPredicate wanted, long cursor, long nowMillis, ItemVisitor visitor) {
        KeySlots slots = router.slots();
        if (slots == null) {
            throw new IllegalStateException("keys have no slots");
        }
        Shard shard = shards[router.shardOfSlot(slot)];
        long at = cursor;
        shard.lock();
        try {
            for (int i = 0; i < BUCKETS_PER_HOLD; i++) {
                at = shard.keyspace().scan(database, at, nowMillis, location -> {
                    shard.keyspace().bind(location, visited);
                    if (wanted.test(slots.slot(visited.keyAddress(), visited.keyLength()))) {
                        visitor.visit(visited);
                    }
                });
                if (at == 0) {
                    break;
                }
            }
        } finally {
            shard.unlock();
        }
        return at;
    }

    /** See {@link CacheSession#random}. */
    boolean random(int database, long nowMillis, ItemVisitor visitor) {
        for (int tries = 0; tries < RANDOM_TRIES; tries++) {
            int number = randomShard(database);
            if (number < 0) {
                return false;
            }
            Shard shard = shards[number];
            shard.lock();
            try {
                long location = shard.keyspace().random(database, nowMillis);
                if (location != Index.NONE) {
                    shard.keyspace().bind(location, visited);
                    visitor.visit(visited);
                    return true;
                }
            } finally {
                shard.unlock();
            }
        }
        return false;
    }

    /** A random shard, chosen with the weight of its items, or -1 if none has any. */
    private int randomShard(int database) {
        long total = 0;
        int chosen = -1;
        for (int i = 0; i < shards.length; i++) {
            shards[i].lock();
            long size;
            try {
                size = shards[i].keyspace().size(database);
            } finally {
                shards[i].unlock();
            }
            total += size;
            if (size > 0 && random.nextLong(total) < size) {
                chosen = i;
            }
        }
        return chosen;
    }
}

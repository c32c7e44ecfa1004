package io.varve.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Key;
import io.varve.memory.maintenance.LazyFree;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.memory.report.Epochs;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardLocks;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Operations on whole logical databases: sizes, flushes, swaps and epochs. Thread-safe: it locks the shards, all of
 * them for a change.
 */
final class CacheDatabases {
    /** Indexes for keys to come take at most this part of the free memory. */
    private static final int MAX_PART_FOR_EXPECTED = 4;

    private final ShardContext context;
    private final Shard[] shards;
    private final ShardRouter router;
    private final LazyFree lazyFree;
    private final int databaseCount;
    /** The scan that a flush aborts. Guarded by the locks of all shards. */
    private @Nullable ShardedPointInTimeScan scan;

    CacheDatabases(ShardContext context, Shard[] shards, ShardRouter router, LazyFree lazyFree) {
        this.context = context;
        this.shards = shards;
        this.router = router;
        this.lazyFree = lazyFree;
        databaseCount = context.databases.count();
    }

    /** See {@link Cache#size}. */
    long size(int database) {
        long size = 0;
        for (Shard shard : shards) {
            shard.lock();
            try {
                size += shard.keyspace().size(database);
            } finally {
                shard.unlock();
            }
        }
        return size;
    }

    /** See {@link Cache#size}. */
    long size(int database, LongUnaryOperator onSecondary) {
        long[] size = new long[1];
        boolean counted = underAllLocks(() -> {
            for (Shard shard : shards) {
                size[0] += shard.keyspace().size(database);
            }
            size[0] += onSecondary.applyAsLong(context.databases.epoch(database));
            return true;
        });
        assert counted;
        return size[0];
    }

    /** See {@link Cache#expiringSize}. */
    long expiringSize(int database) {
        long size = 0;
        for (Shard shard : shards) {
            shard.lock();
            try {
                size += shard.keyspace().expiringSize(database);
            } finally {
                shard.unlock();
            }
        }
        return size;
    }

    /** See {@link Cache#expectKeys}. */
    void expectKeys(int database, int shard, long keys) {
        long maxBytes = context.budget.availableBytes() / MAX_PART_FOR_EXPECTED / shards.length;
        shards[shard].lock();
        try {
            shards[shard].keyspace().expect(database, keys, maxBytes);
        } finally {
            shards[shard].unlock();
        }
    }

    /** See {@link Cache#expectNoKeys}. */
    void expectNoKeys() {
        for (Shard shard : shards) {
            shard.lock();
            try {
                for (int database = 0; database < databaseCount; database++) {
                    shard.keyspace().expectNoMore(database);
                }
            } finally {
                shard.unlock();
            }
        }
    }

    /** See {@link Cache#flush}. */
    void flush(int database) {
        while (!underAllLocks(() -> detach(database))) {
            // More flushes are in flight than physical databases: this one helps to finish the others.
            reclaimSlice();
        }
    }

    /** Must not hold a shard's lock: the lock order is the lazy-free lock first. */
    private void reclaimSlice() {
        if (shards[0].isLockedByMe()) {
            throw CacheFullException.INSTANCE;
        }
        lazyFree.reclaimSlice();
    }

    /** See {@link Cache#prepareFlushes}. */
    void prepareFlushes(int count) {
        int wanted = Math.min(count, Databases.PHYSICAL - databaseCount);
        while (!underAllLocks(() -> context.databases.free() >= wanted)) {
            reclaimSlice();
        }
    }

    private boolean detach(int database) {
        ending(database);
        if (!holdsAny(database)) {
            context.databases.renew(database);
        } else if (!isDetached(database)) {
            return false;
        }
        context.notifyFlushed(database);
        return true;
    }

    private void ending(int database) {
        if (scan != null) {
            scan.ending(context.databases.epoch(database));
        }
    }

    /** @return false if too few physical databases are free */
    private boolean isDetached(int database) {
        int physical = context.databases.physical(database);
        if (!context.databases.detach(database)) {
            return false;
        }
        if (scan != null) {
            scan.detached(physical);
        }
        return true;
    }

    /** See {@link Cache#scanAtOneMoment}. */
    PointInTimeScan scanAtOneMoment(ItemCapture target) {
        ShardedPointInTimeScan[] begun = new ShardedPointInTimeScan[1];
        boolean isOnly = underAllLocks(() -> {
            if (scan != null) {
                return false;
            }
            scan = new ShardedPointInTimeScan(shards, context, target, this::scanClosed);
            begun[0] = scan;
            return true;
        });
        if (!isOnly) {
            throw new IllegalStateException("another point-in-time scan is open");
        }
        return begun[0];
    }

    private void scanClosed() {
        boolean closed = underAllLocks(() -> {
            scan = null;
            return true;
        });
        assert closed;
    }

    /** See {@link Cache#flushAll}. */
    void flushAll() {
        while (!underAllLocks(this::detachAll)) {
            reclaimSlice();
        }
    }

    /**
     * Detaches all databases that hold items, or none. It holds the locks of all shards, so a key that is being moved
     * to another database or shard is in exactly one of them.
     *
     * @return false if too few physical databases are free to replace them
     */
    private boolean detachAll() {
        int full = 0;
        for (int i = 0; i < databaseCount; i++) {
            full += holdsAny(i) ? 1 : 0;
        }
        if (context.databases.free() < full) {
            return false;
        }
        for (int i = 0; i < databaseCount; i++) {
            ending(i);
            if (holdsAny(i)) {
                boolean detached = isDetached(i);
                assert detached : "enough were free";
            } else {
                context.databases.renew(i);
            }
            context.notifyFlushed(i);
        }
        return true;
    }

    private boolean holdsAny(int database) {
        for (Shard shard : shards) {
            if (shard.keyspace().size(database) > 0) {
                return true;
            }
        }
        return false;
    }

    /** See {@link Cache#swap}. */
    void swap(int first, int second) {
        boolean swapped = underAllLocks(() -> {
            boolean done = context.databases.swap(first, second);
            if (first != second) {
                context.notifySwapped(first, second, this::hasKey);
            }
            return done;
        });
        assert swapped;
    }

    /** The caller holds the locks of all shards. */
    private boolean hasKey(int database, byte[] name) {
        long bytes = Math.max(Regions.MIN_BYTES, Long.highestOneBit(name.length) << 1);
        long copy = context.regions.allocate(bytes);
        if (copy == 0) {
            // The caller must assume the worst.
            return true;
        }
        try {
            Memory.copy(name, 0, copy, name.length);
            CacheSession session = new InMemorySession(shards, router, context, context.ticker.wallMillis());
            Key key = new Key();
            session.bind(key, database, copy, name.length);
            return session.peek(key, new Item());
        } finally {
            context.regions.free(copy, bytes);
        }
    }

    private boolean underAllLocks(BooleanSupplier action) {
        ShardLocks.lockAll(shards);
        try {
            return action.getAsBoolean();
        } finally {
            for (Shard shard : shards) {
                shard.unlock();
            }
        }
    }

    /** See {@link Cache#epochs}. */
    Epochs epochs() {
        List<Long> epochs = new ArrayList<>();
        long[] next = new long[1];
        boolean read = underAllLocks(() -> {
            for (int i = 0; i < databaseCount; i++) {
                epochs.add(context.databases.epoch(i));
            }
            next[0] = context.databases.nextEpoch();
            return true;
        });
        assert read;
        return new Epochs(epochs, next[0]);
    }

    /** See {@link Cache#resume}. */
    void resume(Epochs epochs) {
        if (epochs.ofDatabases().size() != databaseCount) {
            throw new IllegalArgumentException(
                    "Epochs of " + epochs.ofDatabases().size() + " databases where there are "
                            + databaseCount);
        }
        boolean resumed = underAllLocks(() -> {
            context.databases.resume(epochs.ofDatabases().stream().mapToLong(Long::longValue).toArray(),
                    epochs.next());
            return true;
        });
        assert resumed;
    }

    /** See {@link Cache#renewEpochs}. */
    void renewEpochs(Runnable meanwhile) {
        boolean renewed = underAllLocks(() -> {
            if (scan != null) {
                scan.abort();
            }
            for (int i = 0; i < databaseCount; i++) {
                context.databases.renew(i);
                context.notifyLost(i);
            }
            meanwhile.run();
            return true;
        });
        assert renewed;
    }
}

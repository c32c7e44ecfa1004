package io.varve.memory;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.learning.CurveLearning;
import io.varve.memory.learning.DemandController;
import io.varve.memory.learning.PenaltyLearning;
import io.varve.memory.maintenance.KeyspaceStats;
import io.varve.memory.maintenance.LazyFree;
import io.varve.memory.maintenance.MaintenanceTasks;
import io.varve.memory.maintenance.MemoryReclaimer;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardSet;
import io.varve.memory.shard.context.ShardContext;

/**
 * The background work of a cache: expiry, rehashing, reclaiming flushed databases, freeing nodes of deleted
 * collections, cleaning, returning memory to the system, scanning for statistics, and demoting penalty classes in a
 * valley. Run by one thread at a time. It holds a shard's lock for at most 200 µs at a time and yields to waiting
 * threads after each hold that did work.
 *
 * <p>An expiry cycle begins every {@code expire-cycle-ms}, at whole multiples of it by the wall clock, and may take a
 * quarter of that time, as in Redis. The next cycle continues with the rest. A time bucket as wide as some cycles
 * therefore ends exactly when a cycle begins, and its items do not wait for another cycle. The other work runs between
 * cycles.
 */
final class Maintenance {
    private static final long SLICE_NANOS = 200_000;
    private static final long EXPIRY_SHARE = 4;
    private static final int REHASH_BUCKETS = 64;
    /** A shard that was held at each attempt for this long is waited for. */
    private static final long HELD_AT_MOST_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long NOT_HELD = Long.MIN_VALUE;
    /**
     * Without pressure, a segment is cleaned if at least this share of it is dead. Cleaning then moves at most two
     * bytes for each byte gained, and so for each byte written...
     */
    private static final double IDLE_DEAD_SHARE = 1.0 / 3;
    /** ... and pages of free segments return to the system this long after they were freed. */
    private static final long TRIM_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShardContext context;
    private final Shard[] shards;
    private final MemoryReclaimer reclaimer;
    private final LazyFree lazyFree;
    private final KeyspaceStats keyspaceStats;
    private final PenaltyLearning penalties;
    private final CurveLearning learning;
    private final DemandController demand;
    private volatile long cycleNanos;
    private volatile boolean activeExpire;
    private volatile boolean returnRequested;
    /** The shards that were held when this round tried them. */
    private final ShardSet held;
    /** Since when a shard has been held at every attempt; {@link #NOT_HELD} if the last attempt succeeded. */
    private final long[] heldSinceNanos;
    private final AtomicLong limitedCycles = new AtomicLong();
    private long nextCycleNanos;
    private long nextTrimNanos;
    /** Whether the present cycle has left work behind. */
    private boolean limited;

    Maintenance(ShardContext context, Shard[] shards, MemoryReclaimer reclaimer, LazyFree lazyFree,
            KeyspaceStats keyspaceStats,
            PenaltyLearning penalties, CurveLearning learning, DemandController demand, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.reclaimer = reclaimer;
        this.lazyFree = lazyFree;
        this.keyspaceStats = keyspaceStats;
        this.penalties = penalties;
        this.learning = learning;
        this.demand = demand;
        held = new ShardSet(shards.length);
        heldSinceNanos = new long[shards.length];
        Arrays.fill(heldSinceNanos, NOT_HELD);
        this.nextCycleNanos = context.ticker.nanoTime();
        this.nextTrimNanos = nextCycleNanos + TRIM_NANOS;
        reconfigure(config);
    }

    void reconfigure(CacheConfig config) {
        cycleNanos = TimeUnit.MILLISECONDS.toNanos(config.expireCycleMillis());
        activeExpire = config.activeExpire();
    }

    /** Makes the next round return all free memory to the system. */
    void returnFreeMemorySoon() {
        returnRequested = true;
    }

    /** Expiry cycles that ended at their time limit with work left. */
    long limitedCycles() {
        return limitedCycles.get();
    }

    /**
     * Runs one round.
     *
     * @param pause runs after each hold of a lock that did work
     * @return nanoseconds until the next round is useful; 0 if there is more to do at once
     * @throws RuntimeException the first failure of a task, after all others have run; an Error likewise
     */
    long run(Runnable pause) {
        MaintenanceTasks maintenanceTasks = new MaintenanceTasks();
        held.clear();
        long now = context.ticker.nanoTime();
        if (now - nextCycleNanos >= 0) {
            nextCycleNanos = now + nanosToNextCycle();
            if (activeExpire && context.removesExpired()) {
                expireCycle(now + cycleNanos / EXPIRY_SHARE, pause, maintenanceTasks);
            }
        }
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            maintenanceTasks.attempt(() -> rehashSlice(shard, pause));
        }
        maintenanceTasks.attempt(() -> reclaimSlice(pause));
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            maintenanceTasks.attempt(() -> freeSlice(shard, pause));
        }
        maintenanceTasks.attempt(() -> keepReserve(pause));
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            maintenanceTasks.attempt(() -> cleanSlice(shard, pause));
        }
        maintenanceTasks.attempt(() -> keyspaceStats.slice(pause));
        maintenanceTasks.attempt(() -> {
            penalties.slice(pause);
            return false;
        });
        maintenanceTasks.attempt(() -> {
            learning.slice(pause);
            return false;
        });
        maintenanceTasks.attempt(() -> demand.slice(pause));
        trim(maintenanceTasks);
        maintenanceTasks.throwFailure();
        return maintenanceTasks.more() ? 0 : Math.max(0, nextCycleNanos - context.ticker.nanoTime());
    }

    /** The time to the next multiple of the cycle time by the wall clock. */
    private long nanosToNextCycle() {
        long cycleMillis = TimeUnit.NANOSECONDS.toMillis(cycleNanos);
        return cycleNanos
                - TimeUnit.MILLISECONDS.toNanos(Math.floorMod(context.ticker.wallMillis(), cycleMillis));
    }

    /** Runs one expiry cycle. The next cycle continues its rest, so it never reports more work to do at once. */
    private void expireCycle(long limitNanos, Runnable pause, MaintenanceTasks maintenanceTasks) {
        long nowMillis = context.ticker.wallMillis();
        limited = false;
        ShardSet begun = new ShardSet(shards.length);
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            maintenanceTasks.attempt(() -> {
                if (beginExpiryCycle(shard, nowMillis)) {
                    begun.add(shard);
                }
                return false;
            });
        }
        for (int i = 0; i < shards.length; i++) {
            // Each shard may use an equal part of the remaining time, so that a busy one does not starve the others.
            long start = context.ticker.nanoTime();
            long end = start + Math.max(SLICE_NANOS, (limitNanos - start) / (shards.length - i));
            int shard = i;
            maintenanceTasks.attempt(() -> {
                limited |= !begun.contains(shard) || !expireShard(shard, nowMillis, end, pause);
                return false;
            });
        }
        if (limited) {
            limitedCycles.incrementAndGet();
        }
    }

    /**
     * Locks a shard, unless another thread holds it for long: its work then waits for the next round.
     *
     * @return false if the shard is held
     */
    private boolean lock(int shard) {
        if (held.contains(shard)) {
            return false;
        }
        if (!shards[shard].lockWithin(Shard.DEFAULT_NAPS, false)) {
            long now = context.ticker.nanoTime();
            long since = heldSinceNanos[shard];
            if (since == NOT_HELD || now - since < HELD_AT_MOST_NANOS) {
                heldSinceNanos[shard] = since == NOT_HELD ? now : since;
                held.add(shard);
                return false;
            }
            shards[shard].lock();
        }
        heldSinceNanos[shard] = NOT_HELD;
        return true;
    }

    private boolean beginExpiryCycle(int shard, long nowMillis) {
        if (!lock(shard)) {
            return false;
        }
        try {
            shards[shard].upkeep().beginExpiryCycle(nowMillis);
        } finally {
            shards[shard].unlock();
        }
        return true;
    }

    private boolean expireShard(int shard, long nowMillis, long endNanos, Runnable pause) {
        while (true) {
            long now = context.ticker.nanoTime();
            if (now - endNanos >= 0) {
                return false;
            }
            boolean done;
            if (!lock(shard)) {
                return false;
            }
            try {
                done = shards[shard].upkeep().expirySlice(nowMillis, Math.min(endNanos, now + SLICE_NANOS));
            } finally {
                shards[shard].unlock();
            }
            // After a shard's last slice too: the next shard's slice follows at once.
            pause.run();
            if (done) {
                return true;
            }
        }
    }

    private boolean rehashSlice(int shard, Runnable pause) {
        boolean moved;
        if (!lock(shard)) {
            return false;
        }
        try {
            moved = shards[shard].upkeep().rehashSlice(REHASH_BUCKETS);
        } finally {
            shards[shard].unlock();
        }
        if (moved) {
            pause.run();
        }
        return moved;
    }

    private boolean reclaimSlice(Runnable pause) {
        boolean more = lazyFree.reclaimSlice();
        if (more) {
            pause.run();
        }
        return more;
    }

    /** Frees nodes of deleted collections. */
    private boolean freeSlice(int shard, Runnable pause) {
        long before = context.ticker.nanoTime();
        boolean more;
        if (!lock(shard)) {
            return false;
        }
        try {
            more = shards[shard].reclaim().freeSlice(before + SLICE_NANOS);
        } finally {
            shards[shard].unlock();
        }
        if (more) {
            pause.run();
        }
        return more;
    }

    private boolean keepReserve(Runnable pause) {
        boolean more = reclaimer.reclaimAhead(pause);
        if (reclaimer.reclaimForTable()) {
            more = true;
            pause.run();
        }
        return more;
    }

    /** Cleans a segment that is worth it. */
    private boolean cleanSlice(int shard, Runnable pause) {
        boolean cleaned;
        if (!lock(shard)) {
            return false;
        }
        try {
            cleaned = shards[shard].cleaner().compactSlice(context.ticker.wallMillis(),
                    context.ticker.nanoTime() + SLICE_NANOS, IDLE_DEAD_SHARE);
        } finally {
            shards[shard].unlock();
        }
        if (cleaned) {
            pause.run();
        }
        return cleaned;
    }

    private void trim(MaintenanceTasks maintenanceTasks) {
        long now = context.ticker.nanoTime();
        boolean returnAll = returnRequested;
        if (returnAll) {
            // Reset here and not below: a request during this round is for the next one.
            returnRequested = false;
        }
        if (returnAll || now - nextTrimNanos >= 0) {
            nextTrimNanos = now + TRIM_NANOS;
            long nowMillis = context.ticker.wallMillis();
            for (int i = 0; i < shards.length; i++) {
                int shard = i;
                maintenanceTasks.attempt(() -> {
                    closeOpenSegments(shard, nowMillis, returnAll);
                    return false;
                });
            }
            maintenanceTasks.attempt(() -> {
                if (returnAll) {
                    context.pool.returnMemory(Long.MAX_VALUE);
                } else {
                    context.pool.trim();
                }
                return false;
            });
        }
        maintenanceTasks.attempt(() -> {
            context.regions.discardRetired();
            return false;
        });
    }

    private void closeOpenSegments(int shard, long nowMillis, boolean emptyOnes) {
        if (!lock(shard)) {
            return;
        }
        try {
            shards[shard].upkeep().closeIdleSegments(nowMillis);
            if (emptyOnes) {
                shards[shard].upkeep().freeEmptyOpenSegments();
            }
        } finally {
            shards[shard].unlock();
        }
    }
}

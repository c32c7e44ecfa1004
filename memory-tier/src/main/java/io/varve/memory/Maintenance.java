package io.varve.memory;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;

/**
 * What has to be done without anyone asking: expiry, rehash, reclaiming flushed databases, freeing the nodes of collections that have gone, cleaning, giving memory
 * back, counting what nobody keeps count of, dumping what nobody asks for at this time of the day. Run by one thread at a time; each hold of a shard's lock lasts
 * 200 µs at most, and after each in which work was done whoever waits may go first.
 *
 * <p>An expiry cycle begins every {@code expire-cycle-ms}, at whole multiples of it by the clock of expiry times, and may take a quarter
 * of that time, as in Redis; what is left over goes on in the next. So a time bucket as wide as some cycles ends as one of them
 * begins, and what is in it does not wait for another. The rest runs between cycles, as much of it as there is.
 */
final class Maintenance {
    private static final long SLICE_NANOS = 200_000;
    private static final long EXPIRY_SHARE = 4;
    private static final int REHASH_BUCKETS = 64;
    /** ... unless one was always held when it was its turn: then it is waited for. */
    private static final long HELD_AT_MOST_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long NOT_HELD = Long.MIN_VALUE;
    /**
     * Without pressure a segment is worth cleaning when this share of it is dead: then no more than two bytes are moved for
     * one that is gained, and so for one that is written...
     */
    private static final double IDLE_DEAD_SHARE = 1.0 / 3;
    /** ... and free segments' pages go back to the system this long after they were freed. */
    private static final long TRIM_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShardContext context;
    private final Shard[] shards;
    private final Room room;
    private final Reclaimer reclaimer;
    private final Census census;
    private final PenaltyLearning penalties;
    private final CurveLearning learning;
    private final DemandWatch demand;
    private volatile long cycleNanos;
    private volatile boolean activeExpire;
    private volatile boolean giveBackAsked;
    /** Those that were held when it came to them in the round that is under way. */
    private final ShardSet held;
    /** Since when one has been held whenever it came; {@link #NOT_HELD} if it was not the last time. */
    private final long[] heldSinceNanos;
    private final AtomicLong limitedCycles = new AtomicLong();
    private long nextCycleNanos;
    private long nextTrimNanos;
    /** Whether the cycle that runs has left work behind. */
    private boolean limited;

    Maintenance(ShardContext context, Shard[] shards, Room room, Reclaimer reclaimer, Census census,
            PenaltyLearning penalties, CurveLearning learning, DemandWatch demand, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.room = room;
        this.reclaimer = reclaimer;
        this.census = census;
        this.penalties = penalties;
        this.learning = learning;
        this.demand = demand;
        held = new ShardSet(shards.length);
        heldSinceNanos = new long[shards.length];
        Arrays.fill(heldSinceNanos, NOT_HELD);
        this.nextCycleNanos = context.ticker().nanoTime();
        this.nextTrimNanos = nextCycleNanos + TRIM_NANOS;
        reconfigure(config);
    }

    void reconfigure(CacheConfig config) {
        cycleNanos = TimeUnit.MILLISECONDS.toNanos(config.expireCycleMillis());
        activeExpire = config.activeExpire();
    }

    /** The next round gives back all that is free. */
    void giveBackSoon() {
        giveBackAsked = true;
    }

    /** Expiry cycles that ended at their time limit with work left. */
    long limitedCycles() {
        return limitedCycles.get();
    }

    /**
     * One round.
     *
     * @param giveWay done after each hold of a lock in which work was done
     * @return nanoseconds until the next round is of use; 0 if there is more to do at once
     * @throws RuntimeException what went wrong in a chore first, after all the others have been done; an Error likewise
     */
    long run(Runnable giveWay) {
        Chores chores = new Chores();
        held.clear();
        long now = context.ticker().nanoTime();
        if (now - nextCycleNanos >= 0) {
            nextCycleNanos = now + nanosToNextCycle();
            if (activeExpire) {
                expireCycle(now + cycleNanos / EXPIRY_SHARE, giveWay, chores);
            }
        }
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            chores.attempt(() -> rehashSlice(shard, giveWay));
        }
        chores.attempt(() -> reclaimSlice(giveWay));
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            chores.attempt(() -> freeSlice(shard, giveWay));
        }
        chores.attempt(() -> keepReserve(giveWay));
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            chores.attempt(() -> cleanSlice(shard, giveWay));
        }
        chores.attempt(() -> census.slice(giveWay));
        chores.attempt(() -> {
            penalties.slice(giveWay);
            return false;
        });
        chores.attempt(() -> {
            learning.slice(giveWay);
            return false;
        });
        chores.attempt(() -> demand.slice(giveWay));
        trim(chores);
        chores.throwFailure();
        return chores.more() ? 0 : Math.max(0, nextCycleNanos - context.ticker().nanoTime());
    }

    /** One cycle's time, less what has passed of it by the clock of expiry times. */
    private long nanosToNextCycle() {
        long cycleMillis = TimeUnit.NANOSECONDS.toMillis(cycleNanos);
        return cycleNanos
                - TimeUnit.MILLISECONDS.toNanos(Math.floorMod(context.ticker().wallMillis(), cycleMillis));
    }

    /** What it leaves is the next cycle's, so that there is never more of it to do at once. */
    private void expireCycle(long limitNanos, Runnable giveWay, Chores chores) {
        long nowMillis = context.ticker().wallMillis();
        limited = false;
        ShardSet begun = new ShardSet(shards.length);
        for (int i = 0; i < shards.length; i++) {
            int shard = i;
            chores.attempt(() -> {
                if (beginExpiryCycle(shard, nowMillis)) {
                    begun.add(shard);
                }
                return false;
            });
        }
        for (int i = 0; i < shards.length; i++) {
            // Each shard may use an equal part of what is left, so that none starves behind a busy one.
            long start = context.ticker().nanoTime();
            long end = start + Math.max(SLICE_NANOS, (limitNanos - start) / (shards.length - i));
            int shard = i;
            chores.attempt(() -> {
                limited |= !begun.contains(shard) || !expireShard(shard, nowMillis, end, giveWay);
                return false;
            });
        }
        if (limited) {
            limitedCycles.incrementAndGet();
        }
    }

    /** Locks a shard, unless another thread holds it for long; false if so: what there is to do for it waits for the next round. */
    private boolean lock(int shard) {
        if (held.contains(shard)) {
            return false;
        }
        if (!shards[shard].lockWithin(Shard.PATIENCE_NAPS, false)) {
            long now = context.ticker().nanoTime();
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

    private boolean expireShard(int shard, long nowMillis, long endNanos, Runnable giveWay) {
        while (true) {
            long now = context.ticker().nanoTime();
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
            // Behind a shard's last slice too: the next shard's follows at once.
            giveWay.run();
            if (done) {
                return true;
            }
        }
    }

    private boolean rehashSlice(int shard, Runnable giveWay) {
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
            giveWay.run();
        }
        return moved;
    }

    private boolean reclaimSlice(Runnable giveWay) {
        boolean more = reclaimer.reclaimSlice();
        if (more) {
            giveWay.run();
        }
        return more;
    }

    /** Frees nodes of collections that have gone. */
    private boolean freeSlice(int shard, Runnable giveWay) {
        long before = context.ticker().nanoTime();
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
            giveWay.run();
        }
        return more;
    }

    private boolean keepReserve(Runnable giveWay) {
        boolean more = room.keepAhead(giveWay);
        if (room.makeRoomForTable()) {
            more = true;
            giveWay.run();
        }
        return more;
    }

    /** Cleans what is worth it. */
    private boolean cleanSlice(int shard, Runnable giveWay) {
        boolean cleaned;
        if (!lock(shard)) {
            return false;
        }
        try {
            cleaned = shards[shard].cleaner().compactSlice(context.ticker().wallMillis(),
                    context.ticker().nanoTime() + SLICE_NANOS, IDLE_DEAD_SHARE);
        } finally {
            shards[shard].unlock();
        }
        if (cleaned) {
            giveWay.run();
        }
        return cleaned;
    }

    private void trim(Chores chores) {
        long now = context.ticker().nanoTime();
        boolean asked = giveBackAsked;
        if (asked) {
            // Here and not below: who asks while this round is under way asks for the next.
            giveBackAsked = false;
        }
        if (asked || now - nextTrimNanos >= 0) {
            nextTrimNanos = now + TRIM_NANOS;
            long nowMillis = context.ticker().wallMillis();
            for (int i = 0; i < shards.length; i++) {
                int shard = i;
                chores.attempt(() -> {
                    closeHeads(shard, nowMillis, asked);
                    return false;
                });
            }
            chores.attempt(() -> {
                if (asked) {
                    context.pool().giveBack(Long.MAX_VALUE);
                } else {
                    context.pool().trim();
                }
                return false;
            });
        }
        chores.attempt(() -> {
            context.regions().discardRetired();
            return false;
        });
    }

    private void closeHeads(int shard, long nowMillis, boolean emptyOnes) {
        if (!lock(shard)) {
            return;
        }
        try {
            shards[shard].upkeep().closeIdleHeads(nowMillis);
            if (emptyOnes) {
                shards[shard].upkeep().freeEmptyHeads();
            }
        } finally {
            shards[shard].unlock();
        }
    }
}

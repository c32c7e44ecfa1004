package io.varve.memory;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.segment.LargeItems;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Whether there is room under maxmemory for what a command may write, and how it is made. Many threads: it holds no
 * state but counters, and works on one shard's lock at a time.
 *
 * <p>A write never makes room while it holds locks: nothing may move then. So the room is made before, with some in
 * reserve: one segment for each shard (any write may need a fresh head) and a few for the cleaner to move to. What is
 * left of maxmemory below that reserve is not used, which costs under two percent of it (the sizing of segments sees to
 * that: shards × heads × size is at most a thirty-second).
 */
final class Room {
    /** How long one hold of a shard's lock may last, ns. */
    private static final long SLICE_NANOS = 200_000;
    private static final int SEGMENTS_TO_MOVE_TO = 2;
    /** What is kept uncharged for what is no segment: a few slabs of time buckets, index tables as they begin. */
    private static final long UNSEGMENTED_BYTES = 64 << 10;

    /** Of free segments: to give back more in one go would take longer than a slice. */
    private static final long GIVEN_BACK_AT_ONCE_BYTES = 1 << 20;

    /** Maintenance makes room ahead of the writers up to this part of maxmemory. */
    private static final int AHEAD_PART = 64;
    /** What was refused may be a table that is out of proportion: at most this part of maxmemory is freed for it. */
    private static final int MOST_PART_FOR_REFUSED = 4;
    /** How long nobody tries to make room for a table where nothing may go: each try would cost a write a slice. */
    private static final int QUIET_MILLIS = 100;

    private final ShardContext context;
    private final Shard[] shards;
    private final Reclaimer reclaimer;
    /** The shard that the next thread begins with; and the one that makes room for a larger table. */
    private final AtomicInteger turn = new AtomicInteger();
    private final AtomicInteger tableTurn = new AtomicInteger();
    /** Maintenance's. */
    private final Turn ahead;
    /** How many turns in a row gained nothing for a table, and since when nobody tries after one in each shard. */
    private final AtomicInteger fruitlessTurns = new AtomicInteger();
    private volatile long quietFromMillis = Long.MIN_VALUE / 2;

    Room(ShardContext context, Shard[] shards, Reclaimer reclaimer) {
        this.context = context;
        this.shards = shards;
        this.reclaimer = reclaimer;
        ahead = new Turn();
    }

    /** Whether {@link #admit} has nothing to do: there is room, and what is no segment would find some uncharged too. */
    boolean isAmple(long bytes) {
        if (context.refusedBytes().get() != 0 || context.deferredBytes().get() != 0) {
            return false;
        }
        long left = context.budget().leftBytes();
        long spare = left - reserveBytes() - charge(bytes);
        return spare >= 0 || left >= UNSEGMENTED_BYTES && bytes < context.largeThresholdBytes()
                && spare + context.pool().freeBytes() >= 0;
    }

    /** What is charged for a value of so many bytes: one in a run of its own takes whole pages. */
    private long charge(long bytes) {
        return bytes < context.largeThresholdBytes() ? bytes : LargeItems.roundUpToPage(bytes);
    }

    /** The bytes that an item takes: whole pages, or its part of a segment with its share of the unused end. */
    long takenBy(long itemBytes) {
        if (itemBytes >= context.largeThresholdBytes()) {
            return LargeItems.roundUpToPage(itemBytes);
        }
        int segmentBytes = context.pool().segmentBytes();
        return segmentBytes / (segmentBytes / itemBytes);
    }

    /** Whether {@code valueBytes} more can be written for certain; makes room as the policy allows. */
    boolean admit(long valueBytes) {
        if (isAmple(valueBytes)) {
            return true;
        }
        long bytes = charge(valueBytes);
        assert Arrays.stream(shards).noneMatch(Shard::isLockedByMe) : "room is made without locks";
        if (bytes > context.budget().limitBytes() - reserveBytes()) {
            // It could evict everything and would not fit all the same.
            return false;
        }
        long wanted = bytes
                + Math.min(context.takeRefusedBytes(), context.budget().limitBytes() / MOST_PART_FOR_REFUSED);
        if (leftBytes() < wanted && !makeRoom(wanted, bytes) && leftBytes() < bytes) {
            return false;
        }
        makeRoomForTable();
        uncharge(wanted - bytes + (bytes >= context.largeThresholdBytes() ? bytes : 0));
        return true;
    }

    /**
     * The same beside items that are spared because a command works on them. If it cannot fit beside those, and beside what no eviction
     * brings back, nothing is evicted.
     *
     * @param pinnedBytes of the items that are spared
     */
    boolean admit(long bytes, long pinnedBytes) {
        if (isAmple(bytes)) {
            return true;
        }
        long most = context.budget().limitBytes() - reserveBytes() - pinnedBytes - structureBytes();
        return bytes <= most && admit(bytes);
    }

    /** Bytes that no eviction brings back: tables of indexes, time buckets, and memory that is charged for other tiers. */
    private long structureBytes() {
        long items = context.pool().bytes() + context.pool().largeItems().chargedBytes();
        // Memory on its way back to the system is charged until it is there.
        return Math.max(0, context.budget().chargedBytes() - items - context.regions().deferredBytes());
    }

    /**
     * {@link #admit} where nobody goes for it: not now, and not when maintenance makes room ahead of the next writes. While an index waits for a larger table all that is free
     * is for that.
     */
    boolean admitFree(long bytes) {
        if (context.deferredBytes().get() != 0) {
            return false;
        }
        long ahead = aheadBytes(reserveBytes(), context.budget().limitBytes());
        return leftBytes() - ahead >= bytes + context.refusedBytes().get() && admit(bytes);
    }

    /**
     * A slice of the work for the larger table that an index was refused. It can wait, and whoever made all of the room at once
     * would keep a request waiting for as long as it takes to clean a good part of the cache. So maintenance works at it, and
     * every write a little.
     *
     * @return whether there may be more to do
     */
    boolean makeRoomForTable() {
        long deferred = context.deferredBytes().get();
        if (deferred == 0) {
            return false;
        }
        long wanted = Math.min(deferred, context.budget().limitBytes() / MOST_PART_FOR_REFUSED)
                + context.budget().reserveBytes();
        if (context.budget().leftBytes() >= wanted) {
            // The index asks again, at its next insert or when maintenance comes by.
            context.deferredBytes().compareAndSet(deferred, 0);
            return false;
        }
        if (leftBytes() + reserveBytes() >= wanted && context.pool().giveBack(GIVEN_BACK_AT_ONCE_BYTES) > 0) {
            return true;
        }
        long now = context.ticker().wallMillis();
        long quiet = now - quietFromMillis;
        if (quiet >= 0 && quiet < QUIET_MILLIS) {
            return false;
        }
        if (releaseDeferred() || gainForTable(now)) {
            fruitlessTurns.set(0);
            // To be asked again: with those that went, the index may be crowded no more.
            context.deferredBytes().compareAndSet(deferred, 0);
            return true;
        }
        if (fruitlessTurns.incrementAndGet() < shards.length) {
            return true;
        }
        // Nothing goes in any shard: the index is to ask again, and nobody tries meanwhile.
        fruitlessTurns.set(0);
        quietFromMillis = now;
        context.deferredBytes().compareAndSet(deferred, 0);
        return false;
    }

    /** Whether {@code bytes} that are no segment fit as it is. Locks no shard: free segments are given back at most. */
    boolean isThereFor(long bytes) {
        long left = context.budget().leftBytes() - reserveBytes();
        if (left >= bytes) {
            return true;
        }
        if (left + context.pool().freeBytes() < bytes) {
            return false;
        }
        uncharge(bytes);
        return true;
    }

    /** Bytes that can still be written, beyond the reserve; negative when the reserve is being used. */
    long leftBytes() {
        return context.budget().leftBytes() + context.pool().freeBytes() - reserveBytes();
    }

    long reserveBytes() {
        return reserveBytes(shards.length, context.pool().segmentBytes());
    }

    static long reserveBytes(int shards, int segmentBytes) {
        return (long) (shards + SEGMENTS_TO_MOVE_TO) * segmentBytes;
    }

    /**
     * What is left alone by who can wait, such as a larger table: the reserve of writes that have begun, and what maintenance
     * keeps ahead of them. Were that taken too, the next writes would have to make room themselves, all at a time.
     */
    static long keptBytes(int shards, int segmentBytes, long limitBytes) {
        long reserve = reserveBytes(shards, segmentBytes);
        return reserve + aheadBytes(reserve, limitBytes);
    }

    private static long aheadBytes(long reserve, long limitBytes) {
        return Math.min(reserve, limitBytes / AHEAD_PART);
    }

    /** Whether maintenance should make room, so that writers need not: once more the reserve, but little of maxmemory. */
    boolean isShort() {
        return leftBytes() < aheadBytes(reserveBytes(), context.budget().limitBytes());
    }

    /**
     * Free segments stay charged, because the next segment is taken from them. A large run, an index table or a slab of
     * time buckets is not, so enough of them are given back.
     */
    private void uncharge(long bytes) {
        long missing = Math.max(bytes, UNSEGMENTED_BYTES) - context.budget().leftBytes();
        if (missing > 0) {
            context.pool().giveBack(missing);
        }
    }

    /**
     * Reclaims what was flushed, then cleans and evicts, shard by shard, until there is room.
     *
     * @param needed what a command cannot do without, bytes: less than is wanted
     * @return false if a whole round over the shards gained nothing
     */
    private boolean makeRoom(long wanted, long needed) {
        while (leftBytes() < wanted && (releaseDeferred() || reclaimer.reclaimSlice())) {
            // Each slice is work done: there is an end to it.
            Thread.onSpinWait();
        }
        long now = context.ticker().wallMillis();
        Turn mine = new Turn();
        while (leftBytes() < wanted) {
            if (!releaseDeferred() && !gain(mine, now) && !gainAnywhere(now, needed)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Gives back what has gone and is still charged, or waits until another thread has: nobody goes for want of memory that is
     * on its way.
     */
    private boolean releaseDeferred() {
        if (context.regions().deferredBytes() == 0) {
            return false;
        }
        long before = context.budget().leftBytes();
        return context.regions().discardRetired() > 0 || context.budget().leftBytes() > before;
    }

    /**
     * Works ahead of the writers, who have to do it themselves where maintenance falls behind. By one thread.
     *
     * @param giveWay done after each slice, without a lock
     * @return whether anything was gained
     */
    boolean keepAhead(Runnable giveWay) {
        boolean any = false;
        boolean gained = true;
        for (int i = 0; gained && i < shards.length && context.evictionPolicy().evicts() && isShort(); i++) {
            gained = gain(ahead, context.ticker().wallMillis());
            any |= gained;
            giveWay.run();
        }
        return any;
    }

    /**
     * One slice of work in the shard whose turn it is; false if it gained nothing. A shard keeps its turn until it holds a
     * segment less: most of what it empties is moved, to a fresh segment at first, so who went round the shards slice by slice
     * would empty one in each of them before the first is gained.
     */
    private boolean gain(Turn mine, long nowMillis) {
        Shard shard = lockNext(mine);
        if (shard == null) {
            return false;
        }
        try {
            if (mine.isOver) {
                mine.isOver = false;
                shard.cleaner().beginTurn();
            }
            boolean gained = pressureSlice(shard, nowMillis);
            mine.isOver = !gained || shard.cleaner().isTurnOver();
            return gained;
        } finally {
            shard.unlock();
        }
    }

    /** The shard whose turn it is, or the next one if others hold that for long; null if they hold all. */
    private @Nullable Shard lockNext(Turn mine) {
        for (int i = 0; i < shards.length; i++) {
            if (mine.isOver) {
                mine.shard = shards[Math.floorMod(turn.getAndIncrement(), shards.length)];
            }
            if (mine.shard.lockWithin(Shard.PATIENCE_NAPS, false)) {
                return mine.shard;
            }
            mine.isOver = true;
        }
        return null;
    }

    /** Where a thread that makes room is at. Confined to it. */
    private final class Turn {
        private Shard shard = shards[0];
        private boolean isOver = true;
    }

    /** The same for many threads that do one slice each, one after the other in the same shard. */
    private boolean gainForTable(long nowMillis) {
        int at = tableTurn.get();
        Shard shard = shards[Math.floorMod(at, shards.length)];
        if (!shard.lockWithin(Shard.PATIENCE_NAPS, false)) {
            tableTurn.compareAndSet(at, at + 1);
            return false;
        }
        try {
            boolean gained = pressureSlice(shard, nowMillis);
            if (!gained || shard.cleaner().isTurnOver()) {
                tableTurn.compareAndSet(at, at + 1);
            }
            return gained;
        } finally {
            shard.unlock();
        }
    }

    /**
     * One slice of work in the first shard that gains by it; false if none does.
     *
     * @param needed if none gains anything and there is less room than this, bytes, shards that others hold for long are waited for
     */
    private boolean gainAnywhere(long nowMillis, long needed) {
        ShardSet held = new ShardSet(shards.length);
        for (int i = 0; i < shards.length; i++) {
            if (!shards[i].lockWithin(Shard.PATIENCE_NAPS, false)) {
                held.add(i);
            } else if (gainLocked(shards[i], nowMillis)) {
                return true;
            }
        }
        for (int i = held.next(0); i >= 0 && leftBytes() < needed; i = held.next(i + 1)) {
            shards[i].lock();
            if (gainLocked(shards[i], nowMillis)) {
                return true;
            }
        }
        return false;
    }

    private boolean gainLocked(Shard locked, long nowMillis) {
        try {
            return pressureSlice(locked, nowMillis);
        } finally {
            locked.unlock();
        }
    }

    private boolean pressureSlice(Shard locked, long nowMillis) {
        return locked.cleaner().pressureSlice(nowMillis, context.ticker().nanoTime() + SLICE_NANOS);
    }
}

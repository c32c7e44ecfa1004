package io.varve.memory.maintenance;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.item.LockWait;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.segment.LargeItems;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardSet;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a command's writes fit under maxmemory and evicts if they do not. Thread-safe: it has no state but
 * counters, and locks one shard at a time.
 *
 * <p>A write never evicts while it uses items, because no item may move then. Memory is therefore freed before the
 * command, with a reserve: one segment for each thread that may write at the same time, because any write may need a
 * fresh open segment, and a few for the cleaner to move items to. The next write that is admitted frees what this one
 * took. A command that opens more segments than the reserve has is refused memory and runs again. Maxmemory below the
 * reserve stays unused. It costs less than two percent, because segment sizing keeps eight shards × open segments ×
 * size to at most 1/32 of maxmemory.
 */
public final class MemoryReclaimer {
    /** The longest hold of a shard's lock, ns. */
    private static final long SLICE_NANOS = 200_000;
    private static final int SEGMENTS_TO_MOVE_TO = 2;
    /** Threads that may write at the same time: the event loops, as many as processors by default. */
    private static final int WRITERS = Math.max(8, Runtime.getRuntime().availableProcessors());
    /** Uncharged memory kept for allocations other than segments: a few slabs of time buckets, initial index tables. */
    private static final long UNSEGMENTED_BYTES = 64 << 10;

    /** The most bytes of free segments returned in one call: more would take longer than a slice. */
    private static final long GIVEN_BACK_AT_ONCE_BYTES = 1 << 20;

    /** Maintenance frees memory ahead of the writers up to this part of maxmemory. */
    private static final int AHEAD_PART = 64;
    /** A refused allocation may be a table out of proportion: at most this part of maxmemory is freed for it. */
    private static final int MAX_PART_FOR_REFUSED = 4;
    /**
     * How long no thread tries to free memory for a table after nothing could be evicted: each try would cost a write a
     * slice.
     */
    private static final int QUIET_MILLIS = 100;
    /** The slices in each shard that may gain nothing while items stay that the secondary tier does not take. */
    private static final int MAX_FRUITLESS_SLICES = 64;

    private final ShardContext context;
    private final Shard[] shards;
    private final LazyFree lazyFree;
    /** The shard that the next thread begins with; and the one that frees memory for a larger table. */
    private final AtomicInteger turn = new AtomicInteger();
    private final AtomicInteger tableTurn = new AtomicInteger();
    /** Used only by maintenance. */
    private final ShardRound ahead;
    /**
     * The number of consecutive turns that gained nothing for a table; and the start of the quiet time after one in
     * each shard.
     */
    private final AtomicInteger fruitlessTurns = new AtomicInteger();
    private volatile long quietFromMillis = Long.MIN_VALUE / 2;

    public MemoryReclaimer(ShardContext context, Shard[] shards, LazyFree lazyFree) {
        this.context = context;
        this.shards = shards;
        this.lazyFree = lazyFree;
        ahead = new ShardRound(true);
    }

    /** Whether {@link #admit} has nothing to do: segments fit, and enough is uncharged for other allocations. */
    public boolean hasAmpleMemory(long bytes) {
        if (context.refusedBytes.get() != 0 || context.deferredBytes.get() != 0) {
            return false;
        }
        long left = context.budget.availableBytes();
        long spare = left - reserveBytes() - charge(bytes);
        return spare >= 0 || left >= UNSEGMENTED_BYTES && bytes < context.largeThresholdBytes
                && spare + context.pool.freeBytes() >= 0;
    }

    /** The charge for a value of this size: a run takes whole pages. */
    private long charge(long bytes) {
        return bytes < context.largeThresholdBytes ? bytes : LargeItems.roundUpToPage(bytes);
    }

    /** The bytes that an item takes: whole pages, or its part of a segment with its share of the unused end. */
    public long footprintBytes(long itemBytes) {
        if (itemBytes >= context.largeThresholdBytes) {
            return LargeItems.roundUpToPage(itemBytes);
        }
        int segmentBytes = context.pool.segmentBytes();
        return segmentBytes / (segmentBytes / itemBytes);
    }

    /** Makes sure that {@code valueBytes} more can be written; evicts as the policy allows. */
    public boolean admit(long valueBytes) {
        if (hasAmpleMemory(valueBytes)) {
            return true;
        }
        assert Arrays.stream(shards).noneMatch(Shard::isLockedByMe) : "memory must be reclaimed without shard locks";
        return admit(valueBytes, new ShardRound(true));
    }

    /** See {@link io.varve.memory.Cache#admitUnderLocks}. */
    public boolean admitUnderLocks(long valueBytes) {
        if (hasAmpleMemory(valueBytes)) {
            return true;
        }
        return charge(valueBytes) <= context.budget.limitBytes() - reserveBytes() - structureBytes()
                && admit(valueBytes, new ShardRound(false));
    }

    private boolean admit(long valueBytes, ShardRound mine) {
        long bytes = charge(valueBytes);
        if (bytes > context.budget.limitBytes() - reserveBytes()) {
            // It would not fit even if everything were evicted.
            return false;
        }
        long wanted = bytes
                + Math.min(context.takeRefusedBytes(), context.budget.limitBytes() / MAX_PART_FOR_REFUSED);
        if (availableBytes() < wanted && !reclaim(wanted, bytes, mine) && availableBytes() < bytes) {
            return false;
        }
        reclaimForTable();
        uncharge(wanted - bytes + (bytes >= context.largeThresholdBytes ? bytes : 0));
        return true;
    }

    /**
     * As {@link #admit(long)}, beside pinned items. If the write cannot fit beside those and beside memory that
     * eviction cannot free, nothing is evicted.
     *
     * @param pinnedBytes bytes of the pinned items
     */
    public boolean admit(long bytes, long pinnedBytes) {
        if (hasAmpleMemory(bytes)) {
            return true;
        }
        long max = context.budget.limitBytes() - reserveBytes() - pinnedBytes - structureBytes();
        return bytes <= max && admit(bytes);
    }

    /** Bytes that eviction cannot free: tables of indexes, time buckets, and memory charged for other tiers. */
    private long structureBytes() {
        long items = context.pool.bytes() + context.pool.largeItems().chargedBytes();
        // Memory on its way back to the system stays charged until it arrives.
        return Math.max(0, context.budget.chargedBytes() - items - context.regions.deferredBytes());
    }

    /**
     * As {@link #admit}, but evicts nothing: neither now nor when maintenance frees memory ahead of the next writes.
     * While an index waits for a larger table, all free memory is for that.
     */
    public boolean admitFree(long bytes) {
        if (context.deferredBytes.get() != 0) {
            return false;
        }
        long ahead = aheadBytes(reserveBytes(), context.budget.limitBytes());
        return availableBytes() - ahead >= bytes + context.refusedBytes.get() && admit(bytes);
    }

    /**
     * Does a slice of the work for the larger table that an index was refused. The table can wait, and freeing all of
     * the memory at once would delay a request for as long as cleaning a good part of the cache takes. Maintenance
     * therefore works on it, and every write does a little.
     *
     * @return whether there may be more to do
     */
    public boolean reclaimForTable() {
        long deferred = context.deferredBytes.get();
        if (deferred == 0) {
            return false;
        }
        long wanted = Math.min(deferred, context.budget.limitBytes() / MAX_PART_FOR_REFUSED)
                + context.budget.reserveBytes();
        if (context.budget.availableBytes() >= wanted) {
            // The index retries at its next insert or at its next maintenance.
            context.deferredBytes.compareAndSet(deferred, 0);
            return false;
        }
        if (availableBytes() + reserveBytes() >= wanted && context.pool.returnMemory(GIVEN_BACK_AT_ONCE_BYTES) > 0) {
            return true;
        }
        long now = context.ticker.wallMillis();
        long quiet = now - quietFromMillis;
        if (quiet >= 0 && quiet < QUIET_MILLIS) {
            return false;
        }
        if (releaseDeferred() || gainForTable(now)) {
            fruitlessTurns.set(0);
            // The index asks again: after the evictions it may not be crowded.
            context.deferredBytes.compareAndSet(deferred, 0);
            return true;
        }
        if (fruitlessTurns.incrementAndGet() < shards.length) {
            return true;
        }
        // Nothing can be evicted in any shard: no thread tries again until the index repeats its request.
        fruitlessTurns.set(0);
        quietFromMillis = now;
        context.deferredBytes.compareAndSet(deferred, 0);
        return false;
    }

    /**
     * Whether {@code bytes} outside segments fit without eviction. It locks no shard; at most it returns free segments.
     */
    public boolean fitsWithoutEviction(long bytes) {
        long left = context.budget.availableBytes() - reserveBytes();
        if (left >= bytes) {
            return true;
        }
        if (left + context.pool.freeBytes() < bytes) {
            return false;
        }
        uncharge(bytes);
        return true;
    }

    /** Bytes that can still be written, beyond the reserve; negative while the reserve is in use. */
    long availableBytes() {
        return context.budget.availableBytes() + context.pool.freeBytes() - reserveBytes();
    }

    long reserveBytes() {
        return reserveBytes(shards.length, context.pool.segmentBytes());
    }

    public static long reserveBytes(int shards, int segmentBytes) {
        return (long) (Math.min(shards, WRITERS) + SEGMENTS_TO_MOVE_TO) * segmentBytes;
    }

    /**
     * The memory that deferrable allocations, such as a larger table, must not use: the reserve for writes that have
     * begun, and the memory that maintenance keeps free ahead of them. Without the latter, the next writes would all
     * have to evict themselves.
     */
    public static long keptBytes(int shards, int segmentBytes, long limitBytes) {
        long reserve = reserveBytes(shards, segmentBytes);
        return reserve + aheadBytes(reserve, limitBytes);
    }

    private static long aheadBytes(long reserve, long limitBytes) {
        return Math.min(reserve, limitBytes / AHEAD_PART);
    }

    /**
     * Whether maintenance should free memory ahead of the writers: up to as much as the reserve, but only a small part
     * of maxmemory.
     */
    boolean isShort() {
        return availableBytes() < aheadBytes(reserveBytes(), context.budget.limitBytes());
    }

    /**
     * Returns enough free segments that {@code bytes} are uncharged. Free segments stay charged for reuse as segments,
     * but a large run, an index table or a slab of time buckets needs uncharged memory.
     */
    private void uncharge(long bytes) {
        long missing = Math.max(bytes, UNSEGMENTED_BYTES) - context.budget.availableBytes();
        if (missing > 0) {
            context.pool.returnMemory(missing);
        }
    }

    /**
     * Reclaims flushed databases, then cleans and evicts, shard by shard, until {@code wanted} bytes are free.
     *
     * @param needed the bytes that the command requires: fewer than wanted
     * @return false if a whole round over the shards gained nothing
     */
    private boolean reclaim(long wanted, long needed, ShardRound mine) {
        while (availableBytes() < wanted && (releaseDeferred()
                || (mine.mayWait ? lazyFree.reclaimSlice() : lazyFree.reclaimHeldSlice()))) {
            // Each slice frees something, so the loop ends.
            Thread.onSpinWait();
        }
        long now = context.ticker.wallMillis();
        long awaited = mine.mayWait ? needed : Long.MIN_VALUE;
        while (availableBytes() < wanted) {
            if (!releaseDeferred() && !runSlice(mine, now) && !gainAnywhere(now, awaited) || isStuck(mine)) {
                return false;
            }
        }
        return true;
    }

    /** See {@link io.varve.memory.Cache#reclaimTo}. */
    public boolean reclaimTo(long usedBytes) {
        while (usedBytes() > usedBytes && (releaseDeferred() || lazyFree.reclaimSlice())) {
            // Each slice frees something, so the loop ends.
            Thread.onSpinWait();
        }
        long now = context.ticker.wallMillis();
        ShardRound mine = new ShardRound(true);
        while (usedBytes() > usedBytes) {
            if (!releaseDeferred() && !runSlice(mine, now) && !gainAnywhere(now, Long.MAX_VALUE) || isStuck(mine)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the cleaner only moves items that must stay. */
    private boolean isStuck(ShardRound mine) {
        SecondaryTier secondary = context.secondary();
        boolean mayBeStuck = secondary != null && secondary.keepsAll() || context.pinnedItems.isUsed();
        return mayBeStuck && mine.fruitless > MAX_FRUITLESS_SLICES * shards.length;
    }

    private long usedBytes() {
        return context.budget.limitBytes() - availableBytes();
    }

    /**
     * Returns freed memory that is still charged to the system, or waits until another thread has done so. Nothing is
     * evicted for memory that is already being freed.
     *
     * @return whether any charge was released
     */
    private boolean releaseDeferred() {
        if (context.regions.deferredBytes() == 0) {
            return false;
        }
        long before = context.budget.availableBytes();
        return context.regions.discardRetired() > 0 || context.budget.availableBytes() > before;
    }

    /**
     * Frees memory ahead of the writers, which have to evict if maintenance is too slow. Called by one thread.
     *
     * @param pause runs after each slice, without a lock
     * @return whether anything was gained
     */
    public boolean reclaimAhead(Runnable pause) {
        boolean any = false;
        boolean gained = true;
        for (int i = 0; gained && i < shards.length && context.evictionPolicy().evicts() && isShort(); i++) {
            gained = runSlice(ahead, context.ticker.wallMillis());
            any |= gained;
            pause.run();
        }
        return any;
    }

    /**
     * Runs one slice of work in the shard whose turn it is. A shard keeps its turn until it holds a segment less. The
     * cleaner first moves live items to a fresh segment, so alternating between shards by slices would empty one
     * segment in each shard before the first is gained.
     *
     * @return false if it gained nothing
     */
    private boolean runSlice(ShardRound mine, long nowMillis) {
        Shard shard = lockNext(mine);
        if (shard == null) {
            return false;
        }
        try {
            if (mine.isOver) {
                mine.isOver = false;
                shard.cleaner().beginTurn();
            }
            long removed = shard.cleaner().removedItems();
            boolean gained = pressureSlice(shard, nowMillis);
            mine.note(shard.cleaner().removedItems() > removed);
            mine.isOver = !gained || shard.cleaner().isTurnOver();
            return gained;
        } finally {
            shard.unlock();
        }
    }

    /**
     * Locks the shard whose turn it is, or the next one if others hold it for long.
     *
     * @return null if others hold all of them
     */
    private @Nullable Shard lockNext(ShardRound mine) {
        for (int i = 0; i < shards.length && !LockWait.isInVain(); i++) {
            if (mine.isOver) {
                mine.shard = shards[Math.floorMod(turn.getAndIncrement(), shards.length)];
            }
            if (mine.shard.lockWithin(Shard.DEFAULT_NAPS, false)) {
                return mine.shard;
            }
            mine.isOver = true;
        }
        return null;
    }

    /** The progress of a thread that frees memory. Confined to it. */
    private final class ShardRound {
        /** Whether the thread holds no shard, so that it may wait for others. */
        private final boolean mayWait;
        private Shard shard = shards[0];
        private boolean isOver = true;
        /** Slices since the last one that evicted or demoted an item, or reached the least use of memory. */
        private int fruitless;
        private long leastUsedBytes = Long.MAX_VALUE;

        ShardRound(boolean mayWait) {
            this.mayWait = mayWait;
        }

        /** Records a slice, and whether it has evicted or demoted an item. */
        void note(boolean hasRemoved) {
            long used = usedBytes();
            fruitless = hasRemoved || used < leastUsedBytes ? 0 : fruitless + 1;
            leastUsedBytes = Math.min(leastUsedBytes, used);
        }
    }

    /** As {@link #runSlice}, for many threads that each do one slice in the same shard. */
    private boolean gainForTable(long nowMillis) {
        int at = tableTurn.get();
        Shard shard = shards[Math.floorMod(at, shards.length)];
        if (!shard.lockWithin(Shard.DEFAULT_NAPS, false)) {
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
     * Runs one slice of work in the first shard that gains by it; false if none does.
     *
     * @param needed if nothing is gained and fewer bytes than this are free, it waits for shards that others hold
     *     for long
     */
    private boolean gainAnywhere(long nowMillis, long needed) {
        ShardSet held = new ShardSet(shards.length);
        for (int i = 0; i < shards.length && !LockWait.isInVain(); i++) {
            if (!shards[i].lockWithin(Shard.DEFAULT_NAPS, false)) {
                held.add(i);
            } else if (gainLocked(shards[i], nowMillis)) {
                return true;
            }
        }
        for (int i = held.next(0); i >= 0 && availableBytes() < needed && !LockWait.isInVain(); i = held.next(i + 1)) {
            if (hasWaited(shards[i]) && gainLocked(shards[i], nowMillis)) {
                return true;
            }
        }
        return false;
    }

    /** Locks a shard; false if the thread has given up: its memory is not available for a long time. */
    private static boolean hasWaited(Shard held) {
        try {
            held.lock();
            return true;
        } catch (LockWait.GivenUpException _) {
            return false;
        }
    }

    private boolean gainLocked(Shard locked, long nowMillis) {
        try {
            return pressureSlice(locked, nowMillis);
        } finally {
            locked.unlock();
        }
    }

    private boolean pressureSlice(Shard locked, long nowMillis) {
        return locked.cleaner().pressureSlice(nowMillis, context.ticker.nanoTime() + SLICE_NANOS);
    }
}

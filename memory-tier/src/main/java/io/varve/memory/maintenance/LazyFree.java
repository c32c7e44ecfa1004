package io.varve.memory.maintenance;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.memory.item.LockWait;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardLocks;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.learning.AccessedKey;

/**
 * Frees the items of flushed databases in slices. Guarded by its own lock, but for shards that the caller holds:
 * maintenance calls it, and so does any thread that needs memory or a free physical database at once.
 */
public final class LazyFree {
    private static final long SLICE_NANOS = 200_000;
    private static final long CHECK_MILLIS = 5;

    private final ShardContext context;
    private final Shard[] shards;
    /**
     * Held by the reclaiming thread. Otherwise two threads could find a database finished, and the later one could
     * finish it again after it was attached, filled and flushed in between. Lock order: before any shard's lock.
     */
    private final ReentrantLock lock = new ReentrantLock();
    /** The physical database that is next in the round-robin. */
    private int next;

    public LazyFree(ShardContext context, Shard[] shards) {
        this.context = context;
        this.shards = shards;
    }

    /**
     * Reclaims a part of the flushed databases, for some 200 µs. They take turns, so that a small one need not wait for
     * a large one.
     *
     * @return true if there may be more
     */
    public boolean reclaimSlice() {
        Databases databases = context.databases;
        lock();
        try {
            long deadlineNanos = context.ticker.nanoTime() + SLICE_NANOS;
            for (int i = 0; i < Databases.PHYSICAL; i++) {
                int physical = next;
                next = (next + 1) % Databases.PHYSICAL;
                if (databases.reclaiming(physical) && (!reclaim(physical, deadlineNanos)
                        || context.ticker.nanoTime() - deadlineNanos >= 0)) {
                    return true;
                }
            }
        } finally {
            lock.unlock();
        }
        return false;
    }

    /** Waits for the thread that reclaims, which may wait for a shard. */
    private void lock() {
        boolean interrupted = false;
        boolean locked = false;
        try {
            while (!locked) {
                try {
                    locked = lock.tryLock(CHECK_MILLIS, TimeUnit.MILLISECONDS);
                    if (!locked) {
                        LockWait.check();
                    }
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Reclaims a part of the flushed databases in the shards that the calling thread holds. It leaves it to
     * {@link #reclaimSlice} to find a database finished, which is impossible meanwhile.
     *
     * @return whether there was anything
     */
    public boolean reclaimHeldSlice() {
        long deadlineNanos = context.ticker.nanoTime() + SLICE_NANOS;
        for (Shard shard : shards) {
            if (!shard.isLockedByMe()) {
                continue;
            }
            for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
                if (context.databases.reclaiming(physical) && shard.reclaim().hasAny(physical)) {
                    shard.reclaim().slice(physical, deadlineNanos);
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Reclaims one shard after the other. Finished shards take no time, so their number does not lengthen the slice.
     */
    private boolean reclaim(int physical, long deadlineNanos) {
        MaintenanceTasks maintenanceTasks = new MaintenanceTasks();
        for (Shard shard : shards) {
            if (!maintenanceTasks.more()) {
                maintenanceTasks.attempt(() -> !reclaim(shard, physical, deadlineNanos));
            }
        }
        maintenanceTasks.throwFailure();
        if (maintenanceTasks.more()) {
            return false;
        }
        finish(physical);
        return true;
    }

    private static boolean reclaim(Shard shard, int physical, long deadlineNanos) {
        shard.lock();
        try {
            return shard.reclaim().slice(physical, deadlineNanos);
        } finally {
            shard.unlock();
        }
    }

    private void finish(int physical) {
        AccessRecorder recorder = context.recorder();
        if (recorder != null) {
            // The recorder must forget the items before the number is reused.
            recorder.removeAll(physical, AccessedKey.DATABASE_BITS);
        }
        ShardLocks.lockAll(shards);
        try {
            context.databases.reclaimed(physical);
        } finally {
            for (Shard shard : shards) {
                shard.unlock();
            }
        }
    }
}

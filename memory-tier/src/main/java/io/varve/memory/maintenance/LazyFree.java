package io.varve.memory.maintenance;

import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.learning.AccessedKey;

/**
 * Frees the items of flushed databases in slices. Guarded by its own lock: maintenance calls it, and so does any thread
 * that needs memory or a free physical database at once.
 */
public final class LazyFree {
    private static final long SLICE_NANOS = 200_000;

    private final ShardContext context;
    private final Shard[] shards;
    /**
     * Held by the reclaiming thread. Otherwise two threads could find a database finished, and the later one could
     * finish it again after it was attached, filled and flushed in between. Lock order: before any shard's lock.
     */
    private final Object lock = new Object();
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
        synchronized (lock) {
            long deadlineNanos = context.ticker.nanoTime() + SLICE_NANOS;
            for (int i = 0; i < Databases.PHYSICAL; i++) {
                int physical = next;
                next = (next + 1) % Databases.PHYSICAL;
                if (databases.reclaiming(physical) && (!reclaim(physical, deadlineNanos)
                        || context.ticker.nanoTime() - deadlineNanos >= 0)) {
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
        for (Shard shard : shards) {
            shard.lock();
        }
        try {
            context.databases.reclaimed(physical);
        } finally {
            for (Shard shard : shards) {
                shard.unlock();
            }
        }
    }
}

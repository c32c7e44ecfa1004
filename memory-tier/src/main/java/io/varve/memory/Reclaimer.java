package io.varve.memory;

import io.varve.memory.shard.Databases;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;

/**
 * Lets the items of flushed databases go, in slices. Many threads, one at a time: maintenance, and whoever needs the
 * room or a free physical database at once.
 */
final class Reclaimer {
    private static final long SLICE_NANOS = 200_000;

    private final ShardContext context;
    private final Shard[] shards;
    /**
     * Held by the thread that reclaims: else two could find a database finished, and the later would declare done what had
     * been attached, filled and flushed again in between. Taken before any shard's lock.
     */
    private final Object lock = new Object();

    Reclaimer(ShardContext context, Shard[] shards) {
        this.context = context;
        this.shards = shards;
    }

    /** Reclaims a part of the databases that were flushed, for some 200 µs; true if there is more. */
    boolean reclaimSlice() {
        Databases databases = context.databases();
        synchronized (lock) {
            for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
                if (databases.reclaiming(physical) && !reclaim(physical)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** One shard after the other: those that are done take no time, and the slice is no longer for there being many. */
    private boolean reclaim(int physical) {
        long deadlineNanos = context.ticker().nanoTime() + SLICE_NANOS;
        for (Shard shard : shards) {
            shard.lock();
            try {
                if (!shard.reclaimSlice(physical, deadlineNanos)) {
                    return false;
                }
            } finally {
                shard.unlock();
            }
        }
        finish(physical);
        return true;
    }

    private void finish(int physical) {
        for (Shard shard : shards) {
            shard.lock();
        }
        try {
            context.databases().reclaimed(physical);
        } finally {
            for (Shard shard : shards) {
                shard.unlock();
            }
        }
    }
}

package io.varve.memory;

import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.shard.AccessedKey;
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
    /** The physical database whose turn it is. */
    private int next;

    Reclaimer(ShardContext context, Shard[] shards) {
        this.context = context;
        this.shards = shards;
    }

    /**
     * Reclaims a part of the databases that were flushed, for some 200 µs; true if there may be more. They take turns, so that
     * a small one need not wait until a large one is done.
     */
    boolean reclaimSlice() {
        Databases databases = context.databases();
        synchronized (lock) {
            long deadlineNanos = context.ticker().nanoTime() + SLICE_NANOS;
            for (int i = 0; i < Databases.PHYSICAL; i++) {
                int physical = next;
                next = (next + 1) % Databases.PHYSICAL;
                if (databases.reclaiming(physical) && (!reclaim(physical, deadlineNanos)
                        || context.ticker().nanoTime() - deadlineNanos >= 0)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** One shard after the other: those that are done take no time, and the slice is no longer for there being many. */
    private boolean reclaim(int physical, long deadlineNanos) {
        Chores chores = new Chores();
        for (Shard shard : shards) {
            if (!chores.more()) {
                chores.attempt(() -> !reclaim(shard, physical, deadlineNanos));
            }
        }
        chores.throwFailure();
        if (chores.more()) {
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
            // Before its number stands for another.
            recorder.removeAll(physical, AccessedKey.DATABASE_BITS);
        }
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

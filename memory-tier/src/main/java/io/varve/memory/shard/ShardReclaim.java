package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.item.Change;
import io.varve.memory.shard.cleaning.ShardCleaner;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardItems;

/** Reclaims the items of flushed databases in one shard, slice by slice. Guarded by the shard's lock. */
public final class ShardReclaim {
    /** The most home buckets reclaimed in one slice, and the number between two readings of the clock. */
    private static final int RECLAIM_BUCKETS = 256;
    private static final int BUCKETS_PER_CLOCK = 8;
    /** Reclaiming a detached database by segments may move live items of at most this part of its size. */
    private static final int MAX_MOVED_PART = 8;
    /** The most items reclaimed at once: those of some home buckets, or a part of a crowded bucket. */
    private static final int RECLAIMED_AT_ONCE = 64;
    private static final long[] NONE = {};

    private final ShardItems items;
    private final ShardContext context;
    private final ShardCleaner cleaner;
    /** The reclaim cursor of each detached database; empty until the first flush. */
    private long[] cursors = NONE;
    private long[] toReclaim = NONE;
    private int toReclaimCount;

    ShardReclaim(ShardItems items, ShardContext context, ShardCleaner cleaner) {
        this.items = items;
        this.context = context;
        this.cleaner = cleaner;
    }

    /** Whether the shard has anything of a database. */
    public boolean hasAny(int physical) {
        return items.indexOrNull(physical) != null;
    }

    /**
     * Reclaims items of a detached database until the deadline, at least those of a few home buckets.
     *
     * @return whether nothing of it is left in this shard
     */
    public boolean slice(int physical, long deadlineNanos) {
        Index index = items.indexOrNull(physical);
        if (index == null) {
            return true;
        }
        long nowMillis = context.ticker.wallMillis();
        // Reclaims by segments if that moves little: each segment is free at the end of its walk, so memory is freed on
        // the way.
        while (isMostlyDetached(index) && cleaner.emptyOldest(nowMillis, deadlineNanos)) {
            if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                return false;
            }
        }
        reclaimBuckets(physical, index, deadlineNanos);
        if (freeSlice(deadlineNanos) || index.size() > 0) {
            return false;
        }
        index.release();
        items.dropIndex(physical);
        cursors[physical] = 0;
        return true;
    }

    /**
     * Whether few of the shard's items belong to databases that were not flushed, compared with this database's items
     * in segments.
     */
    private boolean isMostlyDetached(Index detached) {
        long inSegments = detached.size() - items.segments().largeItems();
        // The databases of nodes are not known here: a shard with many nodes is reclaimed key by key.
        long attached = items.trees().nodes().count();
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = items.indexOrNull(physical);
            if (index != null && context.databases.logical(physical) != Databases.DETACHED) {
                attached += index.size();
            }
        }
        return inSegments > 0 && attached <= inSegments / MAX_MOVED_PART;
    }

    private void reclaimBuckets(int physical, Index index, long deadlineNanos) {
        if (toReclaim.length == 0) {
            cursors = new long[Databases.PHYSICAL];
            toReclaim = new long[RECLAIMED_AT_ONCE];
        }
        long cursor = cursors[physical];
        for (int i = 0; i < RECLAIM_BUCKETS && index.size() > 0; i++) {
            if (i > 0 && i % BUCKETS_PER_CLOCK == 0 && context.ticker.nanoTime() - deadlineNanos >= 0) {
                break;
            }
            toReclaimCount = 0;
            // The scan repeats until the index is empty, so it visits entries beyond the limit later.
            long next = index.scan(cursor, this::doom, RECLAIMED_AT_ONCE);
            cursor = toReclaimCount < RECLAIMED_AT_ONCE ? next : cursor;
            for (int d = 0; d < toReclaimCount; d++) {
                boolean removed = index.remove(items.verifier().hashOf(toReclaim[d]), toReclaim[d]);
                assert removed : "the index has no entry for location " + toReclaim[d];
                items.releaseItem(toReclaim[d], items.address(toReclaim[d]), physical, Change.DELETED, false);
            }
        }
        cursors[physical] = cursor;
    }

    private void doom(long location) {
        if (toReclaimCount < toReclaim.length) {
            toReclaim[toReclaimCount++] = location;
        }
    }

    /**
     * Frees nodes of deleted collections, until the deadline.
     *
     * @return whether any are left
     */
    public boolean freeSlice(long deadlineNanos) {
        return items.trees().hasDying() && items.trees().freeSlice(deadlineNanos);
    }
}

package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.item.Change;

/** Lets the items of flushed databases go, slice by slice, in one shard. Guarded by the shard's lock. */
public final class ShardReclaim {
    /** Home buckets reclaimed in one slice at most, and between two readings of the clock. */
    private static final int RECLAIM_BUCKETS = 256;
    private static final int BUCKETS_PER_CLOCK = 8;
    /** What lives may be moved to reclaim a detached database by segments: at most this part of what it has. */
    private static final int MOST_MOVED_PART = 8;
    /** Items that are reclaimed at once at most: those of some home buckets, or a part of a crowded one's. */
    private static final int DOOMED = 64;

    private final ShardItems items;
    private final ShardContext context;
    private final ShardCleaner cleaner;
    /** How far the reclaiming of a detached database has come. */
    private final long[] cursors = new long[Databases.PHYSICAL];
    private final long[] doomed = new long[DOOMED];
    private int doomedCount;

    ShardReclaim(ShardItems items, ShardContext context, ShardCleaner cleaner) {
        this.items = items;
        this.context = context;
        this.cleaner = cleaner;
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
        long nowMillis = context.ticker().wallMillis();
        // Segment by segment where that moves little: each is free at the end of its walk, so memory comes back on the way.
        while (isMostlyDetached(index) && cleaner.emptyOldest(nowMillis, deadlineNanos)) {
            if (context.ticker().nanoTime() - deadlineNanos >= 0) {
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

    /** Whether few of the shard's items are of databases that were not flushed, beside what this one has in segments. */
    private boolean isMostlyDetached(Index detached) {
        long inSegments = detached.size() - items.segments().largeItems();
        // Of which databases the nodes are is not known: who has many is reclaimed key by key.
        long attached = items.trees().nodes().count();
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = items.indexOrNull(physical);
            if (index != null && context.databases.logical(physical) != Databases.DETACHED) {
                attached += index.size();
            }
        }
        return inSegments > 0 && attached <= inSegments / MOST_MOVED_PART;
    }

    private void reclaimBuckets(int physical, Index index, long deadlineNanos) {
        long cursor = cursors[physical];
        for (int i = 0; i < RECLAIM_BUCKETS && index.size() > 0; i++) {
            if (i > 0 && i % BUCKETS_PER_CLOCK == 0 && context.ticker().nanoTime() - deadlineNanos >= 0) {
                break;
            }
            doomedCount = 0;
            // What does not fit is met again: the scan goes round until the index is empty.
            long next = index.scan(cursor, this::doom, DOOMED);
            cursor = doomedCount < DOOMED ? next : cursor;
            for (int d = 0; d < doomedCount; d++) {
                boolean removed = index.remove(items.verifier().hashOf(doomed[d]), doomed[d]);
                assert removed : "the index has lost " + doomed[d];
                items.letGo(doomed[d], items.address(doomed[d]), physical, Change.DELETED, false);
            }
        }
        cursors[physical] = cursor;
    }

    private void doom(long location) {
        if (doomedCount < doomed.length) {
            doomed[doomedCount++] = location;
        }
    }

    /**
     * Frees nodes of collections that have gone, until the deadline.
     *
     * @return whether any are left
     */
    public boolean freeSlice(long deadlineNanos) {
        return items.trees().hasDying() && items.trees().freeSlice(deadlineNanos);
    }
}

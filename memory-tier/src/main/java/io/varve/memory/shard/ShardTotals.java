package io.varve.memory.shard;

import io.varve.memory.expiry.Expiry;

/** Sums over shards, gathered one lock at a time. Confined to whoever gathers. */
public final class ShardTotals {
    public long indexBytes;
    public long indexSlots;
    public long indexed;
    public boolean rehashing;
    /** By logical database. */
    public final long[] items;
    public final long[] expiringItems;
    public final long[] timedHashes;
    public final long[] indexBytesOf;
    public long expiryBytes;
    public long nodeTableBytes;
    /** What is charged for the tracking of penalties. */
    public long penaltyBytes;
    public long datasetBytes;
    public long liveBytes;
    public long usedBytes;
    public long deadBytes;
    public long largeBytes;
    public long hits;
    public long misses;
    public long expired;
    public long fieldsExpired;
    public long evicted;
    public long segmentsCleaned;
    public long segmentsFreedWhole;
    public long bytesMoved;
    public long bytesReclaimed;
    public double reclaimCost;
    public long bytesWritten;

    /** The sums over all shards. */
    public static ShardTotals of(Shard[] shards, int databases) {
        ShardTotals totals = new ShardTotals(databases);
        for (Shard shard : shards) {
            shard.lock();
            try {
                shard.addTo(totals);
            } finally {
                shard.unlock();
            }
        }
        return totals;
    }

    /** What the items would take by {@link Shard#usualBytes}. */
    public long usualBytes() {
        long usual = liveBytes;
        for (int i = 0; i < items.length; i++) {
            usual += items[i] * Shard.INDEX_SHARE + expiringItems[i] * Expiry.BYTES_PER_ENTRY;
        }
        return usual;
    }

    /** What is taken for them: what was appended and not reclaimed, and tables. */
    public long takenBytes() {
        return usedBytes + indexBytes + expiryBytes + nodeTableBytes;
    }

    /**
     * @param databases how many logical databases there are
     */
    public ShardTotals(int databases) {
        items = new long[databases];
        expiringItems = new long[databases];
        timedHashes = new long[databases];
        indexBytesOf = new long[databases];
    }
}

package io.varve.memory.shard;

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

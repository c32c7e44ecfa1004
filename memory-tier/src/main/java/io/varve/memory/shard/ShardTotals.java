package io.varve.memory.shard;

import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.shard.cleaning.ShardCleaner;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.item.ShardItems;

/** Sums over shards, collected under one shard's lock at a time. Confined to the thread that collects them. */
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
    /** The memory charged for tracking penalties. */
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
    public static ShardTotals of(Shard[] shards, Databases databases) {
        ShardTotals totals = new ShardTotals(databases.count());
        for (Shard shard : shards) {
            shard.lock();
            try {
                totals.add(shard, databases);
            } finally {
                shard.unlock();
            }
        }
        return totals;
    }

    private void add(Shard shard, Databases databases) {
        ShardItems of = shard.items();
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = of.indexOrNull(physical);
            if (index != null) {
                indexBytes += index.bytes();
                indexSlots += index.slots();
                indexed += index.size();
                rehashing |= index.rehashing();
                int logical = databases.logical(physical);
                if (logical != Databases.DETACHED) {
                    items[logical] += index.size();
                    expiringItems[logical] += of.expiringOf(physical);
                    timedHashes[logical] += of.timed().timedOf(physical);
                    indexBytesOf[logical] += index.bytes();
                }
            }
        }
        expiryBytes += of.expiry().bytes();
        nodeTableBytes += of.trees().bytes();
        penaltyBytes += of.penalties().bytes();
        datasetBytes += of.datasetBytes();
        liveBytes += of.segments().liveBytes();
        usedBytes += of.segments().usedBytes();
        deadBytes += of.segments().deadBytes();
        largeBytes += of.segments().largeBytes();
        hits += shard.hits();
        misses += shard.misses();
        expired += of.expired();
        fieldsExpired += of.timed().fieldsExpired();
        evicted += of.evicted();
        segmentsFreedWhole += of.segments().freedWhole();
        bytesWritten += of.segments().bytesWritten();
        ShardCleaner.Work work = shard.cleaner().work();
        segmentsCleaned += work.segmentsCleaned();
        bytesMoved += work.bytesMoved();
        bytesReclaimed += work.bytesReclaimed();
        reclaimCost += work.reclaimCost();
    }

    /** The memory that the items would take by {@link ItemFootprint#usualBytes}. */
    public long usualBytes() {
        long usual = liveBytes;
        for (int i = 0; i < items.length; i++) {
            usual += items[i] * ItemFootprint.INDEX_SHARE + expiringItems[i] * Expiry.BYTES_PER_ENTRY;
        }
        return usual;
    }

    /** The memory actually taken for items: appended and not reclaimed bytes, and tables. */
    public long occupiedBytes() {
        return usedBytes + indexBytes + expiryBytes + nodeTableBytes;
    }

    /** @param databases the number of logical databases */
    public ShardTotals(int databases) {
        items = new long[databases];
        expiringItems = new long[databases];
        timedHashes = new long[databases];
        indexBytesOf = new long[databases];
    }
}

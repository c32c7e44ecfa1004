package io.varve.memory;

import io.varve.memory.item.ItemCapture;

/**
 * A walk over all items as they were at one moment, while commands change them. Confined to one thread, which calls
 * {@link #scan} repeatedly; {@link #isAborted} may be called by any.
 *
 * <p>Before a command changes an item that was not visited yet, its thread passes the item, and those that share an
 * index bucket with it, to the {@link ItemCapture}. So a change waits for the copy of a few items, and no memory is
 * needed beyond a bit for each index bucket. Items that expire or are evicted meanwhile may be missing: a scan does not
 * preserve what the cache may drop at any time.
 *
 * <p>A flush of a database with items that were not visited aborts the scan. Opened by {@link Cache#scanAtOneMoment}.
 */
public interface PointInTimeScan extends AutoCloseable {
    /**
     * Visits items of one shard, for up to a duration.
     *
     * @param nanos the longest hold of the shard's lock; one index bucket is visited in any case
     * @return whether there is more to visit; false after an abort
     */
    boolean scan(long nanos);

    /** Whether a flush has removed items that were not visited. */
    boolean isAborted();

    /** The moment of the scan, ms since the epoch. Items that had expired by then are not visited. */
    long startMillis();

    /** The number of items of a logical database at the start, expired but unreclaimed ones included. */
    long size(int database);

    /** How many of them had an expiry time. */
    long expiringSize(int database);

    /** The number of hashes, in all databases, whose fields had times at the start or shortly before. */
    long timedHashes();

    /** Ends the scan, whether it is complete or not. */
    @Override
    void close();
}

package io.varve.memory;

import java.util.List;

/**
 * Counters and sizes at one moment; sums over shards. Immutable.
 *
 * @param maxMemoryBytes        the limit
 * @param poolBytes             bytes of segments held, in use and free: what maxmemory bounds, with the tables below
 * @param usedBytes             bytes appended in segments in use (live and dead), large runs, index, expiry
 * @param datasetBytes          live key and value bytes
 * @param liveBytes             live item bytes (headers included)
 * @param deadBytes             bytes in segments in use that nobody can reach
 * @param reservedBytes         off-heap address space that may be resident
 * @param segmentSizeBytes      size of a segment
 * @param segmentsInUse         segments that hold items
 * @param segmentsFree          segments held in reserve
 * @param indexBytes            both tables of every index
 * @param indexLoadFactor       slots used over slots
 * @param rehashing             whether any index is between two tables
 * @param expiryBytes           time buckets and their entries
 * @param databases             by logical database
 * @param expiredUnreclaimed    items past their time and not reclaimed, as maintenance counted them last
 * @param hits                  finds that found
 * @param misses                finds that did not
 * @param expired               items that went by time
 * @param evicted               items that went by pressure, those that fell to the tier below apart
 * @param expireCyclesLimited   expiry cycles that ended at their time limit
 * @param segmentsCleaned       segments emptied by moving or evicting what lived in them
 * @param segmentsFreedWhole    segments freed because nothing lived in them any more
 * @param bytesMoved            bytes copied by the cleaner
 * @param bytesReclaimed        bytes that the cleaner freed
 * @param reclaimCost           the sum over cleaned segments of their utilization (redis-plus-plus, equation 2)
 * @param bytesWritten          item bytes appended by writes
 * @param fieldsExpired         fields of hashes that went by time
 */
public record CacheStats(long maxMemoryBytes, long poolBytes, long usedBytes, long datasetBytes, long liveBytes,
        long deadBytes, long reservedBytes, int segmentSizeBytes, long segmentsInUse, long segmentsFree,
        long indexBytes, double indexLoadFactor, boolean rehashing, long expiryBytes,
        List<Database> databases, long expiredUnreclaimed, long hits, long misses, long expired, long evicted,
        long expireCyclesLimited, long segmentsCleaned,
        long segmentsFreedWhole, long bytesMoved, long bytesReclaimed, double reclaimCost, long bytesWritten,
        long fieldsExpired) {
    /**
     * One logical database. Immutable.
     *
     * @param items            its items, expired but unreclaimed ones included
     * @param expiringItems    those with an expiry time
     * @param averageTtlMillis the mean of their remaining lifetimes, ms, as maintenance sampled it last; 0 if there are none
     * @param indexBytes       tables of its indexes
     * @param timedHashes      hashes that are looked at because fields have times, or had until a moment ago
     */
    public record Database(long items, long expiringItems, long averageTtlMillis, long indexBytes,
            long timedHashes) {}

    /** Items of all databases. */
    public long items() {
        long sum = 0;
        for (Database database : databases) {
            sum += database.items;
        }
        return sum;
    }

    /** Items of all databases that have an expiry time. */
    public long expiringItems() {
        long sum = 0;
        for (Database database : databases) {
            sum += database.expiringItems;
        }
        return sum;
    }
}

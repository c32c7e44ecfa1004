package io.varve.memory.report;

import java.util.List;

/**
 * Counters and sizes at one moment, summed over shards. Immutable.
 *
 * @param maxMemoryBytes the limit
 * @param chargedBytes bytes charged against the limit: segments in use and free, large runs, tables and other charges
 * @param usedBytes bytes appended in segments in use (live and dead), large runs, and all tables: index, expiry,
 *     nodes, penalties, curves and demand
 * @param datasetBytes live key and value bytes
 * @param liveBytes live item bytes, headers included
 * @param deadBytes unreachable bytes in segments in use
 * @param segmentSizeBytes the size of a segment
 * @param segmentsInUse segments that hold items
 * @param segmentsFree segments held in reserve
 * @param indexBytes both tables of every index
 * @param indexLoadFactor used slots divided by all slots
 * @param rehashing whether any index is between two tables
 * @param expiryBytes time buckets and their entries
 * @param databases the logical databases, by number
 * @param expiredUnreclaimed items past their expiry time and not reclaimed, at the last maintenance count
 * @param hits lookups that found an item
 * @param misses lookups that did not
 * @param expired items removed by expiry
 * @param evicted items evicted under pressure, without those demoted to the secondary tier
 * @param expireCyclesLimited expiry cycles that ended at their time limit
 * @param segmentsCleaned segments emptied by moving or evicting their live items
 * @param segmentsFreedWhole segments freed because no live item was left in them
 * @param bytesMoved bytes copied by the cleaner
 * @param bytesReclaimed bytes that the cleaner freed
 * @param reclaimCost the sum of the utilization of all cleaned segments (redis-plus-plus, equation 2)
 * @param bytesWritten item bytes appended by writes
 * @param fieldsExpired hash fields removed by expiry
 * @param pinnedItems items that are pinned until they are unpinned
 * @param pinnedBytes bytes of their headers, keys, values and nodes
 */
public record CacheStats(long maxMemoryBytes, long chargedBytes, long usedBytes, long datasetBytes, long liveBytes,
        long deadBytes, int segmentSizeBytes, long segmentsInUse, long segmentsFree,
        long indexBytes, double indexLoadFactor, boolean rehashing, long expiryBytes,
        List<Database> databases, long expiredUnreclaimed, long hits, long misses, long expired, long evicted,
        long expireCyclesLimited, long segmentsCleaned,
        long segmentsFreedWhole, long bytesMoved, long bytesReclaimed, double reclaimCost, long bytesWritten,
        long fieldsExpired, long pinnedItems, long pinnedBytes) {
    /**
     * One logical database. Immutable.
     *
     * @param items its items, expired but unreclaimed ones included
     * @param expiringItems those with an expiry time
     * @param averageTtlMillis the mean of their remaining lifetimes in ms, as maintenance last sampled it; 0 if
     *     there are none
     * @param indexBytes tables of its indexes
     * @param timedHashes hashes whose fields have times, or had until recently
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

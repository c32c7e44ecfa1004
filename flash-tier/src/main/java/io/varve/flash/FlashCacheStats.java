package io.varve.flash;

/**
 * The counters of a cache on flash since it was opened. Immutable.
 *
 * @param items number of cached items
 * @param hits reads that flash answered
 * @param misses reads that it did not
 * @param evictions records that were evicted
 * @param corrupt records with a wrong checksum: they count as misses and are removed
 * @param writtenBack records that were written to the database behind on eviction
 * @param failures failures of flash for which the database behind compensated
 * @param keysTraversed keys that the searches for victims visited
 * @param poorVictims searches that took a key that should have stayed
 * @param policyBytes memory of the policy
 */
public record FlashCacheStats(long items, long hits, long misses, long evictions, long corrupt, long writtenBack,
        long failures,
        long keysTraversed, long poorVictims, long policyBytes) {
    /** 0 to 1; 0 if nothing was read. */
    public double hitRatio() {
        return hits + misses == 0 ? 0 : (double) hits / (hits + misses);
    }
}

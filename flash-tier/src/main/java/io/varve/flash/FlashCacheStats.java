package io.varve.flash;

/**
 * What a cache on flash has done since it was opened. Immutable.
 *
 * @param items         that are cached
 * @param hits          reads that flash answered
 * @param misses        reads that it did not
 * @param evictions     records that went because room was needed
 * @param corrupt       records whose checksum was wrong: misses, and taken away
 * @param writtenBack   records that were written to the database behind when they went
 * @param failures      of flash that were made good for by the database behind
 * @param keysTraversed keys that the searches for victims looked at
 * @param poorVictims   searches that took a key that should have stayed
 * @param policyBytes   of memory that the policy takes
 */
public record FlashCacheStats(long items, long hits, long misses, long evictions, long corrupt, long writtenBack,
        long failures,
        long keysTraversed, long poorVictims, long policyBytes) {
    /** 0 to 1; 0 if nothing was read. */
    public double hitRatio() {
        return hits + misses == 0 ? 0 : (double) hits / (hits + misses);
    }
}

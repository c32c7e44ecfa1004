package io.varve.flash.tier;

/**
 * The counters of the tier since its start. Immutable.
 *
 * @param items current number of items, those in the queues included
 * @param maxItems current maximum: lower than configured if the items' size requires it
 * @param hits requested keys that were present
 * @param misses requested keys that were absent
 * @param promotions items that returned to memory
 * @param loaded those among them that were preloaded, before a request
 * @param evictions items that were evicted because there were too many
 * @param expired items that were past their expiry time when they were requested
 * @param corrupt records that did not match their checksum
 * @param written records written
 * @param shed demoted items that were not taken for lack of space or time
 * @param notAdmitted demoted items that the admission rejected
 * @param queueDepth demoted items that are not written yet, and items that are returning
 * @param queueBytes bytes of those
 * @param fetchesWaiting requested keys that are not read yet
 * @param fileBytes size of the store's files
 * @param policyRamBytes memory of the policy
 * @param memberRamBytes memory of the filter of keys that may be on flash
 * @param recordBytes bytes of the records written
 * @param deviceBytes bytes that the store wrote for them and for itself
 * @param bytesRead bytes of the values that were read back
 * @param readP50Micros time from a key's request until it was in memory, the median
 * @param readP99Micros its 99th percentile
 * @param complete whether the start's walk over all keys on flash is complete
 * @param invalidations how often everything on flash was invalidated because a removal failed
 * @param loading whether the items of a class are being loaded
 * @param failing whether the last write failed, and nothing is taken until one succeeds
 */
public record FlashTierStats(long items, long maxItems, long hits, long misses, long promotions, long loaded,
        long evictions,
        long expired, long corrupt, long written, long shed, long notAdmitted, long queueDepth, long queueBytes,
        long fetchesWaiting, long fileBytes, long policyRamBytes, long memberRamBytes, long recordBytes,
        long deviceBytes,
        long bytesRead, long readP50Micros, long readP99Micros, boolean complete, long invalidations, boolean loading,
        boolean failing) {
    /** Bytes written to the device per byte of records; 0 before anything was written. */
    public double writeAmplification() {
        return recordBytes == 0 ? 0 : (double) deviceBytes / recordBytes;
    }
}

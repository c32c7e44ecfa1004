package io.varve.flash.tier;

/**
 * What has happened in the tier so far. Immutable.
 *
 * @param items           that it holds, those that are falling included
 * @param mostItems       that it may hold: less than was set where their size asks for it
 * @param hits            keys that were asked for and were there
 * @param misses          keys that were asked for and were not
 * @param promotions      items that came back into memory
 * @param loaded          of those, items for which nobody had asked yet
 * @param evictions       items that went because there were too many
 * @param expired         items that were past their time when they were asked for
 * @param corrupt         records that were not as they were written
 * @param written         records written
 * @param shed            items that fell and were not taken for want of room or time
 * @param notAdmitted     items that fell and were not to be taken
 * @param queueDepth      items that have fallen and are not written yet, and what is on its way back
 * @param queueBytes      bytes of those
 * @param fetchesWaiting  keys that are asked for and not looked at yet
 * @param fileBytes       that the store's files take
 * @param policyRamBytes  of memory that the policy keeps
 * @param memberRamBytes  of memory that tells what may be on flash
 * @param recordBytes     bytes of the records written
 * @param deviceBytes     bytes that the store wrote for them and for itself
 * @param bytesRead       bytes of the values that were brought back
 * @param readP50Micros   time from when a key was asked for until it was in memory, the median
 * @param readP99Micros   the same, of the slowest of a hundred
 * @param complete        whether it knows all that is on flash: a start takes a while
 * @param givenUp         how often everything on flash was given up because something could not be invalidated
 * @param loading         whether the items of a class are being loaded
 * @param failing         whether the last write failed, and nothing is taken until one succeeds
 */
public record FlashTierStats(long items, long mostItems, long hits, long misses, long promotions, long loaded,
        long evictions,
        long expired, long corrupt, long written, long shed, long notAdmitted, long queueDepth, long queueBytes,
        long fetchesWaiting, long fileBytes, long policyRamBytes, long memberRamBytes, long recordBytes,
        long deviceBytes,
        long bytesRead, long readP50Micros, long readP99Micros, boolean complete, long givenUp, boolean loading,
        boolean failing) {
    /** Bytes written to the device for each that fell; 0 before anything was written. */
    public double writeAmplification() {
        return recordBytes == 0 ? 0 : (double) deviceBytes / recordBytes;
    }
}

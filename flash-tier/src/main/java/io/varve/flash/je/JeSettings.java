package io.varve.flash.je;

/**
 * How much a store takes. Immutable.
 *
 * @param cacheBytes        of heap for the tree, 1 MB or more
 * @param mostDiskBytes     that its files take at the most; 0 for no limit
 * @param freeDiskBytes     that it leaves free on the device: below it nothing is written
 * @param lockTimeoutMillis how long an operation waits for another of the same key
 * @param retryMillis       how long calls fail at once after files that were given up could not be opened anew
 */
public record JeSettings(long cacheBytes, long mostDiskBytes, long freeDiskBytes, long lockTimeoutMillis,
        long retryMillis) {
    private static final long FREE_DISK_BYTES = 256L << 20;
    private static final long LOCK_TIMEOUT_MILLIS = 10_000;
    private static final long RETRY_MILLIS = 1000;

    public static JeSettings of(long cacheBytes) {
        return new JeSettings(cacheBytes, 0, FREE_DISK_BYTES, LOCK_TIMEOUT_MILLIS, RETRY_MILLIS);
    }

    /** With other limits for its files: see the parameters of these names. */
    public JeSettings withDisk(long most, long free) {
        return new JeSettings(cacheBytes, most, free, lockTimeoutMillis, retryMillis);
    }
}

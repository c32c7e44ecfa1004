package io.varve.flash.je;

/**
 * The limits of a JE store. Immutable.
 *
 * @param cacheBytes heap memory for the tree, 1 MB or more
 * @param maxDiskBytes maximum size of its files; 0 for no limit
 * @param freeDiskBytes free space to keep on the device: below it nothing is written
 * @param lockTimeoutMillis how long an operation waits for another of the same key
 * @param retryMillis how long calls fail immediately after the store could not be reopened
 */
public record JeSettings(long cacheBytes, long maxDiskBytes, long freeDiskBytes, long lockTimeoutMillis,
        long retryMillis) {
    private static final long FREE_DISK_BYTES = 256L << 20;
    private static final long LOCK_TIMEOUT_MILLIS = 10_000;
    private static final long RETRY_MILLIS = 1000;

    public static JeSettings of(long cacheBytes) {
        return new JeSettings(cacheBytes, 0, FREE_DISK_BYTES, LOCK_TIMEOUT_MILLIS, RETRY_MILLIS);
    }

    /** With other limits for its files: see the parameters of these names. */
    public JeSettings withDisk(long max, long free) {
        return new JeSettings(cacheBytes, max, free, lockTimeoutMillis, retryMillis);
    }
}

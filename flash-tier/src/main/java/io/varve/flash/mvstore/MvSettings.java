package io.varve.flash.mvstore;

/**
 * The limits of an MVStore. Immutable.
 *
 * @param cacheBytes heap memory for pages, rounded up to megabytes
 * @param maxDiskBytes maximum size of its file; 0 for no limit
 * @param freeDiskBytes free space to keep on the device: below it nothing is written
 * @param retentionMillis how long the space of replaced data is not reused. With less than the library's own 45 seconds
 *     it mostly, but not always, finds the newest state after a kill. Until then a file with a high write rate is
 *     larger than its live data
 * @param synced whether every commit is synced. Without it a power cut may also lose data that was synced earlier,
 *     because the space of what it replaced is reused
 * @param retryMillis how long calls fail immediately after the file could not be reopened
 */
public record MvSettings(long cacheBytes, long maxDiskBytes, long freeDiskBytes, int retentionMillis, boolean synced,
        long retryMillis) {
    private static final long FREE_DISK_BYTES = 256L << 20;
    private static final int RETENTION_MILLIS = 45_000;
    private static final long RETRY_MILLIS = 1000;

    public static MvSettings of(long cacheBytes) {
        return new MvSettings(cacheBytes, 0, FREE_DISK_BYTES, RETENTION_MILLIS, false, RETRY_MILLIS);
    }

    public MvSettings withSync(boolean all) {
        return new MvSettings(cacheBytes, maxDiskBytes, freeDiskBytes, retentionMillis, all, retryMillis);
    }
}

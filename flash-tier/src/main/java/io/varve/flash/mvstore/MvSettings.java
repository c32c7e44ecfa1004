package io.varve.flash.mvstore;

/**
 * How much a store takes. Immutable.
 *
 * @param cacheBytes    of heap for pages, rounded up to megabytes
 * @param mostDiskBytes that its file takes at the most; 0 for no limit
 * @param freeDiskBytes that it leaves free on the device: below it nothing is written
 * @param retentionMillis how long the place of what was replaced is not used again. The library finds the newest state after a kill with
 *                      less than its own 45 seconds only mostly; until then a file that is written fast is larger than what lives in it
 * @param synced        whether all that is written is synced. A power cut may else cost what was synced before, too, because the place of
 *                      what it replaced is used again
 * @param retryMillis   how long calls fail at once after a file that was given up could not be opened anew
 */
public record MvSettings(long cacheBytes, long mostDiskBytes, long freeDiskBytes, int retentionMillis, boolean synced,
        long retryMillis) {
    private static final long FREE_DISK_BYTES = 256L << 20;
    private static final int RETENTION_MILLIS = 45_000;
    private static final long RETRY_MILLIS = 1000;

    public static MvSettings of(long cacheBytes) {
        return new MvSettings(cacheBytes, 0, FREE_DISK_BYTES, RETENTION_MILLIS, false, RETRY_MILLIS);
    }

    public MvSettings withSync(boolean all) {
        return new MvSettings(cacheBytes, mostDiskBytes, freeDiskBytes, retentionMillis, all, retryMillis);
    }
}

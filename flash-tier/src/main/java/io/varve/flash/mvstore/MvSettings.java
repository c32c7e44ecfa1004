package io.varve.flash.mvstore;

/**
 * How much a store takes. Immutable.
 *
 * @param cacheBytes    of heap for pages, rounded up to megabytes
 * @param mostDiskBytes that its file takes at the most; 0 for no limit
 * @param freeDiskBytes that it leaves free on the device: below it nothing is written
 * @param retryMillis   how long calls fail at once after a file that was given up could not be opened anew
 */
public record MvSettings(long cacheBytes, long mostDiskBytes, long freeDiskBytes, long retryMillis) {
    private static final long FREE_DISK_BYTES = 256L << 20;
    private static final long RETRY_MILLIS = 1000;

    public static MvSettings of(long cacheBytes) {
        return new MvSettings(cacheBytes, 0, FREE_DISK_BYTES, RETRY_MILLIS);
    }
}

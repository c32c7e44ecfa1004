package io.varve.experiments.plan;

import java.util.Locale;
import java.util.Map;

/**
 * The stores of a cache on flash and of the database behind it. Immutable.
 *
 * @param pageCache which files the system's page cache may hold during the requests
 * @param diskTreeBytes heap memory for the database's tree
 */
public record StoreSettings(PageCache pageCache, long diskTreeBytes) {
    private static final String DEFAULT_TREE = "64mb";

    /** The files that the system's page cache may hold. */
    public enum PageCache {
        /** All files: a miss costs little more than a hit. */
        YES,
        /** Those of the cache on flash only, which stands for a device that is much faster than the disk. */
        FLASH,
        /** None: each read of a record is a read of the device. */
        NO
    }

    /** @throws IllegalArgumentException if a property is invalid */
    static StoreSettings of(Map<String, String> workload) {
        return new StoreSettings(pageCache(workload.getOrDefault("page-cache", "yes")),
                ByteSizes.parse(workload.getOrDefault("disk-tree", DEFAULT_TREE)));
    }

    private static PageCache pageCache(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            // YAML reads these words as truth values in some places.
            case "yes", "true" -> PageCache.YES;
            case "flash" -> PageCache.FLASH;
            case "no", "false" -> PageCache.NO;
            default -> throw new IllegalArgumentException("page-cache '" + name + "': expected yes, flash or no");
        };
    }

    /** Whether the page cache may hold the database's files. */
    public boolean isDiskCached() {
        return pageCache == PageCache.YES;
    }

    /** Whether the page cache may hold the cache's files. */
    public boolean isFlashCached() {
        return pageCache != PageCache.NO;
    }
}

package io.varve.flash;

import java.time.Duration;

/**
 * The settings of a cache on flash. Immutable.
 *
 * @param items maximum number of cached items, 1 or more
 * @param writeBack whether a write reaches the database behind the cache only when the record is evicted; else at once
 * @param sync whether a write is on the device when it is acknowledged; else with the operating system
 * @param maxSteps maximum number of keys that a search for a victim visits
 * @param maxDuration maximum duration of a search for a victim: about that of a read from the database behind (TBF,
 *     section II-B)
 */
public record FlashCacheSettings(long items, boolean writeBack, boolean sync, int maxSteps, Duration maxDuration) {
    private static final int STEPS = 1000;
    private static final Duration TIME = Duration.ofMillis(10);

    /** @throws IllegalArgumentException if a number is out of its range */
    public FlashCacheSettings {
        if (items < 1 || maxSteps < 1) {
            throw new IllegalArgumentException(
                    "The capacity of a cache is at least one item, and a search visits at least one key");
        }
    }

    /** Write-through, handed to the system, with search limits that suit a disk behind. */
    public static FlashCacheSettings of(long items) {
        return new FlashCacheSettings(items, false, false, STEPS, TIME);
    }

    public FlashCacheSettings withWriteBack(boolean back) {
        return new FlashCacheSettings(items, back, sync, maxSteps, maxDuration);
    }

    public FlashCacheSettings withSync(boolean synced) {
        return new FlashCacheSettings(items, writeBack, synced, maxSteps, maxDuration);
    }
}

package io.varve.flash;

import java.time.Duration;

/**
 * How a cache on flash is set up. Immutable.
 *
 * @param items     that it holds at the most, 1 or more
 * @param writeBack whether a write reaches the database behind the cache only when the record is evicted; else at once
 * @param sync      whether a write is on the device when it is acknowledged; else with the operating system
 * @param mostSteps keys that a search for a victim looks at
 * @param mostTime  that a search for a victim takes: about what a read of the database behind takes (TBF, section II-B)
 */
public record FlashCacheSettings(long items, boolean writeBack, boolean sync, int mostSteps, Duration mostTime) {
    private static final int STEPS = 1000;
    private static final Duration TIME = Duration.ofMillis(10);

    /** @throws IllegalArgumentException if a number is out of its range */
    public FlashCacheSettings {
        if (items < 1 || mostSteps < 1) {
            throw new IllegalArgumentException(
                    "A cache holds one item and more, and a search looks at one key and more");
        }
    }

    /** Write-through, handed to the system, with the limits of a search that suit a disk behind. */
    public static FlashCacheSettings of(long items) {
        return new FlashCacheSettings(items, false, false, STEPS, TIME);
    }

    public FlashCacheSettings withWriteBack(boolean back) {
        return new FlashCacheSettings(items, back, sync, mostSteps, mostTime);
    }

    public FlashCacheSettings withSync(boolean synced) {
        return new FlashCacheSettings(items, writeBack, synced, mostSteps, mostTime);
    }
}

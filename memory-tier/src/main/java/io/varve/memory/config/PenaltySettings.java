package io.varve.memory.config;

import io.varve.memory.locality.partition.PenaltyRanges;

/**
 * Whether the cost of misses is measured, and how it affects the memory partitioning. Immutable.
 *
 * @param tracked whether items have penalty classes ({@link io.varve.memory.Cache#penalties}); a policy that needs
 *     classes enables them regardless
 * @param classes the number of classes, 1 to {@link PenaltyRanges#MAX_CLASSES}; fixed while the cache is open
 * @param floorPercent the share of the partitioned memory that each class with reads gets whatever its misses cost,
 *     in percent, 0 to {@link #MAX_FLOOR_PERCENT}
 */
public record PenaltySettings(boolean tracked, int classes, int floorPercent) {
    /** With the most classes, this leaves half of the memory to be partitioned by the cost of misses. */
    public static final int MAX_FLOOR_PERCENT = 3;
    public static final PenaltySettings OFF = new PenaltySettings(false, PenaltyRanges.MAX_CLASSES, 0);

    /** @throws IllegalArgumentException naming the setting that is out of its range */
    public PenaltySettings {
        if (classes < 1 || classes > PenaltyRanges.MAX_CLASSES) {
            throw new IllegalArgumentException(
                    "penalty-classes " + classes + ": expected 1 to " + PenaltyRanges.MAX_CLASSES);
        }
        if (floorPercent < 0 || floorPercent > MAX_FLOOR_PERCENT) {
            throw new IllegalArgumentException(
                    "penalty-floor " + floorPercent + ": expected 0 to " + MAX_FLOOR_PERCENT + " percent");
        }
    }
}

package io.varve.memory;

import io.varve.memory.locality.PenaltyRanges;

/**
 * Whether it is measured what misses cost, and how memory is divided for it. Immutable.
 *
 * @param tracked      whether items have classes of penalty ({@link Cache#penalties}); with a policy that needs them they have, whatever this says
 * @param classes      how many there are, 1 to {@link PenaltyRanges#MOST}: fixed as long as the cache is open
 * @param floorPercent of the memory that is divided, what each class that is read has whatever its misses cost, 0 to {@link #MOST_FLOOR_PERCENT}
 */
public record PenaltySettings(boolean tracked, int classes, int floorPercent) {
    /** With as many classes as there can be, half of the memory is left to be divided by what misses cost. */
    public static final int MOST_FLOOR_PERCENT = 3;
    public static final PenaltySettings OFF = new PenaltySettings(false, PenaltyRanges.MOST, 0);

    /** @throws IllegalArgumentException naming what is out of its range */
    public PenaltySettings {
        if (classes < 1 || classes > PenaltyRanges.MOST) {
            throw new IllegalArgumentException(
                    "penalty-classes " + classes + ": allowed is 1 to " + PenaltyRanges.MOST);
        }
        if (floorPercent < 0 || floorPercent > MOST_FLOOR_PERCENT) {
            throw new IllegalArgumentException(
                    "penalty-floor " + floorPercent + ": allowed is 0 to " + MOST_FLOOR_PERCENT + " percent");
        }
    }
}

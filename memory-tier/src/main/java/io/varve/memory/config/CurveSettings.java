package io.varve.memory.config;

/**
 * Whether accesses are recorded for the miss-ratio curve ({@link io.varve.memory.Cache#curve}). Immutable.
 *
 * @param recorded whether accesses are recorded
 * @param windowAccesses the accesses in a window, after which older samples lose weight; at least
 *     {@link #MIN_WINDOW}
 */
public record CurveSettings(boolean recorded, long windowAccesses) {
    /**
     * With windows of this size, the walk over the recorder's table that ends a window costs less than the recording.
     */
    public static final long MIN_WINDOW = 10_000;
    public static final long USUAL_WINDOW = 1_000_000;
    public static final CurveSettings OFF = new CurveSettings(false, USUAL_WINDOW);

    /** @throws IllegalArgumentException naming the setting that is out of its range */
    public CurveSettings {
        if (windowAccesses < MIN_WINDOW) {
            throw new IllegalArgumentException(
                    "mrc-window " + windowAccesses + ": expected at least " + MIN_WINDOW);
        }
    }
}

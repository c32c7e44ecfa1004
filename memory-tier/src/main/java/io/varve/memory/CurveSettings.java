package io.varve.memory;

/**
 * Whether accesses are recorded for the miss-ratio curve ({@link Cache#curve}). Immutable.
 *
 * @param recorded       whether they are
 * @param windowAccesses after so many, what was learnt before counts a little less, at least {@link #LEAST_WINDOW}
 */
public record CurveSettings(boolean recorded, long windowAccesses) {
    /** A walk over the recorder's table, which ends a window, then costs less than the recording. */
    public static final long LEAST_WINDOW = 10_000;
    public static final long USUAL_WINDOW = 1_000_000;
    public static final CurveSettings OFF = new CurveSettings(false, USUAL_WINDOW);

    /** @throws IllegalArgumentException naming what is out of its range */
    public CurveSettings {
        if (windowAccesses < LEAST_WINDOW) {
            throw new IllegalArgumentException(
                    "mrc-window " + windowAccesses + ": allowed is at least " + LEAST_WINDOW);
        }
    }
}

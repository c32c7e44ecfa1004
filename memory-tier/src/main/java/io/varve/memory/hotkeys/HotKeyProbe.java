package io.varve.memory.hotkeys;

import io.varve.memory.item.Key;

/** Samples the reads of one thread for {@link HotKeys}. Confined to that thread. */
public final class HotKeyProbe {
    private static final long RANDOM_FACTOR = 0x5851_F42D_4C95_7F2DL;
    private static final long RANDOM_TERM = 0x1405_7B7E_F767_814FL;
    /** Random distances, so that no pattern of the requests coincides with the samples. */
    private static final int DISTANCE_BITS = Integer.numberOfTrailingZeros(2 * HotKeys.PERIOD);

    private final HotKeys target;
    private long random;
    private int left;

    HotKeyProbe(HotKeys target, long seed) {
        this.target = target;
        random = seed;
        left = distance();
    }

    /** Counts a read. @return whether the caller must report its key to {@link #sampled} */
    public boolean isSampled() {
        return --left <= 0;
    }

    /**
     * Reports the key of a sampled read.
     *
     * @param database its physical number
     */
    public void sampled(Key key, int database) {
        left = distance();
        target.sampled(key, database);
    }

    /** From 1 to twice the period, by the high bits of a linear congruential generator. */
    private int distance() {
        random = random * RANDOM_FACTOR + RANDOM_TERM;
        return 1 + (int) (random >>> Long.SIZE - DISTANCE_BITS);
    }
}

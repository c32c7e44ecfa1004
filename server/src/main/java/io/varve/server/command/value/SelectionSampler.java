package io.varve.server.command.value;

import java.util.SplittableRandom;

/**
 * Selection sampling: decides for each element in turn whether it is picked, each with the same probability, without
 * storing anything. Confined to one command. Samplers with the same seed pick the same elements.
 */
public final class SelectionSampler {
    private final SplittableRandom random;
    private long left;
    private long missing;

    /**
     * @param of number of elements
     * @param wanted number of picks, at most {@code of}
     */
    public SelectionSampler(long seed, long of, long wanted) {
        random = new SplittableRandom(seed);
        left = of;
        missing = wanted;
    }

    /** Whether there are more picks to come. */
    public boolean areMissing() {
        return missing > 0;
    }

    /** Whether the next element is picked. */
    public boolean takeNext() {
        if (missing == 0 || random.nextLong(left--) >= missing) {
            return false;
        }
        missing--;
        return true;
    }
}

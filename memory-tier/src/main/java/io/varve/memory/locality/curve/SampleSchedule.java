package io.varve.memory.locality.curve;

import java.util.SplittableRandom;

/**
 * Chooses the next access to sample: one at a random position in each block of accesses. Confined to the counting
 * thread.
 */
public final class SampleSchedule {
    private final SplittableRandom random;
    private double blockEnd = 1;
    private long next;

    /** @param block length of the first block, at least 1 */
    public SampleSchedule(double block, long seed) {
        random = new SplittableRandom(seed);
        after(0, block);
    }

    /** The next access to sample; the first of all is number 1. */
    public long next() {
        return next;
    }

    /** Chooses an access in the next block that ends behind this access. */
    public void after(long access, double block) {
        do {
            next = (long) (blockEnd + random.nextDouble() * block);
            blockEnd += block;
        } while (blockEnd <= access + 1);
        next = Math.max(next, access + 1);
    }
}

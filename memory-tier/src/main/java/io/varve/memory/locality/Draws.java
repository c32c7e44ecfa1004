package io.varve.memory.locality;

import java.util.SplittableRandom;

/** Where the next access is that is drawn: one in each block of accesses, anywhere in it. Confined to whoever counts them. */
final class Draws {
    private final SplittableRandom random;
    private double blockEnd = 1;
    private long next;

    /** @param block length of the first block, at least 1 */
    Draws(double block, long seed) {
        random = new SplittableRandom(seed);
        after(0, block);
    }

    /** The next access that is to be drawn; the first of all is number 1. */
    long next() {
        return next;
    }

    /** Draws in the next block that ends behind this access. */
    void after(long access, double block) {
        do {
            next = (long) (blockEnd + random.nextDouble() * block);
            blockEnd += block;
        } while (blockEnd <= access + 1);
        next = Math.max(next, access + 1);
    }
}

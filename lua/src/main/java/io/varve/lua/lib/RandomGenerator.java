package io.varve.lua.lib;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Redis's pseudo-random numbers: a linear congruential generator of 48 bits with the constants of drand48. Confined to
 * the state's thread. A state begins with a random seed, and scripts go on where the last one ended.
 */
final class RandomGenerator {
    private static final long MULTIPLIER = 0x5DEECE66DL;
    private static final long INCREMENT = 0xB;
    private static final long LOW_BITS = 0x330E;
    private static final long MASK = (1L << 48) - 1;
    private static final int MAX = Integer.MAX_VALUE;

    private long state;

    RandomGenerator() {
        seed(ThreadLocalRandom.current().nextInt());
    }

    void seed(int seed) {
        state = (seed & 0xffff_ffffL) << 16 | LOW_BITS;
    }

    /** A number from 0 to below 1. */
    double nextShare() {
        state = state * MULTIPLIER + INCREMENT & MASK;
        int bits = (int) (state >>> 17);
        return (double) (bits % MAX) / MAX;
    }
}

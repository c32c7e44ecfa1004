package io.varve.memory.locality;

import java.util.SplittableRandom;

/**
 * At which rate accesses are drawn: one in each block ({@link Draws}) of a length that is the inverse of the rate. Confined to its recorder.
 *
 * <p>So how many are drawn is no matter of chance, only which; and it has nothing to do with keys.
 */
final class DrawRate {
    private static final double STEP = 8.0 / 7;
    private static final int LEVELS = 120;

    /** Of how many accesses one that is drawn stands, by level. */
    private final double[] weights = new double[LEVELS];
    private final SplittableRandom random;
    /** The last level that is not below the lowest rate wanted. */
    private final int lastLevel;
    private int level;

    DrawRate(Sampling sampling, long seed) {
        random = new SplittableRandom(seed);
        double weight = 1 / sampling.highest();
        int last = 0;
        for (int i = 0; i < LEVELS; i++) {
            weights[i] = weight;
            // What is a rounding error above the limit is at it.
            last = weight * sampling.lowest() <= 1 + 1e-9 ? i : last;
            weight *= STEP;
        }
        lastLevel = last;
    }

    /** The length of a block at the present rate. */
    double block() {
        return weights[level];
    }

    int level() {
        return level;
    }

    double weight(int ofLevel) {
        return weights[ofLevel];
    }

    /** Whether the rate would fall below the lowest that is wanted. */
    boolean lowest() {
        return level >= lastLevel;
    }

    void lower() {
        level = Math.min(level + 1, LEVELS - 1);
    }

    /** Raises the rate to so many times the present one, or a step less, but not above the highest. */
    void raise(double times) {
        double weight = weights[level] / times;
        while (level > 0 && weights[level - 1] >= weight) {
            level--;
        }
    }

    /** Whether what was drawn at a level stays at the present one. */
    boolean keeps(int drawnLevel) {
        return random.nextDouble() * weights[level] < weights[drawnLevel];
    }
}

package io.varve.memory.locality.curve;

import java.util.SplittableRandom;

/**
 * The rate at which accesses are sampled: one in each block ({@link SampleSchedule}), whose length is the inverse of
 * the rate. Confined to its recorder.
 *
 * <p>The number of sampled accesses is therefore not random, only their choice is; and it does not depend on keys.
 */
final class SamplingRate {
    private static final double STEP = 8.0 / 7;
    private static final int LEVELS = 120;

    /** By level, the number of accesses that a sample stands for. */
    private final double[] weights = new double[LEVELS];
    private final SplittableRandom random;
    /** The last level that is not below the lowest wanted rate. */
    private final int lastLevel;
    private int level;

    SamplingRate(Sampling sampling, long seed) {
        random = new SplittableRandom(seed);
        double weight = 1 / sampling.highest();
        int last = 0;
        for (int i = 0; i < LEVELS; i++) {
            weights[i] = weight;
            // A rounding error above the limit counts as at the limit.
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

    /** Whether the rate would fall below the lowest wanted one. */
    boolean lowest() {
        return level >= lastLevel;
    }

    void reduce() {
        level = Math.min(level + 1, LEVELS - 1);
    }

    /** Raises the rate by this factor, or a step less, but not above the highest. */
    void raise(double times) {
        double weight = weights[level] / times;
        while (level > 0 && weights[level - 1] >= weight) {
            level--;
        }
    }

    /** Whether a sample of an earlier level stays at the present one; random. */
    boolean keeps(int sampledLevel) {
        return random.nextDouble() * weights[level] < weights[sampledLevel];
    }
}

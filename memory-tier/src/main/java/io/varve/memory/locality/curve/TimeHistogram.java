package io.varve.memory.locality.curve;

import java.util.Arrays;

/**
 * Amounts by reuse time, in the buckets of {@link ReuseHistograms#TIMES}. Confined to its recorder. It takes memory
 * only up to the longest reuse time that occurs, because a small cache sees only short ones.
 */
final class TimeHistogram {
    private static final LogBuckets TIMES = ReuseHistograms.TIMES;
    /** It grows by this many buckets: those from a power of two to the next. */
    private static final int STEP = 1 << TIMES.bits();
    private static final int NEVER = TIMES.buckets() - 1;

    private double[] amounts = new double[STEP];
    /** The amount of the last bucket. */
    private double never;

    /** @param accesses the reuse time; {@link Long#MAX_VALUE} for never */
    void add(long accesses, double amount) {
        int bucket = TIMES.bucket(accesses);
        put(bucket, get(bucket) + amount);
    }

    double get(int bucket) {
        if (bucket < amounts.length) {
            return amounts[bucket];
        }
        return bucket == NEVER ? never : 0;
    }

    void put(int bucket, double amount) {
        if (bucket == NEVER) {
            never = amount;
        } else if (bucket < amounts.length) {
            amounts[bucket] = amount;
        } else if (amount != 0) {
            amounts = Arrays.copyOf(amounts, (bucket / STEP + 1) * STEP);
            amounts[bucket] = amount;
        }
    }

    /** Multiplies all amounts by a factor. */
    void scale(double by) {
        for (int i = 0; i < amounts.length; i++) {
            amounts[i] *= by;
        }
        never *= by;
    }

    /** The memory of the histogram in bytes, without single numbers. */
    long bytes() {
        return (long) amounts.length * Double.BYTES;
    }
}

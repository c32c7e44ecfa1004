package io.varve.memory.locality;

import java.util.Arrays;

/**
 * Amounts by reuse time, in the buckets of {@link ReuseHistograms#TIMES}. Takes memory up to the longest time of which there is any, as a small cache knows short ones only.
 * Confined to its recorder.
 */
final class TimeHistogram {
    private static final Scale TIMES = ReuseHistograms.TIMES;
    /** It grows by so many buckets: those from a power of two to the next. */
    private static final int STEP = 1 << TIMES.bits();
    private static final int NEVER = TIMES.buckets() - 1;

    private double[] amounts = new double[STEP];
    /** Of the last bucket. */
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

    /** Has all of it count less, or more. */
    void scale(double by) {
        for (int i = 0; i < amounts.length; i++) {
            amounts[i] *= by;
        }
        never *= by;
    }

    /** What it takes in memory, but for single numbers. */
    long bytes() {
        return (long) amounts.length * Double.BYTES;
    }
}

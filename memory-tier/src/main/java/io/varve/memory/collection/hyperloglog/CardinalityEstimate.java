package io.varve.memory.collection.hyperloglog;

import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.INDEX_BITS;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS;

/**
 * Estimates the number of different elements from the histogram of register values. Immutable: static methods only. It
 * is the improved raw estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017,
 * section 4.
 */
final class CardinalityEstimate {
    /** One more than the largest value of a register. */
    static final int VALUES = 1 << HyperLogLogLayout.REGISTER_BITS;

    /** Bits of a hash whose trailing zeros are counted. */
    private static final int RANK_BITS = Long.SIZE - INDEX_BITS;
    /** 1 / (2 ln 2). */
    private static final double ALPHA = 0.7213475204444817;

    private CardinalityEstimate() {}

    static long of(int[] histogram) {
        double m = REGISTERS;
        double z = m * tau((m - histogram[RANK_BITS + 1]) / m);
        for (int value = RANK_BITS; value >= 1; value--) {
            z += histogram[value];
            z *= 0.5;
        }
        z += m * sigma(histogram[0] / m);
        // Half is rounded away from zero, as in C.
        return (long) Math.floor(ALPHA * m * m / z + 0.5);
    }

    private static double sigma(double share) {
        if (share == 1) {
            return Double.POSITIVE_INFINITY;
        }
        double x = share;
        double y = 1;
        double z = x;
        double before;
        do {
            x *= x;
            before = z;
            z += x * y;
            y += y;
        } while (before != z);
        return z;
    }

    private static double tau(double share) {
        if (share == 0 || share == 1) {
            return 0;
        }
        double x = share;
        double y = 1;
        double z = 1 - x;
        double before;
        do {
            x = Math.sqrt(x);
            before = z;
            y *= 0.5;
            z -= (1 - x) * (1 - x) * y;
        } while (before != z);
        return z / 3;
    }
}

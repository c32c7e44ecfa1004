package io.varve.experiments.result;

import java.util.Collection;

/**
 * Median and range of a few repetitions. Immutable.
 *
 * @param count  how many
 * @param min    the least
 * @param median the middle one, or halfway between the two in the middle
 * @param max    the greatest
 */
public record Middle(int count, double min, double median, double max) {
    /** @throws IllegalArgumentException if there are no values */
    public static Middle of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int half = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
        return new Middle(sorted.length, sorted[0], median, sorted[sorted.length - 1]);
    }
}

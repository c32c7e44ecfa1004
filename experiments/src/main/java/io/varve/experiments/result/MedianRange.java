package io.varve.experiments.result;

import java.util.Collection;

/**
 * Median and range of a few repetitions. Immutable.
 *
 * @param count number of values
 * @param min least value
 * @param median the middle value, or the mean of the two middle ones
 * @param max greatest value
 */
public record MedianRange(int count, double min, double median, double max) {
    /** @throws IllegalArgumentException if there are no values */
    public static MedianRange of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int half = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
        return new MedianRange(sorted.length, sorted[0], median, sorted[sorted.length - 1]);
    }
}

package io.varve.experiments.result;

import java.util.Collection;

/**
 * Range and mean of some values, as the paper's bars show them. Immutable.
 *
 * @param count number of values
 * @param min least value
 * @param mean arithmetic
 * @param max greatest value
 */
public record Spread(int count, double min, double mean, double max) {
    /** @throws IllegalArgumentException if there are no values */
    public static Spread of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        double sum = 0;
        for (double value : values) {
            min = Math.min(min, value);
            max = Math.max(max, value);
            sum += value;
        }
        return new Spread(values.size(), min, sum / values.size(), max);
    }
}

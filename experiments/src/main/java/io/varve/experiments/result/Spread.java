package io.varve.experiments.result;

import java.util.Collection;

/**
 * Range and mean of some values: what the paper's bars show. Immutable.
 *
 * @param count how many values
 * @param min   the least
 * @param mean  arithmetic
 * @param max   the greatest
 */
public record Spread(int count, double min, double mean, double max) {
    /** @throws IllegalArgumentException if there are no values: nothing has no range */
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

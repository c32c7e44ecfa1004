package io.varve.experiments.curve;

import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * The distance between two miss-ratio curves, in points (hundredths). Immutable.
 *
 * @param even mean over evenly spaced sizes, up to the largest
 * @param ratio mean over sizes in a geometric series, from a thousandth of the largest
 * @param largest maximum over all of them
 */
public record CurveDistance(double even, double ratio, double largest) {
    private static final int POINTS = 500;
    private static final double SMALLEST = 1e-3;
    private static final double PERCENT = 100;

    static CurveDistance of(DoubleUnaryOperator one, DoubleUnaryOperator other, double largestBytes) {
        double evenSum = 0;
        double ratioSum = 0;
        double largest = 0;
        for (int i = 1; i <= POINTS; i++) {
            double part = (double) i / POINTS;
            double even = difference(one, other, largestBytes * part);
            double ratio = difference(one, other, largestBytes * Math.pow(SMALLEST, 1 - part));
            evenSum += even;
            ratioSum += ratio;
            largest = Math.max(largest, Math.max(even, ratio));
        }
        return new CurveDistance(PERCENT * evenSum / POINTS, PERCENT * ratioSum / POINTS, PERCENT * largest);
    }

    private static double difference(DoubleUnaryOperator one, DoubleUnaryOperator other, double bytes) {
        return Math.abs(one.applyAsDouble(bytes) - other.applyAsDouble(bytes));
    }

    /** The mean of several distances, and the largest of all. */
    static CurveDistance mean(List<CurveDistance> several) {
        return new CurveDistance(several.stream().mapToDouble(CurveDistance::even).average().orElse(0),
                several.stream().mapToDouble(CurveDistance::ratio).average().orElse(0),
                several.stream().mapToDouble(CurveDistance::largest).max().orElse(0));
    }

    /** The larger mean. */
    double mean() {
        return Math.max(even, ratio);
    }
}

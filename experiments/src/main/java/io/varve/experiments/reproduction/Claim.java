package io.varve.experiments.reproduction;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A statement of a paper about one number, and the limits within which our measurement agrees with it. Immutable.
 *
 * @param says the statement, in our words
 * @param value our number
 * @param unit the unit of the number, such as {@code %}; empty for a ratio or a count
 * @param published the number that the paper prints; null if it prints none
 * @param within the largest deviation from the published number that still agrees, in percent of that number
 * @param atLeast the least value that agrees; null if there is none
 * @param atMost the greatest value that agrees; null if there is none
 */
public record Claim(String says, Measure value, @Nullable String unit, @Nullable Double published,
        @Nullable Double within, @Nullable Double atLeast, @Nullable Double atMost) {
    private static final double WHOLE = 100;

    /** Whether a finite measured value agrees. */
    boolean holds(double measured) {
        return measured >= least() && measured <= most();
    }

    /** Whether it states any limit. */
    boolean isBounded() {
        return within != null && published != null || atLeast != null || atMost != null;
    }

    private double least() {
        double ofPublished = published == null || within == null
                ? Double.NEGATIVE_INFINITY
                : published - Math.abs(published) * within / WHOLE;
        return Math.max(ofPublished, atLeast == null ? Double.NEGATIVE_INFINITY : atLeast);
    }

    private double most() {
        double ofPublished = published == null || within == null
                ? Double.POSITIVE_INFINITY
                : published + Math.abs(published) * within / WHOLE;
        return Math.min(ofPublished, atMost == null ? Double.POSITIVE_INFINITY : atMost);
    }

    /** The limits in words. */
    String limits() {
        double least = least();
        double most = most();
        if (Double.isInfinite(least)) {
            return "at most " + text(most);
        }
        return Double.isInfinite(most) ? "at least " + text(least) : text(least) + " to " + text(most);
    }

    /** A value with the claim's unit. */
    String text(double number) {
        double size = Math.abs(number);
        String format = size >= WHOLE || number == Math.rint(number) ? "%,.0f" : size >= 1 ? "%.2f" : "%.3f";
        String all = String.format(Locale.ROOT, format, number);
        String digits = all.contains(".") ? all.replaceAll("\\.?0+$", "") : all;
        return unit == null || unit.isEmpty() ? digits : digits + " " + unit;
    }
}

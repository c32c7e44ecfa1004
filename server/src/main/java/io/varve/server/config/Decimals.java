package io.varve.server.config;

import java.util.Locale;

/**
 * Formats numbers with a fixed count of decimals, as {@code %.2f} does, but without a formatter. Immutable: static
 * methods only. A formatter that is rarely used is never compiled and takes tens of microseconds.
 */
public final class Decimals {
    private static final long[] POWERS = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000};
    /**
     * Below this limit a product is off by less than 1/8192 of a unit, so that only values that near to a tie may be
     * rounded differently.
     */
    private static final double EXACT = 1e12;

    private Decimals() {}

    /**
     * @param places 1 to 6
     */
    public static String of(double value, int places) {
        long power = POWERS[places];
        double scaled = Math.abs(value) * power;
        if (!(scaled < EXACT)) {
            return String.format(Locale.ROOT, "%." + places + "f", value);
        }
        long units = Math.round(scaled);
        String decimals = Long.toString(power + units % power).substring(1);
        return (value < 0 ? "-" : "") + units / power + "." + decimals;
    }
}

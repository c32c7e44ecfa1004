package io.varve.experiments.chart;

import java.util.Locale;

/** Numbers as charts print them. Stateless. */
final class Numbers {
    private static final double MILLION = 1e6;
    private static final double THOUSAND = 1e3;
    private static final double GREATEST_SUFFIXED = 1e18;
    private static final double LEAST_DECIMAL = 1e-4;
    private static final double LEAST_VALUE = 0.005;
    /** A printed value has at least this many units of its last digit, so that it is not far from the true one. */
    private static final int FEW_UNITS = 5;
    private static final int MAX_DECIMALS = 6;
    private static final String[] SUFFIXES = {"M", "G", "T", "P"};

    private Numbers() {}

    /**
     * A value beside its bar.
     *
     * @param greatest the greatest value of the chart, which gives the number of decimals of most values
     */
    static String value(double value, double greatest) {
        double size = Math.abs(value);
        if (size == 0) {
            return "0";
        }
        if (size >= MILLION || size < LEAST_VALUE) {
            return tick(value, precise(size));
        }
        int decimals = greatest < 10 ? 2 : greatest < 100 ? 1 : 0;
        while (size * Math.pow(10, decimals) < FEW_UNITS) {
            decimals++;
        }
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    /** The unit of the third digit. */
    private static double precise(double size) {
        return Math.pow(10, Math.floor(Math.log10(size)) - 2);
    }

    /**
     * A value on an axis.
     *
     * @param step a number that divides all values of the axis, which gives the number of decimals
     */
    static String tick(double value, double step) {
        double size = Math.abs(value);
        if (size >= GREATEST_SUFFIXED || size > 0 && size < LEAST_DECIMAL) {
            return String.format(Locale.ROOT, "%.1e", value).replaceFirst("[.]0e", "e").replaceFirst("e([+]|(-))0*",
                    "e$2");
        }
        if (size == 0 && step < LEAST_DECIMAL) {
            return "0";
        }
        if (size < MILLION) {
            return trimmed(value, step);
        }
        int suffix = 0;
        double unit = MILLION;
        while (size >= unit * THOUSAND && suffix < SUFFIXES.length - 1) {
            unit *= THOUSAND;
            suffix++;
        }
        return trimmed(value / unit, step / unit) + " " + SUFFIXES[suffix];
    }

    private static String trimmed(double value, double step) {
        int decimals = 0;
        double scaled = step;
        while (decimals < MAX_DECIMALS && Math.abs(scaled - Math.rint(scaled)) > 1e-6 * Math.max(1, scaled)) {
            scaled *= 10;
            decimals++;
        }
        return String.format(Locale.ROOT, "%,." + decimals + "f", value == 0 ? 0.0 : value);
    }
}

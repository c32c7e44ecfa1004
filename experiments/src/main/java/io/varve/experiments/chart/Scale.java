package io.varve.experiments.chart;

import java.util.ArrayList;
import java.util.List;

/**
 * An axis: its range and the values that it prints. Immutable.
 *
 * @param min the value at its start
 * @param max the value at its end, greater than {@code min}
 * @param logarithmic whether equal distances are equal ratios
 * @param step the distance of two ticks; 0 for a logarithmic axis
 * @param ticks the printed values
 */
record Scale(double min, double max, boolean logarithmic, double step, List<Double> ticks) {
    private static final double[] NICE = {1, 2, 2.5, 5, 10};
    private static final double[] IN_DECADE = {1, 2, 5};
    private static final int FEW_DECADES = 2;
    private static final int MAX_DECADES = 12;
    private static final double ROUNDING = 1e-9;

    /**
     * An axis that includes zero, and starts below zero only if a value does.
     *
     * @param intervals the most intervals between ticks
     * @param tight whether it ends at the greatest value, not at the next tick
     */
    static Scale linear(double least, double greatest, int intervals, boolean tight) {
        double low = Math.min(0, finite(least));
        double high = Math.max(0, finite(greatest));
        if (low == high) {
            high = 1;
        }
        double step = nice((high - low) / Math.max(1, intervals));
        double min = Math.floor(low / step + ROUNDING) * step;
        double last = Math.ceil(high / step - ROUNDING) * step;
        double max = tight ? high : last;
        List<Double> ticks = new ArrayList<>();
        for (long i = Math.round(min / step); i * step <= max * (1 + ROUNDING); i++) {
            ticks.add(i * step);
        }
        return new Scale(min, max, false, step, List.copyOf(ticks));
    }

    /** An axis from a round value to a round value, for values above zero. */
    static Scale logarithmic(double least, double greatest) {
        double low = least > 0 && Double.isFinite(least) ? least : 1;
        double high = greatest > low && Double.isFinite(greatest) ? greatest : low * 10;
        int from = (int) Math.floor(Math.log10(low) + ROUNDING);
        int to = (int) Math.ceil(Math.log10(high) - ROUNDING);
        int distance = 1 + (to - from) / MAX_DECADES;
        List<Double> all = new ArrayList<>();
        List<Double> printed = new ArrayList<>();
        for (int decade = from; decade <= to; decade++) {
            for (double digit : IN_DECADE) {
                all.add(digit * Math.pow(10, decade));
                if (to - from <= FEW_DECADES || digit == 1 && (decade - from) % distance == 0) {
                    printed.add(all.getLast());
                }
            }
        }
        double min = all.stream().filter(tick -> tick <= low * (1 + ROUNDING)).max(Double::compare).orElse(low);
        double max = all.stream().filter(tick -> tick >= high * (1 - ROUNDING)).min(Double::compare).orElse(high);
        return new Scale(min, max, true, 0, printed.stream().filter(tick -> tick >= min && tick <= max).toList());
    }

    private static double finite(double value) {
        return Double.isFinite(value) ? value : 0;
    }

    private static double nice(double raw) {
        double power = Math.pow(10, Math.floor(Math.log10(raw)));
        for (double digit : NICE) {
            if (digit * power >= raw * (1 - ROUNDING)) {
                return digit * power;
            }
        }
        return 10 * power;
    }

    /** The place of a value: 0 at the start, 1 at the end. */
    double fraction(double value) {
        return logarithmic
                ? (Math.log(value) - Math.log(min)) / (Math.log(max) - Math.log(min))
                : (value - min) / (max - min);
    }

    boolean shows(double value) {
        return Double.isFinite(value) && (!logarithmic || value > 0);
    }

    String label(double tick) {
        return Numbers.tick(tick, logarithmic ? tick : step);
    }

    double widestLabel() {
        return ticks.stream().mapToDouble(tick -> TextMetrics.width(label(tick), Theme.TICK, false)).max().orElse(0);
    }
}

package io.varve.experiments.result;

/** The paper's two relative differences (section 4.5), in percent. Stateless. */
public final class Percent {
    private static final double WHOLE = 100;

    private Percent() {}

    /** Reduction against the baseline; negative for an increase. NaN without a baseline. */
    public static double reduction(double baseline, double measured) {
        return baseline == 0 ? Double.NaN : WHOLE * (baseline - measured) / baseline;
    }

    /** Increase against the baseline; negative for a reduction. NaN without a baseline. */
    public static double improvement(double baseline, double measured) {
        return baseline == 0 ? Double.NaN : WHOLE * (measured - baseline) / baseline;
    }
}

package io.varve.experiments.result;

/** The paper's two relative differences (section 4.5), in percent. Stateless. */
public final class Percent {
    private static final double WHOLE = 100;

    private Percent() {}

    /** How much less than the baseline; negative if it is more. NaN without a baseline. */
    public static double reduction(double baseline, double measured) {
        return baseline == 0 ? Double.NaN : WHOLE * (baseline - measured) / baseline;
    }

    /** How much more than the baseline; negative if it is less. NaN without a baseline. */
    public static double improvement(double baseline, double measured) {
        return baseline == 0 ? Double.NaN : WHOLE * (measured - baseline) / baseline;
    }
}

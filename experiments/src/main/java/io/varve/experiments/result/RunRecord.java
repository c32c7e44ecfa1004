package io.varve.experiments.result;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.plan.RunSpec;
import org.jspecify.annotations.Nullable;

/**
 * The result of a run: {@code run.json}. Immutable.
 *
 * @param run the run
 * @param group the configuration's group
 * @param outcome how it ended
 * @param faults why it failed, a sentence each; empty if it did not
 * @param startedAt ISO 8601
 * @param experiment its name
 * @param scale its name
 * @param scaleAbout description of the scale
 * @param seed the seed of all random numbers
 * @param serverVersion name and version as the server reports them
 * @param startedBy the command line
 * @param settings the server's settings that the experiment chose
 * @param load the load's properties
 * @param machine system, processor, memory, JDK
 * @param phases parts of the run with their times
 * @param measured numbers by name
 * @param checks conditions and their results
 * @param cells throughput by test and pipeline; empty for other experiments
 */
public record RunRecord(RunSpec run, String group, Outcome outcome, List<String> faults, String startedAt,
        String experiment, String scale, String scaleAbout, long seed, String serverVersion, String startedBy,
        Map<String, String> settings, Map<String, String> load, Map<String, String> machine, List<Phase> phases,
        Map<String, Double> measured, List<Check> checks, List<Cell> cells) {

    /** The check that a throttled run got its planned load; otherwise memory is not comparable. */
    public static final String SAME_LOAD = "operations missing from the throttled load, %";

    /** The check that the generator ran nearly all the time. */
    public static final String DISTURBED = "requests left out because the generator was interrupted, %";
    /** The checks that the load caused the intended events. */
    public static final String KEYS_EXPIRED = "expired keys";
    public static final String KEYS_EVICTED = "evicted keys";
    public static final String REHASHED = "doublings of an index table";
    private static final Set<String> OF_THE_LOAD = Set.of(SAME_LOAD, DISTURBED, KEYS_EXPIRED, KEYS_EVICTED,
            REHASHED);

    /** Whether a check is about the load, which must hold for a baseline too. */
    public static boolean isOfTheLoad(Check check) {
        return OF_THE_LOAD.contains(check.what());
    }

    /** Whether the run got less load than planned, because machine or server did not keep up. */
    public boolean fellShort() {
        return checks.stream().anyMatch(check -> check.what().equals(SAME_LOAD) && !check.held());
    }

    /** How a run ended. */
    public enum Outcome {
        OK, FAILED, INTERRUPTED
    }

    /**
     * A part of a run.
     *
     * @param name load, operations, wait …
     * @param startMillis start, ms after FLUSHALL
     * @param endMillis end, ms after FLUSHALL
     */
    public record Phase(String name, long startMillis, long endMillis) {}

    /**
     * A condition and its result.
     *
     * @param what the condition in words
     * @param value the measured value
     * @param limit maximum, or minimum
     * @param held whether the condition held
     * @param least whether the limit is a minimum
     * @param notAsserted the reason why the run cannot fail this check; null if it can
     */
    public record Check(String what, double value, double limit, boolean held, boolean least,
            @Nullable String notAsserted) {
        private static final double WHOLE_FROM = 1000;

        public static Check atMost(String what, double value, double limit) {
            return new Check(what, value, limit, value <= limit, false, null);
        }

        public static Check atLeast(String what, double value, double limit) {
            return new Check(what, value, limit, value >= limit, true, null);
        }

        /** The check of a run that is too small for it: value and limit are reported, without a verdict. */
        public Check notAsserted(String why) {
            return new Check(what, value, limit, held, least, why);
        }

        /** Whether the condition was asserted and did not hold. */
        public boolean hasFailed() {
            return !held && notAsserted == null;
        }

        /** The verdict in words. */
        public String verdict() {
            return notAsserted != null ? "reported" : held ? "held" : "NOT HELD";
        }

        /** A human-readable form with value and limit; shares and small numbers with decimals. */
        public String text() {
            boolean whole = value == Math.rint(value) && limit == Math.rint(limit) || Math.abs(limit) >= WHOLE_FROM;
            // A limit of 1.015 must not show as 1.02.
            boolean fine = Math.abs(limit * 100 - Math.rint(limit * 100)) > 1e-9;
            String format = whole
                    ? "%s: %,.0f (at %s %,.0f)"
                    : fine ? "%s: %,.3f (at %s %,.3f)" : "%s: %,.2f (at %s %,.2f)";
            return String.format(Locale.ROOT, format, what, value, least ? "least" : "most", limit)
                    + (notAsserted == null ? "" : "; not asserted: " + notAsserted);
        }
    }

    public double number(String name) {
        return measured.getOrDefault(name, Double.NaN);
    }

    /**
     * The median and the range that {@link RunMetrics#put(String, MedianRange)} has stored.
     *
     * @return null if it has stored nothing; the count is unknown
     */
    public @Nullable MedianRange range(String name) {
        double median = number(name);
        return Double.isNaN(median)
                ? null
                : new MedianRange(1, number(name + RunMetrics.LEAST), median, number(name + RunMetrics.MOST));
    }
}

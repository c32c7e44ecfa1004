package io.varve.experiments.result;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.plan.RunSpec;

/**
 * What is known of a run when it is over: {@code run.json}. Immutable.
 *
 * @param run           which
 * @param group         the configuration's group
 * @param outcome       how it ended
 * @param faults        why it failed, a sentence each; empty if it did not
 * @param startedAt     ISO 8601
 * @param experiment    its name
 * @param scale         its name
 * @param scaleAbout    what is scaled
 * @param seed          of all random numbers
 * @param serverVersion name and version as the server says
 * @param startedBy     the command line
 * @param settings      the server's that the experiment chose
 * @param load          the load's properties
 * @param machine       system, processor, memory, JDK
 * @param phases        what happened when
 * @param measured      numbers by name
 * @param checks        what was to hold
 * @param cells         throughput by test and pipeline; empty for other experiments
 */
public record RunRecord(RunSpec run, String group, Outcome outcome, List<String> faults, String startedAt,
        String experiment, String scale, String scaleAbout, long seed, String serverVersion, String startedBy,
        Map<String, String> settings, Map<String, String> load, Map<String, String> machine, List<Phase> phases,
        Map<String, Double> measured, List<Check> checks, List<Cell> cells) {

    /** The check that a throttled run got the load that the others got; without it, memory is not comparable. */
    public static final String SAME_LOAD = "operations that the throttled load fell short of its plan, %";

    /** The check that the generator ran nearly all the time. */
    public static final String DISTURBED = "requests during which the generator was held up, and that do not count, %";
    /** The checks that what was to happen under the load did. */
    public static final String KEYS_EXPIRED = "keys that expired meanwhile";
    public static final String KEYS_EVICTED = "keys that were evicted meanwhile";
    public static final String REHASHED = "times that a table doubled meanwhile";
    private static final Set<String> OF_THE_LOAD = Set.of(SAME_LOAD, DISTURBED, KEYS_EXPIRED, KEYS_EVICTED,
            REHASHED);

    /** Whether a check is about the load, which a baseline has to have got like the others. */
    static boolean isOfTheLoad(Check check) {
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
     * @param name        load, operations, wait …
     * @param startMillis since FLUSHALL
     * @param endMillis   since FLUSHALL
     */
    public record Phase(String name, long startMillis, long endMillis) {}

    /**
     * Something that was to hold.
     *
     * @param what  in words
     * @param value measured
     * @param limit allowed at most, or at least
     * @param held  whether it did
     * @param least whether the limit is the least that is allowed
     */
    public record Check(String what, double value, double limit, boolean held, boolean least) {
        private static final double WHOLE_FROM = 1000;

        public static Check atMost(String what, double value, double limit) {
            return new Check(what, value, limit, value <= limit, false);
        }

        public static Check atLeast(String what, double value, double limit) {
            return new Check(what, value, limit, value >= limit, true);
        }

        /** For a person: what, how much, and how much it may be; shares and small numbers with decimals. */
        String text() {
            boolean whole = value == Math.rint(value) && limit == Math.rint(limit) || Math.abs(limit) >= WHOLE_FROM;
            // A limit of 1.015 is not 1.02.
            boolean fine = Math.abs(limit * 100 - Math.rint(limit * 100)) > 1e-9;
            String format = whole
                    ? "%s: %,.0f (at %s %,.0f)"
                    : fine ? "%s: %,.3f (at %s %,.3f)" : "%s: %,.2f (at %s %,.2f)";
            return String.format(Locale.ROOT, format, what, value, least ? "least" : "most", limit);
        }
    }

    public double number(String name) {
        return measured.getOrDefault(name, Double.NaN);
    }
}

package io.varve.experiments.result.table;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;

/** The names of the cleaner experiment's numbers, and their table for a terminal. Stateless. */
public final class CleanerText {
    /** Equation 2 of redis-plus-plus: the sum, over the cleaned segments, of their live share. */
    public static final String COST = "reclaim_cost";
    public static final String CLEANED = "segments_cleaned";
    public static final String MEAN_UTILIZATION = "mean_utilization_of_cleaned";
    public static final String WITHOUT_MOVING = "share_freed_without_moving";
    public static final String MOVED = "bytes_moved_per_byte_written";
    /** The setting that is present if heads are not separated by lifetime. */
    public static final String HEADS = "segment-heads";

    private CleanerText() {}

    static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(run -> run.measured().containsKey(COST));
    }

    public static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%n%-22s %-18s %12s %10s %8s %14s %12s%n",
                "workload", "configuration", "ReclaimCost", "cleaned", "mean u", "moved/written", "unmoved"));
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%-22s %-18s %12s %10s %8s %14s %12s", run.run().workload(),
                    run.run().configuration(), format("%,.1f", run.number(COST)), format("%,.0f", run.number(CLEANED)),
                    format("%.3f", run.number(MEAN_UTILIZATION)), format("%.3f", run.number(MOVED)),
                    format("%.1f %%", 100 * run.number(WITHOUT_MOVING))));
            Summary.appendOutcome(text, run);
            Summary.appendChecks(text, run);
        }
        text.append('\n');
        totals(runs).forEach((name, total) -> text.append(String.format(Locale.ROOT,
                "%-18s ReclaimCost of its %d loads: %,.1f; bytes moved per byte written: %.3f%n", name, total.runs(),
                total.cost(), total.moved() / total.written())));
        return text.append('\n').toString();
    }

    /**
     * All loads of a configuration together.
     *
     * @param runs number of runs
     * @param cost ReclaimCost
     * @param moved bytes
     * @param written bytes
     */
    public record Total(int runs, double cost, double moved, double written) {
        Total with(RunRecord run) {
            return new Total(runs + 1, cost + run.number(COST), moved + run.number("bytes_moved"),
                    written + run.number("bytes_written"));
        }
    }

    public static Map<String, Total> totals(List<RunRecord> runs) {
        Map<String, Total> totals = new LinkedHashMap<>();
        for (RunRecord run : runs) {
            if (run.outcome() == Outcome.OK && Double.isFinite(run.number(COST))) {
                totals.merge(run.run().configuration(), new Total(0, 0, 0, 0).with(run),
                        (before, _) -> before.with(run));
            }
        }
        return totals;
    }

    private static String format(String how, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}

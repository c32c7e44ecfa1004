package io.varve.experiments.result.table;

import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.DisplayName;
import io.varve.experiments.result.RunRecord;

/** The names of the numbers about delays of {@code expired} events, and their table for a terminal. Stateless. */
public final class EventsText {
    public static final String EVENTS = "events";
    public static final String MISSING = "events_missing";
    public static final String P50 = "event_delay_p50_ms";
    public static final String P99 = "event_delay_p99_ms";
    public static final String MAX = "event_delay_max_ms";
    public static final String WITHIN = "events_within_base_percent";
    /** Events within the base interval plus one cycle of the server. */
    public static final String WITHIN_CYCLE = "events_within_base_and_cycle_percent";

    private EventsText() {}

    /** Whether the runs are of this kind. */
    public static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(run -> run.measured().containsKey(WITHIN));
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%n%-9s %-11s %8s %10s %9s %10s %10s %10s %14s %14s%n", "workload", "server", "BASE ms", "events",
                "missing",
                "p50 ms", "p99 ms", "max ms", "in BASE", "BASE + cycle"));
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%-9s %-11s %8s %10s %9s %10s %10s %10s %14s %14s",
                    run.run().workload(),
                    DisplayName.of(run.run().configuration()), run.load().getOrDefault("base-ms", "-"),
                    number(run, "%,.0f", EVENTS),
                    number(run, "%,.0f", MISSING), number(run, "%,.1f", P50), number(run, "%,.1f", P99),
                    number(run, "%,.1f", MAX), number(run, "%.2f %%", WITHIN), number(run, "%.2f %%", WITHIN_CYCLE)));
            Summary.appendOutcome(text, run);
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String number(RunRecord run, String how, String name) {
        double value = run.number(name);
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}

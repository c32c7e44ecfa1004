package io.varve.experiments.result.table;

import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;

/** The names of the latency experiment's numbers, and their table for a terminal. Stateless. */
public final class LatencyText {
    public static final String P50 = "latency_p50_us";
    public static final String P99 = "latency_p99_us";
    public static final String P999 = "latency_p999_us";
    public static final String P9999 = "latency_p9999_us";
    public static final String MAX = "latency_max_us";
    public static final String MEDIAN_P999 = "latency_p999_us_of_the_median_second";
    public static final String ALL_P999 = "latency_with_disturbed_p999_us";
    public static final String CORE_GAP = "machine_longest_gap_ms";
    public static final String START = "start_seconds";
    public static final String HICCUP = "longest_hiccup_ms";
    /** The hiccup of an idle process, on the same core at the same time. */
    public static final String IDLE_HICCUP = "idle_longest_hiccup_ms";
    public static final String JVM_PAUSE = "jvm_longest_pause_ms";
    public static final String EXPIRED = "keys_expired";
    public static final String EVICTED = "keys_evicted";

    /** The name of the baseline's configuration follows. */
    public static final String P999_CHECK = "99.9th percentile of the latency, us, at most that of ";
    public static final String HICCUP_CHECK = "longest hiccup of the server's process, ms";
    public static final String JVM_PAUSE_CHECK = "longest pause in the JVM's own log, ms";
    public static final String START_CHECK = "seconds from the command to the first PONG";

    private LatencyText() {}

    static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(run -> run.measured().containsKey(P9999));
    }

    public static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%n%-9s %-10s %7s %7s %8s %8s %9s %10s %9s %8s %8s %8s %8s %8s %10s %9s %9s%n", "workload", "server",
                "p50 us",
                "p99", "p99.9", "p99.99", "max", "med. p99.9", "all p99.9", "hiccup", "idle ms", "JVM ms", "gap ms",
                "start s",
                "CPU us/op", "expired",
                "evicted"));
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT,
                    "%-9s %-10s %7s %7s %8s %8s %9s %10s %9s %8s %8s %8s %8s %8s %10s %9s %9s",
                    run.run().workload(), run.run().configuration(), whole(run, P50), whole(run, P99),
                    whole(run, P999), whole(run, P9999), whole(run, MAX), whole(run, MEDIAN_P999), whole(run, ALL_P999),
                    format("%.2f", run.number(HICCUP)), format("%.2f", run.number(IDLE_HICCUP)),
                    format("%.2f", run.number(JVM_PAUSE)),
                    format("%.2f", run.number(CORE_GAP)),
                    format("%.2f", run.number(START)), format("%.2f", run.number(RunMetrics.CPU_PER_OPERATION)),
                    whole(run, EXPIRED), whole(run, EVICTED)));
            Summary.appendOutcome(text, run);
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String whole(RunRecord run, String name) {
        return format("%,.0f", run.number(name));
    }

    private static String format(String how, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}

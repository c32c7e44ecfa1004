package io.varve.experiments.result.table;

import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;

/** The names of the numbers about a cache in two tiers, and their table for a terminal. Stateless. */
public final class TieredText {
    public static final String HITS = "hit_ratio";
    public static final String FLASH_HITS = "flash_hit_ratio";
    public static final String P50 = "latency_p50_us";
    public static final String P99 = "latency_p99_us";
    public static final String FLASH_P99 = "flash_read_p99_us";
    public static final String WRITTEN = "flash_device_bytes_written";
    public static final String WRITTEN_PER_REQUEST = "flash_bytes_written_per_request";
    public static final String AMPLIFICATION = "flash_write_amplification";
    public static final String SHED = "flash_shed";
    public static final String POLICY_RAM = "flash_policy_ram_bytes";

    private TieredText() {}

    /** Whether the runs are of this kind. */
    public static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(run -> run.measured().containsKey(HITS));
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%n%-9s %-13s %7s %9s %10s %8s %8s %10s %9s %12s %10s %8s %10s%n", "workload", "server", "hits",
                "on flash",
                "ops/s", "p50 us", "p99", "CPU us/op", "flash p99", "written MB", "B/request", "amplif.",
                "policy RAM"));
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%-9s %-13s %7s %9s %10s %8s %8s %10s %9s %12s %10s %8s %10s",
                    run.run().workload(), run.run().configuration(), number(run, "%.4f", HITS, 1),
                    number(run, "%.4f", FLASH_HITS, 1), number(run, "%,.0f", RunMetrics.THROUGHPUT, 1),
                    number(run, "%,.0f", P50, 1), number(run, "%,.0f", P99, 1),
                    number(run, "%.2f", RunMetrics.CPU_PER_OPERATION, 1), number(run, "%,.0f", FLASH_P99, 1),
                    number(run, "%,.0f", WRITTEN, 1e6), number(run, "%,.0f", WRITTEN_PER_REQUEST, 1),
                    number(run, "%.2f", AMPLIFICATION, 1), number(run, "%,.0f", POLICY_RAM, 1)));
            Summary.appendOutcome(text, run);
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String number(RunRecord run, String how, String name, double unit) {
        double value = run.number(name) / unit;
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}

package io.varve.experiments.result.table;

import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;

/** The names of the penalty experiment's numbers, and their table for a terminal. Stateless. */
public final class PenaltyText {
    /** In a run's load: the state of idle cores. */
    public static final String IDLE_CORES = "idle-cores";
    /** In a run's load: settings that affect a response time beside the cache. */
    public static final List<String> WAITING = List.of(IDLE_CORES, "varve.poll-us", "varve.db.cache-mb");
    /** Mean of all reads and writes of the clients, including the databases' replies. */
    public static final String RESPONSE = "response_mean_us";
    /** The mean from half of the operations on, when learning has converged. */
    public static final String SETTLED = "response_second_half_mean_us";
    public static final String READ = "read_response_mean_us";
    public static final String READ_SETTLED = "read_response_second_half_mean_us";
    public static final String P9999 = "response_p9999_us";
    /** Ratios of reads, as the clients count them. */
    public static final String HITS = "cache_hit_ratio";
    public static final String HITS_SETTLED = "cache_hit_ratio_second_half";
    public static final String MISSES = "cache_misses";
    /**
     * Total duration of all misses, from each miss to its SET: to the reply, or to the send if no client waits for the
     * reply.
     */
    public static final String MISS_SECONDS = "misses_cost_seconds";
    /** Total cost of the misses if each took only the requested delay: it does not depend on the machine. */
    public static final String MISS_DELAY_SECONDS = "misses_asked_delay_seconds";
    /**
     * The corresponding cost for exact LRU with as many keys, and for the best of its fixed divisions between the
     * databases; and the remote keys' share in that division. Simulated.
     */
    public static final String UNDIVIDED_SECONDS = "exact_lru_asked_delay_seconds";
    public static final String BEST_SECONDS = "best_division_asked_delay_seconds";
    public static final String BEST_SHARE = "best_division_remote_share";
    /** Before and after the increase of the remote database's delay. */
    public static final String BEFORE_STRESS = "response_before_stress_mean_us";
    public static final String AFTER_STRESS = "response_after_stress_mean_us";
    public static final String STRESS_AT = "stress_after_operations";
    /** The final content of a server that evicts nothing. */
    public static final String SET_BYTES = "working_set_bytes";
    public static final String SET_KEYS = "working_set_keys";
    public static final String LIMIT = "maxmemory_bytes";
    /** Final number of keys, as a share of those of a server that evicts nothing. */
    public static final String KEYS_SHARE = "keys_share_of_working_set";
    /** INFO's own names. */
    public static final String CURVES_MICROS = "penalty_curves_us";
    public static final String DIVISION_MICROS = "penalty_division_us";
    public static final String DIVISIONS = "penalty_divisions";
    public static final String BYTES = "penalty_bytes";
    /** The memory of the recorder of accesses. */
    public static final String RECORDER_BYTES = "mrc_bytes";
    public static final String REMEMBERED = "penalty_remembered_keys";
    public static final String MEASURED = "penalty_measured";

    /**
     * Number of class demotions in valleys, of wake-ups, of items demoted by them, and of items preloaded before a
     * request.
     */
    public static final String DUMPS = "demand_dumps";
    public static final String LOADS = "demand_loads";
    public static final String DUMPED_ITEMS = "demand_dumped_items";
    public static final String LOADED_ITEMS = "flash_loaded";

    /** INFO's fields about penalties, under their names there. */
    public static final List<String> OF_INFO = List.of(MEASURED, REMEMBERED, BYTES, RECORDER_BYTES, DIVISIONS,
            CURVES_MICROS, DIVISION_MICROS, DUMPS, LOADS, DUMPED_ITEMS, LOADED_ITEMS);
    /** The name of the baseline's configuration follows. */
    public static final String AIM = "mean response time in the second half, % below that of ";
    private static final double MEGA = 1e6;
    private static final double WHOLE = 100;

    private PenaltyText() {}

    /** The name of a number of one of the two databases. */
    public static String ofDatabase(String side, String what) {
        return side + "_" + what;
    }

    /** Whether the runs are of this kind. */
    public static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(PenaltyText::isIn);
    }

    static boolean isIn(RunRecord run) {
        return run.measured().containsKey(RESPONSE);
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%n%-10s %-13s %9s %9s %9s %9s %9s %8s %8s %9s %8s %9s %8s %10s%n", "workload", "server", "mean us",
                "2nd half", "reads", "2nd half", "ops/s", "hits", "2nd half", "misses s", "p99 us", "p99.99", "MB",
                "keys/set"));
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%-10s %-13s %9s %9s %9s %9s %9s %8s %8s %9s %8s %9s %8s %10s",
                    run.run().workload(), run.run().configuration(), number(run, "%,.0f", RESPONSE, 1),
                    number(run, "%,.0f", SETTLED, 1), number(run, "%,.0f", READ, 1),
                    number(run, "%,.0f", READ_SETTLED, 1), number(run, "%,.0f", RunMetrics.THROUGHPUT, 1),
                    number(run, "%.4f", HITS, 1), number(run, "%.4f", HITS_SETTLED, 1),
                    number(run, "%,.2f", MISS_SECONDS, 1), number(run, "%,.0f", LatencyText.P99, 1),
                    number(run, "%,.0f", P9999, 1), number(run, "%,.1f", LIMIT, MEGA),
                    number(run, "%.1f %%", KEYS_SHARE, 1 / WHOLE)));
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

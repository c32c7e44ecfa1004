package io.varve.experiments.result;

import java.util.List;
import java.util.Locale;

/** The penalty experiment's numbers by name, and side by side for a terminal. Stateless. */
public final class PenaltyText {
    /** In a run's load: what cores do that have nothing to do. */
    public static final String IDLE_CORES = "idle-cores";
    /** In a run's load: what a response time depends on beside the cache. */
    public static final List<String> WAITING = List.of(IDLE_CORES, "varve.poll-us", "varve.db.cache-mb");
    /** Of all reads and writes of the clients, the databases' answers in it. */
    public static final String RESPONSE = "response_mean_us";
    /** From half of the operations on: what is learnt has been learnt. */
    public static final String SETTLED = "response_second_half_mean_us";
    public static final String READ = "read_response_mean_us";
    public static final String READ_SETTLED = "read_response_second_half_mean_us";
    public static final String P9999 = "response_p9999_us";
    /** Of reads, as the clients count them. */
    public static final String HITS = "cache_hit_ratio";
    public static final String HITS_SETTLED = "cache_hit_ratio_second_half";
    public static final String MISSES = "cache_misses";
    /** What all misses took together, from each miss to its SET: to the answer, or to when it was sent if nobody waits for that. */
    public static final String MISS_SECONDS = "misses_cost_seconds";
    /** What they would have cost had each taken the delay that was asked for and nothing else: the machine has no part in it. */
    public static final String MISS_DELAY_SECONDS = "misses_asked_delay_seconds";
    /** The same of exact LRU with as many keys, and of the best of its fixed divisions between the databases; and what remote keys have there. Simulated. */
    public static final String UNDIVIDED_SECONDS = "exact_lru_asked_delay_seconds";
    public static final String BEST_SECONDS = "best_division_asked_delay_seconds";
    public static final String BEST_SHARE = "best_division_remote_share";
    /** Before and after the remote database's delay was raised. */
    public static final String BEFORE_STRESS = "response_before_stress_mean_us";
    public static final String AFTER_STRESS = "response_after_stress_mean_us";
    public static final String STRESS_AT = "stress_after_operations";
    /** What a server that evicts nothing holds in the end. */
    public static final String SET_BYTES = "working_set_bytes";
    public static final String SET_KEYS = "working_set_keys";
    public static final String LIMIT = "maxmemory_bytes";
    /** Keys in the end, as a share of those of a server that evicts nothing. */
    public static final String KEYS_SHARE = "keys_share_of_working_set";
    /** INFO's own names. */
    public static final String CURVES_MICROS = "penalty_curves_us";
    public static final String DIVISION_MICROS = "penalty_division_us";
    public static final String DIVISIONS = "penalty_divisions";
    public static final String BYTES = "penalty_bytes";
    /** Of the recorder of accesses. */
    public static final String RECORDER_BYTES = "mrc_bytes";
    public static final String REMEMBERED = "penalty_remembered_keys";
    public static final String MEASURED = "penalty_measured";

    /** How often classes were dumped in their valleys, and woken, items that fell then, and items that came back before they were asked for. */
    public static final String DUMPS = "demand_dumps";
    public static final String LOADS = "demand_loads";
    public static final String DUMPED_ITEMS = "demand_dumped_items";
    public static final String LOADED_ITEMS = "flash_loaded";

    /** What INFO tells of penalties, as it is called there. */
    public static final List<String> OF_INFO = List.of(MEASURED, REMEMBERED, BYTES, RECORDER_BYTES, DIVISIONS,
            CURVES_MICROS, DIVISION_MICROS, DUMPS, LOADS, DUMPED_ITEMS, LOADED_ITEMS);
    /** The name of the configuration that is compared with follows. */
    public static final String AIM = "mean response time from half of the operations on, % less than that of ";
    private static final double MEGA = 1e6;
    private static final double WHOLE = 100;

    private PenaltyText() {}

    /** The name of a number of one of the two databases. */
    public static String ofDatabase(String side, String what) {
        return side + "_" + what;
    }

    /** Whether the runs are such. */
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
                    number(run, "%,.0f", READ_SETTLED, 1), number(run, "%,.0f", Measured.THROUGHPUT, 1),
                    number(run, "%.4f", HITS, 1), number(run, "%.4f", HITS_SETTLED, 1),
                    number(run, "%,.2f", MISS_SECONDS, 1), number(run, "%,.0f", LatencyText.P99, 1),
                    number(run, "%,.0f", P9999, 1), number(run, "%,.1f", LIMIT, MEGA),
                    number(run, "%.1f %%", KEYS_SHARE, 1 / WHOLE)));
            text.append(run.outcome() == RunRecord.Outcome.OK
                    ? "\n"
                    : "  " + run.outcome() + ": " + String.join("; ", run.faults()) + "\n");
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String number(RunRecord run, String how, String name, double unit) {
        double value = run.number(name) / unit;
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}

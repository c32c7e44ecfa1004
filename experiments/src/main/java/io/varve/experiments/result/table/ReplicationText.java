package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The names of the numbers about replication, and their tables for a terminal. Stateless. A number has a pair of
 * servers: the name of both, or {@code REPLICA-follows-PRIMARY}.
 */
public final class ReplicationText {
    /** SETs a second without a replica: the mean of the measurements before and after the one with a replica. */
    public static final String ALONE_OPS = "set_ops_alone";
    /** CPU time of the primary for a SET without a replica, µs: the mean of both measurements. */
    public static final String ALONE_CPU = "set_cpu_us_alone";
    /** CPU time of the primary for a SET before it has a replica, µs. */
    public static final String ALONE_BEFORE_CPU = "set_cpu_us_alone_before";
    /** CPU time of the primary for a SET after its replica has gone, µs. */
    public static final String ALONE_AFTER_CPU = "set_cpu_us_alone_after";
    /** SETs a second with a replica. */
    public static final String REPLICATED_OPS = "set_ops_replicated";
    /** CPU time of the primary for a SET with a replica, µs. */
    public static final String REPLICATED_CPU = "set_cpu_us_replicated";
    /** CPU time of the replica for a SET, µs. */
    public static final String REPLICA_CPU = "set_cpu_us_of_replica";
    /** Number of markers whose lag was measured. */
    public static final String LAG_MARKERS = "lag_markers";
    /** Markers among them that the replica had not returned 30 s after the load; their lag is at least that long. */
    public static final String LAG_OPEN = "lag_markers_not_returned";
    /** Median time from the primary's reply to a SET until a GET at the replica returns the value, ms. */
    public static final String LAG_MEDIAN = "lag_median_ms";
    /** The 99th percentile of these times, ms. */
    public static final String LAG_P99 = "lag_p99_ms";
    /** The greatest of these times, ms. */
    public static final String LAG_MAX = "lag_max_ms";

    /** Time from REPLICAOF until the link is up, s. */
    public static final String SYNC_SECONDS = "sync_seconds";
    /** CPU time of the primary meanwhile, and of its child processes, s. */
    public static final String SYNC_CPU = "sync_primary_cpu_seconds";
    /** Resident memory of the primary before. */
    public static final String RESIDENT = "sync_resident_before_bytes";
    /** Greatest resident memory of the primary meanwhile. */
    public static final String PEAK = "sync_resident_peak_bytes";
    /** Pages that a child process of the primary has copied; 0 for a server without one. */
    public static final String COPIED = "sync_child_copied_bytes";
    /** Latencies of the clients before, without a replica, µs. */
    public static final String QUIET_P50 = "quiet_p50_us";
    public static final String QUIET_P99 = "quiet_p99_us";
    public static final String QUIET_P999 = "quiet_p999_us";
    /** The greatest latency of these clients, and the number of their requests. */
    public static final String QUIET_MAX = "quiet_max_us";
    public static final String QUIET_REQUESTS = "quiet_requests";
    /** Latencies of the clients during the synchronization, µs. */
    public static final String SYNC_P50 = "sync_p50_us";
    public static final String SYNC_P99 = "sync_p99_us";
    public static final String SYNC_P999 = "sync_p999_us";
    /** The greatest latency during the synchronization, µs. */
    public static final String SYNC_MAX = "sync_max_us";
    /** How late the generator sent its requests during the synchronization, µs. */
    public static final String SYNC_LATE = "sync_generator_late_p999_us";
    /** Requests during the synchronization. */
    public static final String SYNC_REQUESTS = "sync_requests";
    /** Error replies and reads that missed. */
    public static final String ERRORS = "sync_errors";

    /** Writes a second while the replica is stopped. */
    public static final String STOPPED_OPS = "stopped_writes_per_second";
    /** Writes a second while the replica catches up, in at least one second. */
    public static final String CATCH_UP_OPS = "catch_up_writes_per_second";
    /** Bytes of the replication stream that the replica lacks when it continues. */
    public static final String BEHIND = "catch_up_behind_bytes";
    /** Time from the continuation of the replica until its offset is the primary's, s. */
    public static final String CATCH_UP_SECONDS = "catch_up_seconds";
    /** 1 if the replica has caught up under the load within 300 s, else 0. */
    public static final String CAUGHT_UP = "catch_up_has_caught_up";
    /** Error replies to the writes, from their begin to their end. */
    public static final String CATCH_UP_ERRORS = "catch_up_errors";
    /** Partial resynchronizations of this replica. */
    public static final String PARTIAL = "catch_up_partial_syncs";
    /** Further full synchronizations of this replica. */
    public static final String FULL = "catch_up_full_syncs";
    /** 1 if the data of primary and replica differ after the load, else 0. */
    public static final String DIFFERENT = "different_data";

    private static final String NONE = "-";

    private ReplicationText() {}

    /** The name of a number of a pair. */
    public static String name(String metric, String pair) {
        return metric + " " + pair;
    }

    /** Whether the run is of this kind. */
    public static boolean isIn(RunRecord run) {
        return !pairs(run, ALONE_CPU).isEmpty() || !pairs(run, SYNC_SECONDS).isEmpty();
    }

    /** The pairs that have this number, in the order of their measurement. */
    public static List<String> pairs(RunRecord run, String metric) {
        Set<String> pairs = new LinkedHashSet<>();
        for (String name : run.measured().keySet()) {
            String[] words = name.split(" ", -1);
            if (words[0].equals(metric) && words.length > 1) {
                pairs.add(words[1]);
            }
        }
        return List.copyOf(pairs);
    }

    /** The median and range of a number of a pair; null if it was not measured. */
    public static @Nullable MedianRange range(RunRecord run, String metric, String pair) {
        return run.range(name(metric, pair));
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append('\n').append(run.run().id());
            Summary.appendOutcome(text, run);
            appendMissing(text, run);
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    /** The numbers are in tables of their own; a run that measured none says so. */
    private static void appendMissing(StringBuilder text, RunRecord run) {
        List<String> missing = new ArrayList<>();
        if (pairs(run, ALONE_CPU).isEmpty()) {
            missing.add("writes");
        }
        if (pairs(run, SYNC_SECONDS).isEmpty()) {
            missing.add("full synchronizations");
        }
        if (pairs(run, PARTIAL).isEmpty()) {
            missing.add("catching up");
        }
        if (!missing.isEmpty()) {
            text.append("    not measured: ").append(String.join(", ", missing)).append('\n');
        }
    }

    /** The median with the range, divided by a unit; a hyphen if there is none. */
    static String range(RunRecord run, String metric, String pair, double unit, String format) {
        MedianRange range = range(run, metric, pair);
        return range == null
                ? NONE
                : LocksText.text(new MedianRange(range.count(), range.min() / unit, range.median() / unit,
                        range.max() / unit), format);
    }

    /** The median, divided by a unit; a hyphen if there is none. */
    static String median(RunRecord run, String metric, String pair, double unit, String format) {
        MedianRange range = range(run, metric, pair);
        return range == null ? NONE : String.format(Locale.ROOT, format, range.median() / unit);
    }
}

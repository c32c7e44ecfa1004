package io.varve.experiments.result.table;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The names of the numbers about locks, and their table for a terminal. Stateless. A number has a load, {@link #READ}
 * or {@link #READ_WRITE}, and a store in process or a server.
 */
public final class LocksText {
    public static final String READ = "read";
    public static final String READ_WRITE = "read-write";
    /** Requests a second of a store in process. */
    public static final String OPS = "in_process_ops";
    /** Its throughput as a multiple of that with one lock. */
    public static final String OVER_ONE_LOCK = "in_process_over_one_lock";
    /** CPU time of a request, ns. */
    public static final String CPU_NANOS = "in_process_cpu_ns_per_op";
    /** Requests a second of a server. */
    public static final String SERVED_OPS = "served_ops";
    /** Its throughput as a multiple of that of the server with one shard. */
    public static final String OVER_ONE_SHARD = "served_over_one_shard";
    /** CPU time of the server for a request, µs. */
    public static final String SERVED_CPU = "served_cpu_us_per_op";

    private LocksText() {}

    private static String name(String metric, String load, String store) {
        return metric + " " + load + " " + store;
    }

    /** The load with this share of reads. */
    public static String load(int readPercent) {
        return readPercent == 100 ? READ : READ_WRITE;
    }

    /** Stores the median, the least and the greatest value of the rounds. */
    public static void put(RunMetrics metrics, String metric, String load, String store, MedianRange range) {
        metrics.put(name(metric, load, store), range);
    }

    /**
     * Reads what {@link #put} has stored.
     *
     * @return null if it has stored nothing; the count is unknown
     */
    public static @Nullable MedianRange range(RunRecord run, String metric, String load, String store) {
        return run.range(name(metric, load, store));
    }

    /** Whether the run is of this kind. */
    public static boolean isIn(RunRecord run) {
        return run.measured().keySet().stream().anyMatch(name -> name.startsWith(OPS + " "));
    }

    /** The stores or servers of a metric, in the order of their measurement. */
    public static List<String> stores(RunRecord run, String metric) {
        Set<String> stores = new LinkedHashSet<>();
        for (String name : run.measured().keySet()) {
            String[] words = name.split(" ", -1);
            if (words[0].equals(metric) && words.length > 2) {
                stores.add(words[2]);
            }
        }
        return List.copyOf(stores);
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append('\n').append(run.run().id());
            Summary.appendOutcome(text, run);
            text.append(String.format(Locale.ROOT, "  %-12s %-22s %36s %24s %14s%n", "load", "store or server",
                    "requests/s (range)", "over one lock (range)", "CPU, ns/op"));
            for (String load : List.of(READ, READ_WRITE)) {
                for (String store : stores(run, OPS)) {
                    line(text, run, load, store, OPS, OVER_ONE_LOCK, CPU_NANOS, 1);
                }
            }
            for (String load : List.of(READ, READ_WRITE)) {
                for (String server : stores(run, SERVED_OPS)) {
                    line(text, run, load, server, SERVED_OPS, OVER_ONE_SHARD, SERVED_CPU, 1000);
                }
            }
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static void line(StringBuilder text, RunRecord run, String load, String store, String ops, String over,
            String cpu, double nanos) {
        MedianRange requests = range(run, ops, load, store);
        MedianRange time = range(run, cpu, load, store);
        if (requests != null) {
            text.append(String.format(Locale.ROOT, "  %-12s %-22s %36s %24s %14s%n", load,
                    (ops.equals(SERVED_OPS) ? "served by " : "") + store, text(requests, "%,.0f"),
                    text(range(run, over, load, store), "%.2f"),
                    time == null ? "-" : String.format(Locale.ROOT, "%,.0f", time.median() * nanos)));
        }
    }

    /** The median with the range; a hyphen if there is none. */
    static String text(@Nullable MedianRange range, String format) {
        return range == null
                ? "-"
                : String.format(Locale.ROOT, format + " (" + format + " to " + format + ")", range.median(),
                        range.min(), range.max());
    }
}

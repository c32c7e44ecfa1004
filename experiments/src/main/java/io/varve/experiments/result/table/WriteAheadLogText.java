package io.varve.experiments.result.table;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The names of the numbers about write-ahead logs. Stateless. Those of the loads under redis-benchmark are
 * {@link io.varve.experiments.result.Cell}s.
 */
public final class WriteAheadLogText {
    /** Records a second of the paper's clients. */
    public static final String RECORDS = "records_per_second";
    /** Their mean latency, ms. */
    public static final String LATENCY = "record_latency_ms";
    /** Throughput as a share of that of the same server without a log. The load and the configuration follow. */
    public static final String SHARE = "throughput_share_of_no_log";
    /** Time of a force after an append, µs. */
    public static final String FORCE = "disk_force_us";
    /** Number of rounds of the paper's clients. */
    public static final String ROUNDS = "record_rounds";

    private static final String LEAST = " least";
    private static final String MOST = " most";

    private WriteAheadLogText() {}

    /** The name of a number of a configuration. */
    public static String name(String metric, String configuration) {
        return metric + " " + configuration;
    }

    /** Stores the median, the least and the greatest value. */
    public static void put(RunMetrics metrics, String name, MedianRange range) {
        metrics.put(name, range.median());
        metrics.put(name + LEAST, range.min());
        metrics.put(name + MOST, range.max());
    }

    /**
     * Reads what {@link #put} has stored.
     *
     * @return null if it has stored nothing; the count is unknown
     */
    public static @Nullable MedianRange range(RunRecord run, String name) {
        double median = run.number(name);
        return Double.isNaN(median)
                ? null
                : new MedianRange(1, run.number(name + LEAST), median, run.number(name + MOST));
    }
}

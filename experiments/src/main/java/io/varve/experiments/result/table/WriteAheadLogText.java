package io.varve.experiments.result.table;

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

    private WriteAheadLogText() {}

    /** The name of a number of a configuration. */
    public static String name(String metric, String configuration) {
        return metric + " " + configuration;
    }
}

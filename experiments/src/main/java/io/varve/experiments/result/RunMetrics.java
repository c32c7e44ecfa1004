package io.varve.experiments.result;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The numbers of a run, by name. Confined to the thread that runs it, then written once.
 *
 * <p>It is a map rather than a record: each kind of run has its own numbers, and the summary's columns are their union.
 * All are plain numbers; the end of the name states the unit: bytes, milliseconds and the like.
 */
public final class RunMetrics {
    public static final String MEAN_MEMORY = "mean_used_memory_bytes";
    public static final String PEAK_MEMORY = "peak_used_memory_bytes";
    public static final String MEAN_RSS = "mean_used_memory_rss_bytes";
    public static final String PEAK_RSS = "peak_used_memory_rss_bytes";
    public static final String LAST_MEMORY = "last_used_memory_bytes";
    public static final String FIRST_MEMORY = "first_used_memory_bytes";
    public static final String THROUGHPUT = "throughput_ops";
    public static final String PROBE_THROUGHPUT = "unthrottled_throughput_ops";
    /** The duration of the run from the start of its server. */
    public static final String RUN_SECONDS = "run_duration_seconds";
    /** How many runs the experiment executed at a time. */
    public static final String AT_ONCE = "runs_at_once";
    public static final String CPU_PER_OPERATION = "server_cpu_us_per_op";
    /** Ends of the names of a range's least and greatest value. */
    static final String LEAST = " least";
    static final String MOST = " most";

    private final Map<String, Double> values = new LinkedHashMap<>();

    public void put(String name, double value) {
        if (Double.isFinite(value)) {
            values.put(name, value);
        }
    }

    /** Stores a median with its range; {@link RunRecord#range} reads it. */
    public void put(String name, MedianRange range) {
        put(name, range.median());
        put(name + LEAST, range.min());
        put(name + MOST, range.max());
    }

    /** The least value of a stored range; empty if there is none. */
    public OptionalDouble least(String name) {
        return number(name + LEAST);
    }

    /** The greatest value of a stored range; empty if there is none. */
    public OptionalDouble greatest(String name) {
        return number(name + MOST);
    }

    private OptionalDouble number(String name) {
        Double value = values.get(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    public Map<String, Double> asMap() {
        return values;
    }

    /** Adds the numbers that follow from the samples alone. */
    public void putMemory(List<Sample> samples) {
        put(MEAN_MEMORY, samples.stream().mapToLong(Sample::usedMemory).average().orElse(Double.NaN));
        put(PEAK_MEMORY, samples.stream().mapToLong(Sample::usedMemory).max().orElse(0));
        put(MEAN_RSS, samples.stream().mapToLong(Sample::usedMemoryRss).average().orElse(Double.NaN));
        put(PEAK_RSS, samples.stream().mapToLong(Sample::usedMemoryRss).max().orElse(0));
        put(FIRST_MEMORY, samples.getFirst().usedMemory());
        put(LAST_MEMORY, samples.getLast().usedMemory());
        put("peak_keys", samples.stream().mapToLong(Sample::keys).max().orElse(0));
        put("last_keys", samples.getLast().keys());
        put("evicted_keys", (double) samples.getLast().evictedKeys() - samples.getFirst().evictedKeys());
        put("samples", samples.size());
        if (samples.getLast().heapUsed() >= 0) {
            put("peak_heap_used_bytes", samples.stream().mapToLong(Sample::heapUsed).max().orElse(0));
        }
        if (samples.getLast().expiredUnreclaimed() >= 0) {
            put("peak_expired_unreclaimed_items",
                    samples.stream().mapToLong(Sample::expiredUnreclaimed).max().orElse(0));
        }
    }
}

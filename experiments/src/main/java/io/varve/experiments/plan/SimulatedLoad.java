package io.varve.experiments.plan;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.PatternKeys;
import io.varve.experiments.simulate.TraceColumns;
import io.varve.experiments.simulate.TraceFile;
import io.varve.experiments.simulate.TraceFormat;
import io.varve.experiments.simulate.YcsbKeys;
import io.varve.experiments.simulate.YcsbKeys.Distribution;
import io.varve.flash.policy.Policies;

/**
 * The requests and the caches of a simulation. Immutable.
 *
 * <p>The property {@code distribution} selects YCSB's requests, {@code pattern} those of our own generator, and {@code
 * trace} a file in the format {@code format}.
 *
 * @param source the requests, the uncounted ones included
 * @param keys number of keys; 0 if only the trace has it
 * @param requests number of counted requests; 0 if only the trace has it
 * @param warmup number of uncounted requests that precede them
 * @param updates share of the requests that read a key and then write it, 0 to 1
 * @param percents cache sizes in percent of the keys; each policy is simulated with each size
 * @param policies the policies to compare
 * @param steps maximum number of keys that a search for a victim visits
 * @param publishedKeys the paper's number of keys, for which the theoretical hit ratio is computed too; 0 if the
 *     paper does not state it
 */
public record SimulatedLoad(KeySource source, int keys, long requests, long warmup, double updates,
        List<Double> percents, List<Policies> policies, int steps, int publishedKeys) {
    /** The property of a workload that names a trace file. */
    public static final String TRACE = "trace";
    /** The property of a workload with the format of its trace. */
    public static final String FORMAT = "format";
    private static final double HUNDRED_PERCENT = 100;
    /** The size of a block of a block trace: that of a page. */
    private static final int BLOCK_BYTES = 4096;

    /**
     * Reads the load of a workload.
     *
     * @param keys number of keys at the run's scale
     * @throws IllegalArgumentException if a property is missing or invalid
     */
    static SimulatedLoad of(Map<String, String> workload, long keys) {
        boolean traced = workload.containsKey(TRACE);
        int ofScale = traced ? 0 : Math.toIntExact(keys);
        long requests = traced ? 0 : perKey(workload, "requests-per-key", keys);
        long warmup = traced ? 0 : perKey(workload, "warmup-per-key", keys);
        double updates = Double.parseDouble(workload.getOrDefault("updates", "0"));
        return new SimulatedLoad(source(workload, ofScale, warmup + requests, updates), ofScale, requests, warmup,
                updates, percents(workload), policies(workload), Integer.parseInt(property(workload, "steps")),
                Integer.parseInt(workload.getOrDefault("published-keys", "0")));
    }

    private static long perKey(Map<String, String> workload, String name, long keys) {
        return Math.round(keys * Double.parseDouble(property(workload, name)));
    }

    private static KeySource source(Map<String, String> workload, int keys, long requests, double updates) {
        String trace = workload.get(TRACE);
        if (trace != null) {
            return new TraceFile(Path.of(trace), TraceFormat.of(workload.getOrDefault(FORMAT, "keys")),
                    TraceColumns.of(workload.get("column")), BLOCK_BYTES);
        }
        String pattern = workload.get("pattern");
        return pattern != null
                ? new PatternKeys(PatternKeys.Pattern.of(pattern), keys, requests)
                : new YcsbKeys(Distribution.of(property(workload, "distribution")), keys, requests, updates);
    }

    private static List<Double> percents(Map<String, String> workload) {
        return Arrays.stream(property(workload, "cache-percents").split(" ", -1)).map(Double::valueOf).toList();
    }

    /** The policies that a workload compares. */
    static List<Policies> policies(Map<String, String> workload) {
        return Arrays.stream(property(workload, "policies").split(" ", -1)).map(Policies::of).toList();
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new IllegalArgumentException("the workload of a simulation has no property " + name);
        }
        return text;
    }

    /** YCSB's requests; empty if these are others. */
    public Optional<YcsbKeys> ycsb() {
        return source instanceof YcsbKeys ycsb ? Optional.of(ycsb) : Optional.empty();
    }

    /** Number of keys that a cache of this percentage holds. */
    public int capacity(double percent) {
        return capacity(percent, keys);
    }

    /**
     * Number of keys, at least one, that a cache of this percentage holds.
     *
     * @param distinct number of keys of the requests
     */
    public static int capacity(double percent, long distinct) {
        return (int) Math.max(1, Math.round(distinct * percent / HUNDRED_PERCENT));
    }
}

package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.varve.experiments.simulate.YcsbKeys;
import io.varve.experiments.simulate.YcsbKeys.Distribution;
import io.varve.flash.policy.Policies;

/**
 * The requests and the caches of a simulation. Immutable.
 *
 * @param distribution the distribution of the requests over the keys
 * @param keys number of keys
 * @param requests number of counted requests
 * @param warmup number of uncounted requests that precede them
 * @param updates share of the requests that read a key and then write it, 0 to 1
 * @param percents cache sizes in percent of {@code keys}; each policy is simulated with each size
 * @param policies the policies to compare
 * @param steps maximum number of keys that a search for a victim visits
 * @param publishedKeys the paper's number of keys, for which the theoretical hit ratio is computed too; 0 if the
 *     paper does not state it
 */
public record SimulatedLoad(Distribution distribution, int keys, long requests, long warmup, double updates,
        List<Double> percents, List<Policies> policies, int steps, int publishedKeys) {
    private static final double HUNDRED_PERCENT = 100;

    /**
     * Reads the load of a workload.
     *
     * @param keys number of keys at the run's scale
     * @throws IllegalArgumentException if a property is missing or invalid
     */
    static SimulatedLoad of(Map<String, String> workload, long keys) {
        return new SimulatedLoad(Distribution.of(property(workload, "distribution")), Math.toIntExact(keys),
                keys * Long.parseLong(property(workload, "requests-per-key")),
                keys * Long.parseLong(property(workload, "warmup-per-key")),
                Double.parseDouble(property(workload, "updates")),
                Arrays.stream(property(workload, "cache-percents").split(" ", -1)).map(Double::valueOf).toList(),
                Arrays.stream(property(workload, "policies").split(" ", -1)).map(Policies::of).toList(),
                Integer.parseInt(property(workload, "steps")),
                Integer.parseInt(workload.getOrDefault("published-keys", "0")));
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new IllegalArgumentException("the workload of a simulation has no property " + name);
        }
        return text;
    }

    /** Number of keys that a cache of this percentage holds. */
    public int capacity(double percent) {
        return (int) Math.round(keys * percent / HUNDRED_PERCENT);
    }

    /** The requests, the uncounted ones included. */
    public YcsbKeys source() {
        return new YcsbKeys(distribution, keys, warmup + requests, updates);
    }
}

package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.varve.experiments.simulate.YcsbKeys;
import io.varve.experiments.simulate.YcsbKeys.Distribution;
import io.varve.flash.policy.Policies;

/**
 * What the caches of a simulation are asked for, and which there are. Immutable.
 *
 * @param keys         that there are
 * @param requests     that are counted, each for a key
 * @param warmup       requests before them
 * @param updates      the share of the requests that write what they read
 * @param percents     of the keys that a cache holds, one cache of each size for each policy
 * @param policies     that are set side by side
 * @param steps        keys that a search for a victim may look at
 * @param publishedKeys how many keys the paper had, for theory at its size; 0 if it does not say
 */
public record SimulatedLoad(Distribution distribution, int keys, long requests, long warmup, double updates,
        List<Double> percents, List<Policies> policies, int steps, int publishedKeys) {
    private static final double WHOLE = 100;

    /**
     * @param keys of the run's size
     * @throws IllegalArgumentException if a property is missing or cannot be
     */
    static SimulatedLoad of(Map<String, String> workload, long keys) {
        return new SimulatedLoad(Distribution.of(text(workload, "distribution")), Math.toIntExact(keys),
                keys * Long.parseLong(text(workload, "requests-per-key")),
                keys * Long.parseLong(text(workload, "warmup-per-key")), Double.parseDouble(text(workload, "updates")),
                Arrays.stream(text(workload, "cache-percents").split(" ", -1)).map(Double::valueOf).toList(),
                Arrays.stream(text(workload, "policies").split(" ", -1)).map(Policies::of).toList(),
                Integer.parseInt(text(workload, "steps")),
                Integer.parseInt(workload.getOrDefault("published-keys", "0")));
    }

    private static String text(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new IllegalArgumentException("a workload of a simulation has no " + name);
        }
        return text;
    }

    /** Keys that a cache of so many percent holds. */
    public int capacity(double percent) {
        return (int) Math.round(keys * percent / WHOLE);
    }

    public YcsbKeys source() {
        return new YcsbKeys(distribution, keys, warmup + requests, updates);
    }
}

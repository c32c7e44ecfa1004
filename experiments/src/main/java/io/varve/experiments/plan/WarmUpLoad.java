package io.varve.experiments.plan;

import java.util.Map;

/**
 * The load of the warm-up experiment. Immutable. Its connections and the mix of its paced part are those of
 * {@link LatencyLoad}.
 *
 * @param pipeline commands that a connection of redis-benchmark sends at once
 * @param test the command of the constant load
 * @param valueBytes length of its values
 * @param pacedRate requests a second of the paced part
 * @param pacedSeconds duration of the paced part
 * @param minShare minimum throughput of a default test in its first pass, as a share of the baseline's
 */
public record WarmUpLoad(int pipeline, String test, int valueBytes, int pacedRate, int pacedSeconds,
        double minShare) {
    /** @throws IllegalArgumentException if a property is invalid */
    static WarmUpLoad of(Map<String, String> workload) {
        return new WarmUpLoad(number(workload, "pipeline", 16), workload.getOrDefault("test", "SET"),
                number(workload, "value-bytes", 16), number(workload, "paced-rate", 20_000),
                number(workload, "paced-seconds", 10),
                Double.parseDouble(workload.getOrDefault("limit-first-pass", "0.9")));
    }

    private static int number(Map<String, String> workload, String name, int orElse) {
        String text = workload.get(name);
        return text == null ? orElse : Integer.parseInt(text);
    }
}

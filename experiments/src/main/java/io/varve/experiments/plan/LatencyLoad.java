package io.varve.experiments.plan;

import java.util.Map;

/**
 * What the latency experiment asks of a server. Immutable.
 *
 * @param connections each with one request at a time
 * @param mix         commands and their shares
 * @param values      lengths of the values
 * @param hashes      how many hashes there are
 * @param fields      of a hash, at the most
 * @param ttls        seconds, of what expires
 */
public record LatencyLoad(int connections, String mix, ValueSizes values, int hashes, int fields, ValueSizes ttls) {
    /** @throws IllegalArgumentException if a property is missing or cannot be */
    static LatencyLoad of(Map<String, String> workload) {
        return new LatencyLoad(Integer.parseInt(workload.getOrDefault("connections", "50")),
                workload.getOrDefault("mix", ""), ValueSizes.parse(workload.getOrDefault("values", "")),
                Integer.parseInt(workload.getOrDefault("hashes", "1000")),
                Integer.parseInt(workload.getOrDefault("fields", "10")),
                ValueSizes.parse(workload.getOrDefault("ttls", "")));
    }
}

package io.varve.experiments.plan;

import java.util.Map;

/**
 * The load of the latency experiment. Immutable.
 *
 * @param connections number of connections, each with one request at a time
 * @param mix commands and their shares
 * @param values lengths of the values
 * @param hashes number of hashes
 * @param fields maximum number of fields of a hash
 * @param ttls TTLs of expiring keys, seconds
 */
public record LatencyLoad(int connections, String mix, ValueSizes values, int hashes, int fields, ValueSizes ttls) {
    /** @throws IllegalArgumentException if a property is missing or invalid */
    static LatencyLoad of(Map<String, String> workload) {
        return new LatencyLoad(Integer.parseInt(workload.getOrDefault("connections", "50")),
                workload.getOrDefault("mix", ""), ValueSizes.parse(workload.getOrDefault("values", "")),
                Integer.parseInt(workload.getOrDefault("hashes", "1000")),
                Integer.parseInt(workload.getOrDefault("fields", "10")),
                ValueSizes.parse(workload.getOrDefault("ttls", "")));
    }
}

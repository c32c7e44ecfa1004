package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.InvalidExperimentException;

/**
 * The cluster and the clients of the experiment on the proxy. Immutable.
 *
 * @param members number of members
 * @param connections number of clients; each has one batch of requests in flight
 * @param readPercent share of GETs; the others are SETs
 * @param valueBytes size of a value
 * @param distributions how keys are drawn, one after the other
 * @param pipelines requests of a batch, one after the other
 * @param windows merge windows of the proxies, in milliseconds
 */
public record ProxyLoad(int members, int connections, int readPercent, int valueBytes,
        List<KeyDistribution.Kind> distributions, List<Integer> pipelines, List<Integer> windows) {
    private static final int MAX_WINDOW = 20;

    /** @throws InvalidExperimentException if a property is missing or invalid */
    static ProxyLoad of(Map<String, String> workload) {
        try {
            ProxyLoad load = new ProxyLoad(Integer.parseInt(property(workload, "members")),
                    Integer.parseInt(property(workload, "connections")),
                    Integer.parseInt(property(workload, "reads")),
                    Integer.parseInt(property(workload, "value-bytes")),
                    words(workload, "distributions").map(KeyDistribution.Kind::of).toList(),
                    words(workload, "pipelines").map(Integer::valueOf).toList(),
                    words(workload, "windows").map(Integer::valueOf).toList());
            if (load.members < 1 || load.connections < 1 || load.readPercent < 0 || load.readPercent > 100
                    || load.valueBytes < 1 || load.pipelines.stream().anyMatch(length -> length < 1)
                    || load.windows.stream().anyMatch(window -> window < 0 || window > MAX_WINDOW)) {
                throw new InvalidExperimentException("a workload of the proxy experiment: expected a member, a"
                        + " connection, a byte and pipelines of 1 or more, reads from 0 to 100 and windows from 0 to "
                        + MAX_WINDOW + ", not " + load);
            }
            return load;
        } catch (IllegalArgumentException wrong) {
            throw new InvalidExperimentException("a workload of the proxy experiment: " + wrong.getMessage(), wrong);
        }
    }

    private static java.util.stream.Stream<String> words(Map<String, String> workload, String name) {
        return Arrays.stream(property(workload, name).split(" ", -1));
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new InvalidExperimentException("a workload of the proxy experiment has no " + name);
        }
        return text;
    }

    /** Turns of one round: each way to the members, under each distribution and pipeline. */
    long turns() {
        return (1L + windows.size()) * distributions.size() * pipelines.size();
    }
}

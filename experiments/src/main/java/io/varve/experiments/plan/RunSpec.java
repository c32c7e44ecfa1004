package io.varve.experiments.plan;

import java.util.List;
import java.util.stream.Collectors;

import io.varve.experiments.definition.Experiment.Figure;

/**
 * One run of the matrix. Immutable.
 *
 * @param workload      name
 * @param size          name
 * @param ttls          TTLs in seconds
 * @param threads       client threads
 * @param configuration the server's name
 */
public record RunSpec(String workload, String size, List<Integer> ttls, int threads, String configuration) {
    public RunSpec {
        ttls = List.copyOf(ttls);
    }

    /** Whether the figure includes this run. */
    public boolean isIn(Figure figure) {
        return figure.includes(workload, size, ttls, threads);
    }

    /** The run's directory name: it identifies the run, in characters that every file system accepts. */
    public String id() {
        return cell() + "_" + configuration.replaceAll("[^A-Za-z0-9.-]", "-");
    }

    /** The common part of runs whose configurations are compared. */
    public String cell() {
        return workload + "_" + size + "_ttl" + ttls.stream().map(String::valueOf).collect(Collectors.joining("-"))
                + "_" + threads + "t";
    }

    /** The cell in words. */
    public String cellTitle() {
        return "workload " + workload + ", " + size + ", TTLs " + ttlText() + " s, "
                + threads + (threads == 1 ? " client thread" : " client threads");
    }

    public String ttlText() {
        return ttls.stream().map(String::valueOf).collect(Collectors.joining(", ", "{", "}"));
    }

    public int maxTtlSeconds() {
        return ttls.stream().mapToInt(Integer::intValue).max().orElse(0);
    }
}

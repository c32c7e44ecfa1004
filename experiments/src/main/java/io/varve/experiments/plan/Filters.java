package io.varve.experiments.plan;

import java.util.List;

/**
 * The requested part of a matrix: an empty list leaves that dimension unrestricted. Immutable.
 *
 * @param workloads names
 * @param sizes names
 * @param configurations names
 * @param threads client threads
 * @param ttls sets of TTLs in seconds
 * @param against targets beside Varve's configurations: varve, redis or HOST:PORT; empty is the experiment's own
 */
public record Filters(List<String> workloads, List<String> sizes, List<String> configurations, List<Integer> threads,
        List<List<Integer>> ttls, List<String> against) {
    public static final Filters NONE = new Filters(List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
}

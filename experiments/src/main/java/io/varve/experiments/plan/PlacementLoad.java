package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.InvalidExperimentException;

/**
 * The cluster and the keys of the experiment on placement. Immutable. Source: Song and Pu, "Implementation and
 * Evaluation of a Durable Distributed Key-Value Store", section 4.2.
 *
 * @param members number of members, all of weight 1
 * @param keys number of different keys
 * @param hashed whether each key is hashed; otherwise the number of keys of each slot is drawn
 * @param identifiers numbers of identifiers that a member has on the ring, one after the other
 */
public record PlacementLoad(int members, long keys, boolean hashed, List<Integer> identifiers) {
    /** @throws InvalidExperimentException if a property is missing or invalid */
    static PlacementLoad of(Map<String, String> workload) {
        String drawn = property(workload, "keys-are");
        if (!drawn.equals("hashed") && !drawn.equals("drawn")) {
            throw new InvalidExperimentException("keys-are '" + drawn + "': expected hashed, drawn");
        }
        try {
            PlacementLoad load = new PlacementLoad(Integer.parseInt(property(workload, "members")),
                    Long.parseLong(property(workload, "keys")), drawn.equals("hashed"),
                    Arrays.stream(property(workload, "identifiers").split(" ", -1)).map(Integer::valueOf).toList());
            if (load.members < 2 || load.keys < 1 || load.identifiers.stream().anyMatch(count -> count < 1)) {
                throw new InvalidExperimentException(
                        "a workload of the placement experiment: expected two members, a key and an identifier or "
                                + "more of each, not " + load);
            }
            return load;
        } catch (NumberFormatException e) {
            throw new InvalidExperimentException("a workload of the placement experiment: " + e.getMessage(), e);
        }
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new InvalidExperimentException("a workload of the placement experiment has no " + name);
        }
        return text;
    }

    /** Identifiers of all members, over all rings of one repetition. */
    long identifiersOfAllRings() {
        return (long) members * identifiers.stream().mapToInt(Integer::intValue).sum();
    }
}

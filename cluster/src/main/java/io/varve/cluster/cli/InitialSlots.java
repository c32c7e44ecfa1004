package io.varve.cluster.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;

/**
 * The slots of a new cluster's members: one range each, in the order in which an operator has named the members, as
 * {@code redis-cli --cluster create} gives them. Stateless.
 */
final class InitialSlots {
    private InitialSlots() {}

    /** @return all slots, each once, in proportion to the weights */
    static Map<Member, List<SlotRange>> of(List<Member> primaries) {
        double total = primaries.stream().mapToDouble(Member::weight).sum();
        Map<Member, List<SlotRange>> placed = new LinkedHashMap<>();
        double sum = 0;
        int first = 0;
        for (int i = 0; i < primaries.size(); i++) {
            sum += primaries.get(i).weight();
            int end = i == primaries.size() - 1
                    ? HashSlot.COUNT
                    : (int) Math.round(HashSlot.COUNT * sum / total);
            List<SlotRange> ranges = new ArrayList<>();
            if (end > first) {
                ranges.add(new SlotRange(first, end - 1));
            }
            placed.put(primaries.get(i), ranges);
            first = end;
        }
        return placed;
    }
}

package io.varve.cluster.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;

/** Where the slots of a new cluster go. Stateless. */
@FunctionalInterface
interface SlotPlacement {
    /** Contiguous ranges in proportion to the weights. */
    SlotPlacement PROPORTIONAL = SlotPlacement::proportional;

    /** @return all slots, each once */
    Map<Member, List<SlotRange>> place(List<Member> primaries);

    private static Map<Member, List<SlotRange>> proportional(List<Member> primaries) {
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

package io.varve.cluster.placement;

import java.util.List;

import io.varve.cluster.map.Member;

/**
 * A way to choose the owner of each slot from the primaries and their weights alone. Implementations are immutable, and
 * equal primaries in any order give equal assignments.
 *
 * <p>If a member joins, slots move to it only; if it leaves, only its slots move. {@link SlotRebalancer} also considers
 * the present owners.
 */
public interface SlotPlacement {
    /**
     * Chooses the owners.
     *
     * @throws IllegalArgumentException if there are no primaries, one of them twice, or a replica
     */
    SlotAssignment place(List<Member> primaries);
}

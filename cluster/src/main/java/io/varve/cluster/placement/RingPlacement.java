package io.varve.cluster.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;

/**
 * Places slots by a {@link HashRing}: slot s stands at s · 2<sup>50</sup>, so that slots divide the ring evenly.
 * Immutable. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store", sections
 * 3.2 and 4.2; slots instead of keys are its section 5.
 *
 * <p>The slots of an identifier are a range, so the map has about as many ranges as there are identifiers.
 *
 * @param identifiersPerWeight random identifiers of a member of weight 1; others have them in proportion
 * @param seed of the random identifiers; equal on all controllers
 * @param given by member ID, identifiers that an administrator has chosen instead
 */
public record RingPlacement(int identifiersPerWeight, long seed, Map<String, VirtualNodes> given)
        implements
            SlotPlacement {
    /**
     * The standard deviation of equal members' shares is then an eighth of their mean. More identifiers make the map
     * larger, and beyond the slots of a member they do not improve its balance.
     */
    public static final int DEFAULT_IDENTIFIERS = 64;

    private static final int POSITION_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(HashSlot.COUNT);

    public RingPlacement {
        if (identifiersPerWeight < 1) {
            throw new IllegalArgumentException(
                    identifiersPerWeight + " identifiers for weight 1: expected at least 1");
        }
        given = Map.copyOf(given);
        given.forEach((id, nodes) -> {
            if (!id.equals(nodes.memberId())) {
                throw new IllegalArgumentException(
                        "identifiers of member " + nodes.memberId() + " are given for member " + id);
            }
        });
    }

    /** All identifiers are random. */
    public RingPlacement(int identifiersPerWeight, long seed) {
        this(identifiersPerWeight, seed, Map.of());
    }

    /** The place of a slot on the ring. */
    public static long position(int slot) {
        return (long) slot << POSITION_SHIFT;
    }

    /** The ring of some members. */
    public HashRing ring(List<Member> primaries) {
        List<VirtualNodes> nodes = new ArrayList<>(primaries.size());
        for (Member member : primaries) {
            VirtualNodes own = given.get(member.id());
            nodes.add(own != null
                    ? own
                    : VirtualNodes.random(member.id(), VirtualNodes.count(member.weight(), identifiersPerWeight),
                            seed));
        }
        return HashRing.of(nodes);
    }

    @Override
    public SlotAssignment place(List<Member> primaries) {
        List<Member> members = SlotAssignment.sorted(primaries);
        HashRing ring = ring(members); // in the same order
        int[] owners = new int[HashSlot.COUNT];
        for (int slot = 0; slot < owners.length; slot++) {
            owners[slot] = ring.ownerIndex(position(slot));
        }
        return new SlotAssignment(members, owners);
    }
}

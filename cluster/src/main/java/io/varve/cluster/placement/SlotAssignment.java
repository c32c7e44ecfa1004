package io.varve.cluster.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import org.jspecify.annotations.Nullable;

/** An owner for each slot, as a placement has chosen them. Immutable. */
public final class SlotAssignment {
    private final List<Member> members;
    /** For each slot the index of its owner. */
    private final int[] owners;

    /**
     * @param members as {@link #sorted} returns them
     * @param owners for each slot the index of its owner; not to be changed afterwards
     */
    SlotAssignment(List<Member> members, int[] owners) {
        this.members = members;
        this.owners = owners;
    }

    /**
     * The primaries in ascending order of their IDs.
     *
     * @throws IllegalArgumentException if there are no primaries, one of them twice, or a replica
     */
    static List<Member> sorted(List<Member> primaries) {
        List<Member> sorted = primaries.stream().sorted(Comparator.comparing(Member::id)).toList();
        if (sorted.isEmpty()) {
            throw new IllegalArgumentException("no primaries: slots need at least one");
        }
        for (int i = 0; i < sorted.size(); i++) {
            Member member = sorted.get(i);
            if (!member.isPrimary()) {
                throw new IllegalArgumentException("member " + member.id() + " is a replica: expected primaries");
            }
            if (i > 0 && member.id().equals(sorted.get(i - 1).id())) {
                throw new IllegalArgumentException("member " + member.id() + " occurs twice");
            }
        }
        return sorted;
    }

    /** The primary that receives a slot, or has it if it is not migrating; null if no one has it. */
    static @Nullable Member holder(SlotMap map, int slot) {
        Member target = map.target(slot);
        return target == null ? map.owner(slot) : target;
    }

    /** The primaries in ascending order of their IDs, those without slots too. */
    public List<Member> members() {
        return members;
    }

    public Member owner(int slot) {
        return members.get(owners[slot]);
    }

    /** Number of slots of each of the {@link #members}, in their order. */
    public int[] counts() {
        int[] counts = new int[members.size()];
        Arrays.stream(owners).forEach(owner -> counts[owner]++);
        return counts;
    }

    /**
     * The slots whose owner is another one than in a map, in ascending order. A slot that is migrating counts as its
     * receiver's.
     */
    public List<SlotMove> moves(SlotMap present) {
        List<SlotMove> moves = new ArrayList<>();
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            Member holder = holder(present, slot);
            String from = holder == null ? null : holder.id();
            String to = owner(slot).id();
            if (!to.equals(from)) {
                moves.add(new SlotMove(slot, from, to));
            }
        }
        return moves;
    }

    /** Adds the members to a map and gives each slot to its owner at once, as a new cluster needs it. */
    public SlotMap.Builder assignTo(SlotMap.Builder map) {
        members.forEach(map::member);
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            map.owner(slot, owner(slot).id());
        }
        return map;
    }
}

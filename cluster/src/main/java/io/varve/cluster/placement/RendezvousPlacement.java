package io.varve.cluster.placement;

import java.util.List;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;

/**
 * Places each slot by weighted rendezvous hashing: on the member with the least -ln(u) / weight, where u is a hash of
 * slot and member as a number from 0 to 1. Immutable. Sources: Thaler and Ravishankar, "Using name-based mappings to
 * increase hit rates" (1998), for equal weights; Schindelhauer and Schomaker, "Weighted distributed hash tables"
 * (2005), logarithmic method.
 *
 * <p>The score of a member depends on no other member. So a member that joins or gains weight only takes slots, and one
 * that leaves or loses weight only gives slots. Of equal scores, the member with the lesser ID wins. The logarithm is
 * {@link StrictMath}'s, which has the same result on every machine.
 *
 * @param seed of the hashes; equal on all controllers
 */
public record RendezvousPlacement(long seed) implements SlotPlacement {
    private static final int UNUSED_BITS = Long.SIZE - 53;
    private static final double HALF = 0.5;

    @Override
    public SlotAssignment place(List<Member> primaries) {
        List<Member> members = SlotAssignment.sorted(primaries);
        Hasher64 hasher = Hashing.xxh3_64(seed);
        long[] names = members.stream().mapToLong(member -> hasher.hashCharsToLong(member.id())).toArray();
        double[] weights = members.stream().mapToDouble(Member::weight).toArray();
        int[] owners = new int[HashSlot.COUNT];
        for (int slot = 0; slot < owners.length; slot++) {
            double least = Double.POSITIVE_INFINITY;
            for (int member = 0; member < names.length; member++) {
                double score = -StrictMath.log(unit(hasher.hashLongIntToLong(names[member], slot))) / weights[member];
                if (score < least) {
                    least = score;
                    owners[slot] = member;
                }
            }
        }
        return new SlotAssignment(members, owners);
    }

    /** A number between 0 and 1, both excluded. */
    private static double unit(long hash) {
        return ((hash >>> UNUSED_BITS) + HALF) * 0x1p-53;
    }
}

package io.varve.cluster.placement;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;

/**
 * Gives each primary its weighted share of the slots, less than one slot off, with the fewest moves from a present map.
 * Stateless. Its model is {@code redis-cli --cluster rebalance}.
 *
 * <p>A primary that is not among the given ones loses all of its slots. A slot that is migrating counts as its
 * receiver's. Unlike with a {@link SlotPlacement}, the result depends on the present map, and therefore on history.
 */
public final class SlotRebalancer {
    /** A share that is so near to a whole number is that number: the quotient of two weights is rounded. */
    private static final double ROUNDING = 1e-6;
    private static final int NO_ONE = -1;

    private SlotRebalancer() {}

    /**
     * Chooses the owners.
     *
     * @throws IllegalArgumentException if there are no primaries, one of them twice, or a replica
     */
    public static SlotAssignment rebalance(List<Member> primaries, SlotMap present) {
        List<Member> members = SlotAssignment.sorted(primaries);
        Map<String, Integer> indexes = new HashMap<>();
        members.forEach(member -> indexes.put(member.id(), indexes.size()));
        int[] owners = new int[HashSlot.COUNT];
        int[] counts = new int[members.size()];
        for (int slot = 0; slot < owners.length; slot++) {
            Member holder = SlotAssignment.holder(present, slot);
            owners[slot] = holder == null ? NO_ONE : indexes.getOrDefault(holder.id(), NO_ONE);
            if (owners[slot] != NO_ONE) {
                counts[owners[slot]]++;
            }
        }
        move(owners, counts, quotas(members, counts));
        return new SlotAssignment(members, owners);
    }

    /**
     * The number of slots that each member is to have: its share, rounded down or up. Members that have more slots than
     * their share rounded down come first for a slot more, since each of them then keeps one; after them those with the
     * greatest remainders.
     */
    private static int[] quotas(List<Member> members, int[] counts) {
        double[] shares = shares(members);
        int[] quotas = new int[shares.length];
        double[] remainders = new double[shares.length];
        for (int i = 0; i < shares.length; i++) {
            quotas[i] = (int) shares[i];
            remainders[i] = shares[i] - quotas[i];
        }
        IntStream.range(0, shares.length).boxed().filter(i -> remainders[i] > 0)
                .sorted(Comparator.<Integer>comparingInt(i -> counts[i] > quotas[i] ? 0 : 1)
                        .thenComparingDouble(i -> -remainders[i]).thenComparingInt(i -> i))
                .limit(HashSlot.COUNT - Arrays.stream(quotas).sum()).toList().forEach(i -> quotas[i]++);
        return quotas;
    }

    /** Slots in proportion to the weights. */
    private static double[] shares(List<Member> members) {
        // The quotients cannot overflow, and neither can their sum.
        double greatest = members.stream().mapToDouble(Member::weight).max().orElseThrow();
        double[] shares = members.stream().mapToDouble(member -> member.weight() / greatest).toArray();
        double sum = Arrays.stream(shares).sum();
        for (int i = 0; i < shares.length; i++) {
            double share = shares[i] / sum * HashSlot.COUNT;
            shares[i] = Math.abs(share - Math.rint(share)) < ROUNDING ? Math.rint(share) : share;
        }
        return shares;
    }

    /** Members with too many slots give up their last ones; members with too few take the first free ones. */
    private static void move(int[] owners, int[] counts, int[] quotas) {
        for (int slot = owners.length - 1; slot >= 0; slot--) {
            int owner = owners[slot];
            if (owner != NO_ONE && counts[owner] > quotas[owner]) {
                counts[owner]--;
                owners[slot] = NO_ONE;
            }
        }
        int receiver = 0;
        for (int slot = 0; slot < owners.length; slot++) {
            if (owners[slot] == NO_ONE) {
                while (counts[receiver] == quotas[receiver]) {
                    receiver++;
                }
                owners[slot] = receiver;
                counts[receiver]++;
            }
        }
    }
}

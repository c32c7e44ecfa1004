package io.varve.cluster.placement;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the rebalancer, random maps beside a search through all divisions. Confined to the test's thread. */
final class SlotRebalancerTest {
    private static final double ROUNDING = 1e-6;

    /** Slots of each member in the map. */
    private static int[] counts(SlotMap map, List<Member> members) {
        return members.stream().mapToInt(member -> map.slots(member).stream().mapToInt(SlotRange::size).sum())
                .toArray();
    }

    private static double[] shares(List<Member> members) {
        double sum = members.stream().mapToDouble(Member::weight).sum();
        return members.stream().mapToDouble(member -> member.weight() / sum * HashSlot.COUNT).toArray();
    }

    /** The fewest moves of all divisions in which each member is less than one slot off its share. */
    private static int fewestMoves(double[] shares, int[] counts) {
        int fewest = Integer.MAX_VALUE;
        for (int up = 0; up < 1 << shares.length; up++) {
            int sum = 0;
            int received = 0;
            boolean isNear = true;
            for (int i = 0; i < shares.length; i++) {
                int quota = (int) Math.floor(shares[i] + ROUNDING) + (up >> i & 1);
                isNear &= Math.abs(quota - shares[i]) < 1 - ROUNDING;
                sum += quota;
                received += Math.max(0, quota - counts[i]);
            }
            if (isNear && sum == HashSlot.COUNT) {
                fewest = Math.min(fewest, received);
            }
        }
        return fewest;
    }

    @Test
    void emptyMap_isDividedIntoRanges() {
        SlotMap map = Members.map(SlotRebalancer.rebalance(Members.equal(3), SlotMap.EMPTY));
        assertThat(map.slots(Members.member(0, 1))).containsExactly(new SlotRange(0, 5461));
        assertThat(map.slots(Members.member(1, 1))).containsExactly(new SlotRange(5462, 10_922));
        assertThat(map.slots(Members.member(2, 1))).containsExactly(new SlotRange(10_923, 16_383));
    }

    /** As `redis-cli --cluster rebalance --cluster-use-empty-masters` does it. */
    @Test
    void joiner_takesAnNthFromAll() {
        SlotMap three = Members.map(SlotRebalancer.rebalance(Members.equal(3), SlotMap.EMPTY));
        SlotAssignment four = SlotRebalancer.rebalance(Members.equal(4), three);
        assertThat(four.counts()).containsOnly(4096);
        assertThat(four.moves(three)).hasSize(4096)
                .allMatch(move -> move.to().equals(Members.member(3, 1).id()))
                .extracting(SlotMove::from).contains(Members.member(0, 1).id(), Members.member(1, 1).id(),
                        Members.member(2, 1).id());
    }

    @Test
    void leaver_givesExactlyItsSlots() {
        SlotMap four = Members.map(SlotRebalancer.rebalance(Members.equal(4), SlotMap.EMPTY));
        SlotAssignment three = SlotRebalancer.rebalance(Members.equal(3), four);
        assertThat(three.counts()).containsExactlyInAnyOrder(5461, 5461, 5462);
        assertThat(three.moves(four)).hasSize(4096).allMatch(move -> Members.member(3, 1).id().equals(move.from()));
    }

    @Test
    void weights_areSharesExactly() {
        assertThat(SlotRebalancer.rebalance(Members.weighted(1, 2, 4, 1), SlotMap.EMPTY).counts())
                .containsExactly(2048, 4096, 8192, 2048);
        // 0.1 has no exact binary form, and the sum of eight is less than 0.8.
        double[] tenths = new double[8];
        Arrays.fill(tenths, 0.1);
        assertThat(SlotRebalancer.rebalance(Members.weighted(tenths), SlotMap.EMPTY).counts()).containsOnly(2048);
        assertThat(SlotRebalancer.rebalance(Members.weighted(Double.MAX_VALUE, Double.MAX_VALUE, Double.MIN_VALUE),
                SlotMap.EMPTY).counts()).containsExactly(8192, 8192, 0);
    }

    @Test
    void moreMembersThanSlots_haveAtMostOneEach() {
        int[] counts = SlotRebalancer.rebalance(Members.equal(HashSlot.COUNT + 100), SlotMap.EMPTY).counts();
        assertThat(Arrays.stream(counts).max()).hasValue(1);
        assertThat(Arrays.stream(counts).sum()).isEqualTo(HashSlot.COUNT);
    }

    @Test
    void balancedMap_doesNotMove() {
        List<Member> members = Members.weighted(1, 1, 3);
        SlotMap map = Members.map(SlotRebalancer.rebalance(members, SlotMap.EMPTY));
        assertThat(SlotRebalancer.rebalance(members, map).moves(map)).isEmpty();
        // The spare slot is another member's, which is as good.
        SlotMap other = new SlotMap.Builder().member(Members.member(0, 1)).member(Members.member(1, 1))
                .member(Members.member(2, 1)).owner(new SlotRange(0, 5460), Members.member(0, 1).id())
                .owner(new SlotRange(5461, 10_921), Members.member(1, 1).id())
                .owner(new SlotRange(10_922, 16_383), Members.member(2, 1).id()).build(1);
        assertThat(SlotRebalancer.rebalance(Members.equal(3), other).moves(other)).isEmpty();
    }

    @Test
    void migratingSlots_countAsTheirReceivers() {
        List<Member> two = Members.equal(2);
        SlotMap map = Members.map(SlotRebalancer.rebalance(two, SlotMap.EMPTY));
        SlotMap migrating = map.toBuilder().target(0, two.get(1).id()).build(2);
        List<SlotMove> moves = SlotRebalancer.rebalance(two, migrating).moves(migrating);
        assertThat(moves).hasSize(1).allMatch(move -> two.get(1).id().equals(move.from()));
    }

    @Test
    void randomMaps_getTheirSharesWithTheFewestMoves() {
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.placement.seed"));
        int rounds = TestBudget.ofInt("varve.placement.maps", 100, 3_000);
        for (int round = 0; round < rounds; round++) {
            List<Member> all = Members.random(random, 9);
            SlotMap map = Members.randomMap(random, all);
            List<Member> members = all.size() > 1 && random.nextBoolean()
                    ? Members.without(all, all.get(random.nextInt(all.size())))
                    : all;
            SlotAssignment assignment = SlotRebalancer.rebalance(members, map);
            double[] shares = shares(members);
            int[] counts = assignment.counts();
            for (int i = 0; i < shares.length; i++) {
                assertThat(counts[i] - shares[i]).as("round %d", round).isBetween(-1 + ROUNDING, 1 - ROUNDING);
            }
            assertThat(assignment.moves(map)).as("round %d", round)
                    .hasSize(fewestMoves(shares, counts(map, members)));
        }
    }

    @Test
    void invalidMembers_areRefused() {
        assertThatThrownBy(() -> SlotRebalancer.rebalance(List.of(), SlotMap.EMPTY))
                .isInstanceOf(IllegalArgumentException.class);
    }
}

package io.varve.cluster.placement;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests both placements of slots. Confined to the test's thread. */
final class SlotPlacementTest {
    private static final long SEED = TestBudget.seed("varve.placement.seed");

    static List<SlotPlacement> placements() {
        return List.of(new RingPlacement(256, SEED), new RendezvousPlacement(SEED));
    }

    /** The members' standard deviation is at most 1/16 of their share with this many identifiers: six of them. */
    private static void assertNear(int count, double share) {
        assertThat((double) count).isBetween(share * (1 - 6.0 / 16), share * (1 + 6.0 / 16));
    }

    @ParameterizedTest
    @MethodSource("placements")
    void equalMembers_haveNearlyEqualShares(SlotPlacement placement) {
        SlotAssignment assignment = placement.place(Members.equal(8));
        assertThat(assignment.counts()).hasSize(8)
                .satisfies(counts -> assertThat(Arrays.stream(counts).sum()).isEqualTo(HashSlot.COUNT));
        for (int count : assignment.counts()) {
            assertNear(count, HashSlot.COUNT / 8.0);
        }
    }

    @ParameterizedTest
    @MethodSource("placements")
    void weights_determineTheShares(SlotPlacement placement) {
        double[] weights = {1, 2, 4, 1};
        int[] counts = placement.place(Members.weighted(weights)).counts();
        for (int i = 0; i < weights.length; i++) {
            assertNear(counts[i], HashSlot.COUNT * weights[i] / 8);
        }
    }

    @ParameterizedTest
    @MethodSource("placements")
    void theNthOfEqualMembers_takesAnNth(SlotPlacement placement) {
        for (int n = 2; n <= 10; n++) {
            List<Member> members = Members.equal(n);
            Member joiner = members.getLast();
            SlotMap before = Members.map(placement.place(Members.without(members, joiner)));
            List<SlotMove> moves = placement.place(members).moves(before);
            assertThat(moves).allMatch(move -> move.to().equals(joiner.id()));
            assertNear(moves.size(), HashSlot.COUNT / (double) n);
        }
    }

    /** Random weights: a joiner takes only, a leaver gives exactly its slots, and more weight takes only. */
    @ParameterizedTest
    @MethodSource("placements")
    void changesOfOneMember_moveItsSlotsOnly(SlotPlacement placement) {
        SplittableRandom random = new SplittableRandom(SEED);
        int rounds = TestBudget.ofInt("varve.placement.rounds", 15, 500);
        for (int round = 0; round < rounds; round++) {
            List<Member> members = Members.random(random, 12);
            SlotAssignment before = placement.place(members);
            Member joiner = Members.member(50 + round, 0.25 * (1 + random.nextInt(16)));
            SlotAssignment joined = placement.place(Members.with(members, joiner));
            assertThat(joined.moves(Members.map(before))).hasSize(joined.counts()[members.size()])
                    .allMatch(move -> move.to().equals(joiner.id()));

            assertThat(before.moves(Members.map(joined))).as("leaving").hasSize(joined.counts()[members.size()])
                    .allMatch(move -> joiner.id().equals(move.from()));

            int heavier = random.nextInt(members.size());
            Member old = members.get(heavier);
            Member grown = new Member(old.id(), old.host(), old.port(), old.weight() * 2, null);
            assertThat(placement.place(Members.with(Members.without(members, old), grown)).moves(Members.map(before)))
                    .allMatch(move -> move.to().equals(grown.id()));
        }
    }

    @ParameterizedTest
    @MethodSource("placements")
    void placement_isIndependentOfTheOrderOfMembers(SlotPlacement placement) {
        List<Member> members = Members.random(new SplittableRandom(SEED), 12);
        SlotAssignment expected = placement.place(members);
        List<Member> shuffled = Members.with(members, Members.member(99, 1));
        Collections.shuffle(shuffled, new Random(SEED));
        shuffled.removeIf(member -> member.id().equals(Members.member(99, 1).id()));
        SlotAssignment actual = placement.place(shuffled);
        assertThat(actual.members()).isEqualTo(expected.members());
        assertThat(actual.moves(Members.map(expected))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("placements")
    void oneMember_hasAllSlots(SlotPlacement placement) {
        assertThat(placement.place(Members.equal(1)).counts()).containsExactly(HashSlot.COUNT);
        assertThat(placement.place(Members.equal(1)).moves(SlotMap.EMPTY)).hasSize(HashSlot.COUNT)
                .allMatch(move -> move.from() == null);
    }

    @ParameterizedTest
    @MethodSource("placements")
    void invalidMembers_areRefused(SlotPlacement placement) {
        Member replica = new Member("f".repeat(40), "127.0.0.1", 7999, 1, Members.member(0, 1).id());
        assertThatThrownBy(() -> placement.place(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> placement.place(Members.with(Members.equal(2), replica)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("replica");
        assertThatThrownBy(() -> placement.place(Members.with(Members.equal(2), Members.member(1, 2))))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("twice");
    }

    @Test
    void extremeWeights_areAccepted() {
        SlotPlacement rendezvous = new RendezvousPlacement(SEED);
        assertThat(rendezvous.place(Members.weighted(Double.MIN_VALUE, 1)).counts()).containsExactly(0,
                HashSlot.COUNT);
        assertThat(rendezvous.place(Members.weighted(1e-300, 1e300)).counts()).containsExactly(0, HashSlot.COUNT);
        assertThatThrownBy(() -> new RingPlacement(256, SEED).place(Members.weighted(1, 1e300)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("weight 1.0E300");
    }

    /** An administrator can divide the ring evenly (section 3.2). */
    @Test
    void identifiersByHand_divideTheSlotsExactly() {
        List<Member> members = Members.equal(4);
        Map<String, VirtualNodes> given = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            String id = members.get(i).id();
            given.put(id, VirtualNodes.given(id, (long) (i + 1) << 62));
        }
        SlotAssignment assignment = new RingPlacement(1, SEED, given).place(members);
        assertThat(assignment.counts()).containsOnly(HashSlot.COUNT / 4);
        assertThat(Members.map(assignment).slots(members.get(1))).containsExactly(new SlotRange(4097, 8192));

        String joiner = Members.member(4, 1).id();
        given.put(joiner, VirtualNodes.given(joiner, RingPlacement.position(99)));
        List<SlotMove> moves = new RingPlacement(1, SEED, given).place(Members.equal(5)).moves(Members.map(assignment));
        assertThat(moves).extracting(SlotMove::slot).hasSize(99).startsWith(1).endsWith(99);
    }

    @Test
    void invalidRings_areRefused() {
        assertThatThrownBy(() -> new RingPlacement(0, SEED)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RingPlacement(1, SEED, Map.of("a", VirtualNodes.given("b", 1))))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("member b");
    }

    /** A slot that is on its way to its new owner does not move again. */
    @Test
    void migratingSlots_countAsTheirReceivers() {
        SlotPlacement placement = new RendezvousPlacement(SEED);
        SlotAssignment two = placement.place(Members.equal(2));
        SlotMap map = Members.map(two);
        Member other = two.members().get(two.owner(7).equals(two.members().getFirst()) ? 1 : 0);
        SlotMap onItsWay = map.toBuilder().owner(7, other.id()).target(7, two.owner(7).id()).build(2);
        assertThat(two.moves(onItsWay)).isEmpty();
        SlotMap wrongWay = map.toBuilder().target(7, other.id()).build(2);
        assertThat(two.moves(wrongWay)).containsExactly(new SlotMove(7, other.id(), two.owner(7).id()));
    }

    /** All controllers must agree, whatever their release. */
    @Test
    void placements_areTheSameInEveryRelease() {
        List<Member> members = Members.weighted(1, 2, 3);
        assertThat(new RingPlacement(16, 1).place(members).counts()).containsExactly(3004, 4226, 9154);
        assertThat(new RendezvousPlacement(1).place(members).counts()).containsExactly(2826, 5384, 8174);
    }
}

package io.varve.experiments.run.placement;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.placement.RendezvousPlacement;
import io.varve.cluster.placement.SlotRebalancer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the keys and the measurements of placements. Confined to the test's thread. */
final class PlacedSlotsTest {
    private static final long SEED = 7;

    private static Member member(int number) {
        return new Member(String.format(Locale.ROOT, "%040x", number), "10.0.0." + number, 6379, 1, null);
    }

    private static List<Member> members(int count) {
        List<Member> members = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            members.add(member(number));
        }
        return members;
    }

    /** A multinomial distribution: each slot has a mean of keys / slots, and nearly as much variance. */
    @Test
    void drawnKeys_areAsManyAndAsScatteredAsHashedOnes() {
        long keys = 100_000_007;
        long[] slots = KeySet.drawn(keys, new SplittableRandom(SEED)).slots();
        assertThat(slots).hasSize(HashSlot.COUNT);
        assertThat(Arrays.stream(slots).sum()).isEqualTo(keys);
        double mean = (double) keys / HashSlot.COUNT;
        double variance = Arrays.stream(slots).mapToDouble(each -> (each - mean) * (each - mean)).average()
                .orElseThrow();
        // The variance of 16384 variances has a standard deviation of 1.1 %.
        assertThat(variance / mean).isBetween(0.93, 1.07);
        assertThat(KeySet.drawn(keys, new SplittableRandom(SEED)).slots()).isEqualTo(slots);
        assertThat(Arrays.stream(KeySet.drawn(5, new SplittableRandom(SEED)).slots()).sum()).isEqualTo(5);
    }

    @Test
    void hashedKeys_haveAHashAndASlotEach() {
        KeySet keys = KeySet.hashed(10_000, new SplittableRandom(SEED));
        assertThat(keys.hashes()).hasSize(10_000).doesNotHaveDuplicates();
        assertThat(Arrays.stream(keys.slots()).sum()).isEqualTo(10_000);
        assertThat(Arrays.stream(keys.slots()).filter(count -> count > 0).count()).isBetween(7000L, 8000L);
    }

    @Test
    void rebalancedSlots_areMeasured() {
        KeySet keys = KeySet.drawn(1_000_000, new SplittableRandom(SEED));
        PlacementTrial trial = PlacedSlots.measure(SlotRebalancer::rebalance, members(4), member(5), keys);
        assertThat(trial.mean()).isEqualTo(250_000);
        assertThat(trial.least()).isBetween(245_000.0, 250_000.0);
        assertThat(trial.most()).isBetween(250_000.0, 255_000.0);
        assertThat(trial.deviation()).isBetween(1.0, 2000.0);
        PlacementTrial.Slots slots = trial.slots();
        assertThat(slots.least()).isEqualTo(4096).isEqualTo(slots.most());
        assertThat(slots.joinSlots()).isEqualTo(3276);
        assertThat(slots.joinKeys()).isBetween(190_000.0, 210_000.0);
        assertThat(slots.leaveSlots()).isEqualTo(4096);
        assertThat(slots.astray()).isZero();
        assertThat(slots.ranges()).isEqualTo(4);
    }

    /** A placement that ignores the present map moves slots between members that stay. */
    @Test
    void needlessMoves_areCounted() {
        PlacementTrial trial = PlacedSlots.measure((members, _) -> SlotRebalancer.rebalance(members, SlotMap.EMPTY),
                members(4), member(5), KeySet.drawn(1000, new SplittableRandom(SEED)));
        assertThat(trial.slots().astray()).isGreaterThan(3000);
        assertThat(PlacedSlots.measure((members, _) -> new RendezvousPlacement(SEED).place(members), members(4),
                member(5), KeySet.drawn(1000, new SplittableRandom(SEED))).slots().astray()).isZero();
    }

    @Test
    void reply_isThatOfClusterSlots() {
        List<Member> members = members(2);
        SlotMap map = new SlotMap.Builder().member(members.getFirst()).member(members.getLast())
                .owner(new SlotRange(0, 99), members.getFirst().id())
                .owner(new SlotRange(100, 16_383), members.getLast().id()).build(1);
        assertThat(PlacedSlots.ranges(map)).containsExactly(new SlotRange(0, 99), new SlotRange(100, 16_383));
        assertThat(new String(PlacedSlots.slotsReply(map), StandardCharsets.US_ASCII)).isEqualTo(
                "*2\r\n*3\r\n:0\r\n:99\r\n*3\r\n$8\r\n10.0.0.1\r\n:6379\r\n$40\r\n" + members.getFirst().id()
                        + "\r\n*3\r\n:100\r\n:16383\r\n*3\r\n$8\r\n10.0.0.2\r\n:6379\r\n$40\r\n"
                        + members.getLast().id() + "\r\n");
    }
}

package io.varve.cluster.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.testing.TestMembers;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

final class InitialSlotsTest {
    @Test
    void slots_areInProportionToTheWeights() {
        Member heavy = TestMembers.primary(2).withWeight(2);
        Map<Member, List<SlotRange>> placed = InitialSlots
                .of(List.of(TestMembers.primary(1), heavy, TestMembers.primary(3)));
        assertThat(placed).containsEntry(TestMembers.primary(1), List.of(new SlotRange(0, 4_095)))
                .containsEntry(heavy, List.of(new SlotRange(4_096, 12_287)))
                .containsEntry(TestMembers.primary(3), List.of(new SlotRange(12_288, HashSlot.COUNT - 1)));
    }

    @Test
    void allSlots_arePlacedOnce() {
        for (int members = 1; members <= 100; members++) {
            int next = 0;
            for (List<SlotRange> ranges : InitialSlots
                    .of(IntStream.rangeClosed(1, members).mapToObj(TestMembers::primary).toList()).values()) {
                assertThat(ranges).hasSize(1);
                assertThat(ranges.getFirst().first()).isEqualTo(next);
                next = ranges.getFirst().last() + 1;
            }
            assertThat(next).isEqualTo(HashSlot.COUNT);
        }
    }
}

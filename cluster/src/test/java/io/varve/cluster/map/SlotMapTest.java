package io.varve.cluster.map;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

final class SlotMapTest {
    private static final Member A = new Member("a".repeat(40), "127.0.0.1", 7001, 1, null);
    private static final Member B = new Member("b".repeat(40), "127.0.0.1", 7002, 1, null);
    private static final Member REPLICA = new Member("c".repeat(40), "127.0.0.1", 7003, 1, A.id());

    @Test
    void empty_ownsNothing() {
        assertThat(SlotMap.EMPTY.members()).isEmpty();
        assertThat(SlotMap.EMPTY.assignedSlots()).isZero();
        assertThat(SlotMap.EMPTY.owner(HashSlot.COUNT - 1)).isNull();
    }

    @Test
    void slots_areRanges() {
        SlotMap map = new SlotMap.Builder().member(A).member(B).member(REPLICA).owner(new SlotRange(0, 99), A.id())
                .owner(new SlotRange(50, 59), B.id()).owner(HashSlot.COUNT - 1, A.id()).build(7);
        assertThat(map.epoch()).isEqualTo(7);
        assertThat(map.slots(A)).containsExactly(new SlotRange(0, 49), new SlotRange(60, 99),
                new SlotRange(HashSlot.COUNT - 1, HashSlot.COUNT - 1));
        assertThat(map.slots(B)).containsExactly(new SlotRange(50, 59));
        assertThat(map.slots(REPLICA)).isEmpty();
        assertThat(map.assignedSlots()).isEqualTo(101);
        assertThat(map.replicas(A)).isEqualTo(List.of(REPLICA));
        assertThat(map.owner(100)).isNull();
    }

    @Test
    void migration_endsWithTheNewOwner() {
        SlotMap map = new SlotMap.Builder().member(A).member(B).owner(3, A.id()).target(3, B.id()).build(1);
        assertThat(map.target(3)).isEqualTo(B);
        assertThat(map.owner(3)).isEqualTo(A);
        SlotMap after = map.toBuilder().owner(3, B.id()).build(2);
        assertThat(after.target(3)).isNull();
        assertThat(after.owner(3)).isEqualTo(B);
        assertThat(map.toBuilder().build(1).target(3)).isEqualTo(B);
    }

    @Test
    void invalidMaps_areRefused() {
        SlotMap.Builder unknown = new SlotMap.Builder().member(A).owner(1, B.id());
        assertThatThrownBy(() -> unknown.build(1)).isInstanceOf(IllegalStateException.class);
        SlotMap.Builder replica = new SlotMap.Builder().member(A).member(REPLICA).owner(1, REPLICA.id());
        assertThatThrownBy(() -> replica.build(1)).isInstanceOf(IllegalStateException.class);
        SlotMap.Builder itself = new SlotMap.Builder().member(A).owner(1, A.id()).target(1, A.id());
        assertThatThrownBy(() -> itself.build(1)).isInstanceOf(IllegalStateException.class);
        SlotMap.Builder orphan = new SlotMap.Builder().member(REPLICA);
        assertThatThrownBy(() -> orphan.build(1)).isInstanceOf(IllegalStateException.class);
    }
}

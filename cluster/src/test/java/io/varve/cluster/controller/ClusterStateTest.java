package io.varve.cluster.controller;

import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.Command;
import org.junit.jupiter.api.Test;

import static io.varve.cluster.testing.TestMembers.id;
import static io.varve.cluster.testing.TestMembers.primary;
import static io.varve.cluster.testing.TestMembers.replica;
import static org.assertj.core.api.Assertions.assertThat;

/** Each command on small clusters. Confined to the test's thread. */
final class ClusterStateTest {
    private static final long TERM = 5;
    private static final List<SlotRange> ALL = List.of(new SlotRange(0, HashSlot.COUNT - 1));

    private ClusterState state = ClusterState.EMPTY;
    private long index = 10;

    private ChangeResult apply(Command command) {
        ClusterState.Outcome outcome = state.apply(command, TERM, ++index);
        state = outcome.state();
        return outcome.result();
    }

    private void accept(Command command) {
        ChangeResult result = apply(command);
        assertThat(result.accepted()).as("%s: %s", command, result.reason()).isTrue();
    }

    private void refuse(Command command, String reason) {
        ClusterState before = state;
        ChangeResult result = apply(command);
        assertThat(result.accepted()).isFalse();
        assertThat(result.reason()).contains(reason);
        assertThat(state).isSameAs(before);
    }

    /** Member 1 owns all slots and has the replicas 2 and 3; member 4 has no slots. */
    private void cluster() {
        accept(new Command.Register(primary(1)));
        accept(new Command.Register(replica(2, 1)));
        accept(new Command.Register(replica(3, 1)));
        accept(new Command.Register(primary(4)));
        accept(new Command.AssignSlots(ALL, id(1)));
    }

    private Member member(int number) {
        Member member = state.map().member(id(number));
        assertThat(member).isNotNull();
        return member;
    }

    @Test
    void register_again_changesTheGenerationOnly() {
        cluster();
        accept(new Command.SetWeight(id(1), 3));
        SlotMap before = state.map();
        long generation = state.generation(id(1));
        ChangeResult again = apply(new Command.Register(primary(1)));
        assertThat(again.generation()).isEqualTo(index).isEqualTo(state.generation(id(1))).isGreaterThan(generation);
        assertThat(state.map()).isSameAs(before);
        assertThat(member(1).weight()).isEqualTo(3);
    }

    @Test
    void register_atAnotherAddress_keepsRoleAndSlots() {
        cluster();
        accept(new Command.Register(primary(2).withAddress("other", 1)));
        assertThat(member(2)).isEqualTo(replica(2, 1).withAddress("other", 1));
        refuse(new Command.Register(new Member(id(9), "other", 1, 1, null)), "has the address other:1");
        refuse(new Command.Register(new Member(id(4), "127.0.0.1", 7004, 1, null, Member.Kind.PLAIN)), "is VARVE");
    }

    @Test
    void promote_swapsTheRoles() {
        cluster();
        accept(new Command.BeginMigration(List.of(new SlotRange(7, 7)), id(4)));
        long epoch = state.map().epoch();
        accept(new Command.Promote(id(2), id(1), TERM));
        assertThat(state.map().epoch()).isEqualTo(epoch + 1);
        assertThat(member(2).isPrimary()).isTrue();
        assertThat(member(1).primaryId()).isEqualTo(id(2));
        assertThat(member(3).primaryId()).isEqualTo(id(2));
        assertThat(state.map().slots(member(2))).isEqualTo(ALL);
        assertThat(state.map().target(7)).isEqualTo(member(4));
        accept(new Command.Promote(id(2), id(1), TERM));
        assertThat(state.map().epoch()).isEqualTo(epoch + 1);
    }

    @Test
    void promote_ofTheReceiverOfASlot_keepsTheMigration() {
        cluster();
        accept(new Command.Register(replica(5, 4)));
        accept(new Command.BeginMigration(List.of(new SlotRange(7, 8)), id(4)));
        accept(new Command.Promote(id(5), id(4), Command.Promote.ANY_TERM));
        assertThat(state.map().target(7)).isEqualTo(member(5));
        assertThat(state.map().owner(7)).isEqualTo(member(1));
    }

    @Test
    void promote_thatAnotherLeaderDecided_isRefused() {
        cluster();
        refuse(new Command.Promote(id(2), id(1), TERM - 1), "leads no more");
        refuse(new Command.Promote(id(4), id(1), TERM), "is no replica of");
    }

    private Command.HandOver handOver(int primary, int replica) {
        return new Command.HandOver(id(primary), state.generation(id(primary)), id(replica),
                state.generation(id(replica)), state.map().epoch());
    }

    @Test
    void handOver_swapsTheRoles_andASecondRequestChangesNothing() {
        cluster();
        Command sent = handOver(1, 2);
        accept(sent);
        assertThat(state.map().slots(member(2))).isEqualTo(ALL);
        assertThat(member(1).primaryId()).isEqualTo(id(2));
        assertThat(member(3).primaryId()).isEqualTo(id(2));
        long epoch = state.map().epoch();
        assertThat(apply(sent).epoch()).isEqualTo(epoch);
        accept(handOver(1, 2));
        assertThat(state.map().epoch()).isEqualTo(epoch);
        refuse(handOver(1, 3), "is no replica of");
        accept(handOver(2, 1));
        refuse(sent, "the cluster has changed since epoch");
    }

    @Test
    void handOver_ofAnEarlierProcessOrMap_isRefused() {
        cluster();
        Command sent = handOver(1, 2);
        accept(new Command.Register(replica(2, 1)));
        refuse(sent, "member " + id(2) + " has started again");
        sent = handOver(1, 2);
        accept(new Command.Register(primary(1)));
        refuse(sent, "member " + id(1) + " has started again");
        sent = handOver(1, 2);
        accept(new Command.SetWeight(id(4), 2));
        refuse(sent, "the cluster has changed since epoch");
        sent = handOver(1, 2);
        accept(new Command.Promote(id(3), id(1), TERM));
        refuse(sent, "the cluster has changed since epoch");
    }

    @Test
    void handOver_toAMemberThatCannotServe_isRefused() {
        cluster();
        refuse(handOver(1, 9), "there is no member " + id(9));
        refuse(handOver(1, 4), "is no replica of");
        refuse(handOver(2, 3), "is no replica of");
        accept(new Command.BeginMigration(List.of(new SlotRange(7, 7)), id(4)));
        refuse(handOver(1, 2), "are migrating");
    }

    @Test
    void slots_areAssignedOnce() {
        cluster();
        refuse(new Command.AssignSlots(ALL, id(4)), "slot 0 belongs to " + id(1));
        refuse(new Command.AssignSlots(ALL, id(2)), "is a replica");
        long epoch = state.map().epoch();
        accept(new Command.AssignSlots(ALL, id(1)));
        assertThat(state.map().epoch()).isEqualTo(epoch);
    }

    @Test
    void migration_endsForTheProcessThatRefusesWrites() {
        cluster();
        List<SlotRange> slots = List.of(new SlotRange(10, 19));
        refuse(finish(slots, 1, 4), "slot 10 is not moving from");
        accept(new Command.BeginMigration(slots, id(4)));
        accept(new Command.BeginMigration(slots, id(4)));
        Command paused = finish(slots, 1, 4);
        accept(new Command.Register(primary(1)));
        refuse(paused, "member " + id(1) + " has started again");
        accept(finish(slots, 1, 4));
        assertThat(state.map().slots(member(4))).isEqualTo(slots);
        // The source repeats it if it has received no reply.
        long epoch = state.map().epoch();
        accept(finish(slots, 1, 4));
        assertThat(state.map().epoch()).isEqualTo(epoch);
        accept(new Command.BeginMigration(slots, id(1)));
        accept(new Command.AbortMigration(slots));
        assertThat(state.map().migrations()).isEmpty();
        assertThat(state.map().slots(member(4))).isEqualTo(slots);
    }

    private Command finish(List<SlotRange> slots, int source, int target) {
        return new Command.FinishMigration(slots, id(source), state.generation(id(source)), id(target),
                state.generation(id(target)), state.map().epoch());
    }

    @Test
    void migration_thatWasAbortedAndBegunAgain_isNotEndedByTheEarlierAttempt() {
        cluster();
        List<SlotRange> slots = List.of(new SlotRange(10, 19));
        accept(new Command.BeginMigration(slots, id(4)));
        Command sent = finish(slots, 1, 4);
        accept(new Command.AbortMigration(slots));
        accept(new Command.BeginMigration(slots, id(4)));
        refuse(sent, "migrations were aborted after epoch");
        accept(finish(slots, 1, 4));
        assertThat(state.map().slots(member(4))).isEqualTo(slots);
    }

    @Test
    void migration_endsForTheProcessThatHasTheKeys() {
        cluster();
        accept(new Command.Register(replica(5, 4)));
        List<SlotRange> slots = List.of(new SlotRange(10, 19));
        accept(new Command.BeginMigration(slots, id(4)));
        Command sent = finish(slots, 1, 4);
        accept(new Command.Register(primary(4)));
        refuse(sent, "member " + id(4) + " has started again");
        sent = finish(slots, 1, 4);
        accept(new Command.Promote(id(5), id(4), Command.Promote.ANY_TERM));
        refuse(sent, "migrations were aborted after epoch");
        accept(finish(slots, 1, 5));
        assertThat(state.map().slots(member(5))).isEqualTo(slots);
    }

    @Test
    void replicate_movesReplicasAndEmptyPrimaries() {
        cluster();
        accept(new Command.Replicate(id(3), id(4)));
        assertThat(member(3).primaryId()).isEqualTo(id(4));
        refuse(new Command.Replicate(id(1), id(4)), "has slots or replicas");
        refuse(new Command.Replicate(id(3), id(2)), "is a replica");
        refuse(new Command.Replicate(id(3), id(3)), "is a replica");
        accept(new Command.Replicate(id(3), id(1)));
        accept(new Command.Replicate(id(4), id(1)));
        assertThat(state.map().replicas(member(1))).hasSize(3);
    }

    @Test
    void remove_ofAPrimaryWithSlots_needsForce() {
        cluster();
        refuse(new Command.Remove(id(1), true), "has replicas");
        accept(new Command.Remove(id(2), false));
        accept(new Command.Remove(id(3), false));
        accept(new Command.BeginMigration(List.of(new SlotRange(1, 1)), id(4)));
        refuse(new Command.Remove(id(1), false), "has slots");
        refuse(new Command.Remove(id(4), false), "has slots");
        accept(new Command.Remove(id(1), true));
        assertThat(state.map().assignedSlots()).isZero();
        assertThat(state.map().migrations()).isEmpty();
        assertThat(state.generations()).containsOnlyKeys(id(4));
        long epoch = state.map().epoch();
        accept(new Command.Remove(id(1), false));
        assertThat(state.map().epoch()).isEqualTo(epoch);
    }

    @Test
    void identifiers_arePinnedAndReleased() {
        cluster();
        long epoch = state.map().epoch();
        accept(new Command.SetIdentifiers(id(1), List.of(3L, -1L)));
        accept(new Command.SetIdentifiers(id(1), List.of(3L, -1L)));
        assertThat(state.identifiers()).isEqualTo(Map.of(id(1), List.of(3L, -1L)));
        assertThat(state.map().epoch()).isEqualTo(epoch + 1);
        accept(new Command.SetIdentifiers(id(1), List.of()));
        assertThat(state.identifiers()).isEmpty();
        refuse(new Command.SetIdentifiers(id(9), List.of(1L)), "there is no member");
        refuse(new Command.SetWeight(id(1), -1), "weight -1.0");
    }
}

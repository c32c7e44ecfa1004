package io.varve.cluster.controller;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.HeartbeatReply;
import io.varve.cluster.protocol.Query;
import io.varve.cluster.testing.TestMembers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.varve.cluster.testing.TestMembers.id;
import static io.varve.cluster.testing.TestMembers.primary;
import static io.varve.cluster.testing.TestMembers.replica;
import static org.assertj.core.api.Assertions.assertThat;

/** Leases and fail-overs by a clock that the test moves. Confined to the test's thread. */
final class LeaseTest {
    private static final LeaseTimes TIMES = new LeaseTimes(1_000, 200);
    private static final long FULL = 1_100;
    private static final long TERM = 3;

    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(3600);
    private ClusterState state = ClusterState.EMPTY;
    private long index;
    private final LeaseTable table = new LeaseTable(TIMES, () -> now, () -> state);
    private final Map<Integer, HeartbeatReply> last = new HashMap<>();
    private final Map<Integer, Boolean> proven = new HashMap<>();

    /** Member 1 with replicas 2 and 3. */
    @BeforeEach
    void cluster() {
        apply(new Command.Register(primary(1)));
        apply(new Command.AssignSlots(List.of(new SlotRange(0, HashSlot.COUNT - 1)), id(1)));
        apply(new Command.Register(replica(2, 1)));
        apply(new Command.Register(replica(3, 1)));
        table.begin(TERM);
    }

    private void apply(Command command) {
        ClusterState.Outcome outcome = state.apply(command, TERM, ++index);
        assertThat(outcome.result().accepted()).as(outcome.result().reason()).isTrue();
        state = outcome.state();
    }

    private void pass(long millis) {
        now += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** By a member that has the map. */
    private HeartbeatReply beat(int number, long offset) {
        return beat(number, offset, state.map().epoch());
    }

    private HeartbeatReply beat(int number, long offset, long epoch) {
        HeartbeatReply before = last.get(number);
        HeartbeatReply reply = table.heartbeat(new Query.Heartbeat(id(number), state.generation(id(number)), epoch,
                offset,
                !proven.getOrDefault(number, false), before == null ? 0 : before.term(),
                before == null ? 0 : before.stamp()), now, TERM);
        last.put(number, reply);
        if (reply.leaseMillis() > 0) {
            proven.put(number, true);
        }
        return reply;
    }

    /** All members have served for a while. */
    private void settle() {
        proven.putAll(Map.of(1, true, 2, true, 3, true));
        pass(FULL + 1);
        beat(1, 50);
        beat(2, 50);
        beat(3, 50);
        assertThat(table.due(TERM)).isEmpty();
    }

    private void restart(int number) {
        apply(new Command.Register(TestMembers.primary(number)));
        proven.put(number, false);
        last.remove(number);
    }

    @Test
    void deadPrimary_isReplacedByTheMostAdvancedReplica() {
        failOver();
    }

    /** Member 1 is silent until a fail-over to member 3 is due. */
    private void failOver() {
        settle();
        pass(FULL - 1);
        beat(2, 70);
        beat(3, 60);
        assertThat(table.due(TERM)).as("the lease may still hold").isEmpty();
        pass(1);
        beat(2, 70);
        beat(3, 90);
        assertThat(table.due(TERM)).as("these heartbeats may have been sent before the lease ended").isEmpty();
        pass(10);
        beat(2, 80);
        assertThat(table.due(TERM)).as("member 3 has not reported since then").isEmpty();
        beat(3, 90);
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(3), id(1), TERM));
    }

    /** Its earlier offset belongs to other data. */
    @Test
    void newReplicaOfADeadPrimary_isNotPromoted_untilItHasItsData() {
        apply(new Command.Register(TestMembers.primary(4)));
        apply(new Command.Register(TestMembers.primary(5)));
        proven.putAll(Map.of(4, true, 5, true));
        settle();
        beat(4, 0);
        beat(5, 90);
        pass(FULL + 1);
        beat(1, 50);
        beat(4, 0);
        beat(4, 0);
        long before = state.map().epoch();
        apply(new Command.Replicate(id(4), id(5)));
        assertThat(table.due(TERM)).as("it has not been heard since").isEmpty();
        beat(4, 0, before);
        beat(4, 0, before);
        assertThat(table.due(TERM)).as("it does not know its primary yet").isEmpty();
        beat(4, Query.Heartbeat.NO_DATA);
        assertThat(table.due(TERM)).as("it has none of its data").isEmpty();
        beat(4, 90);
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(4), id(5), TERM));
    }

    /** The offset of a replica in its old place says nothing about its new primary. */
    @Test
    void replicaThatChangesItsPrimary_isNotPromoted_untilItHasItsData() {
        apply(new Command.Register(TestMembers.primary(5)));
        proven.put(5, true);
        settle();
        beat(5, 10);
        pass(FULL + 1);
        beat(1, 50);
        beat(2, 50);
        beat(3, 50);
        apply(new Command.Replicate(id(3), id(5)));
        beat(1, 50);
        beat(3, 50, state.map().epoch() - 1);
        assertThat(table.due(TERM)).isEmpty();
        beat(3, 10);
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(3), id(5), TERM));
    }

    @Test
    void replica_thatDiedWithItsPrimary_isNotWaitedFor() {
        settle();
        pass(600);
        beat(2, 70);
        pass(FULL - 600);
        beat(2, 70);
        assertThat(table.due(TERM)).as("member 3 may be alive").isEmpty();
        pass(1);
        beat(2, 70);
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(2), id(1), TERM));
    }

    @Test
    void fencedPrimary_receivesNoLease_untilTheOutcomeIsKnown() {
        failOver();
        assertThat(beat(1, 50).leaseMillis()).isZero();
        assertThat(table.due(TERM)).as("the outcome is unknown").hasSize(1);
        apply(new Command.Promote(id(3), id(1), TERM));
        assertThat(table.due(TERM)).isEmpty();
        HeartbeatReply old = beat(1, 50, 0);
        assertThat(old.leaseMillis()).as("a replica may know that its map is fresh").isEqualTo(1_000);
        assertThat(old.map()).isNotNull();
        assertThat(beat(3, 90).leaseMillis()).isEqualTo(1_000);
    }

    @Test
    void fencedPrimary_whosePromotionWasRefused_goesOn() {
        failOver();
        assertThat(beat(1, 50).leaseMillis()).isZero();
        table.unfence(id(1));
        assertThat(beat(1, 50).leaseMillis()).isEqualTo(1_000);
        assertThat(table.due(TERM)).isEmpty();
    }

    @Test
    void newLeader_waitsForOneFullLease() {
        proven.putAll(Map.of(1, true, 2, true, 3, true));
        beat(2, 50);
        beat(3, 50);
        pass(FULL - 1);
        for (int i = 0; i < 2; i++) {
            beat(2, 50);
            beat(3, 50);
        }
        assertThat(table.due(TERM)).isEmpty();
        pass(1);
        for (int i = 0; i < 2; i++) {
            beat(2, 50);
            beat(3, 51);
        }
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(3), id(1), TERM));
        table.begin(TERM + 1);
        assertThat(table.due(TERM)).isEmpty();
        assertThat(table.due(TERM + 1)).isEmpty();
        assertThat(beat(1, 50).status()).isEqualTo(HeartbeatReply.Status.RETRY);
    }

    @Test
    void primary_thatServed_receivesALeaseFromANewLeaderAtOnce() {
        proven.put(1, true);
        assertThat(beat(1, 50).leaseMillis()).isEqualTo(1_000);
    }

    @Test
    void primary_thatStartedAgainWithLessData_isReplaced() {
        settle();
        restart(1);
        assertThat(beat(1, 0).leaseMillis()).as("the lease of the earlier process may hold").isZero();
        pass(FULL);
        assertThat(beat(1, 0).leaseMillis()).isZero();
        for (int i = 0; i < 2; i++) {
            pass(1);
            beat(2, 50);
            beat(3, 50);
        }
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(2), id(1), TERM));
    }

    @Test
    void primary_thatStartedAgain_isReplaced_evenIfItSeemsToBeAsFar() {
        settle();
        restart(1);
        pass(FULL);
        for (int i = 0; i < 2; i++) {
            beat(1, 50);
            beat(2, 50);
            beat(3, 50);
        }
        assertThat(table.due(TERM)).as("its offset counts another history")
                .containsExactly(new LeaseTable.Failover(id(2), id(1), TERM));
    }

    @Test
    void primary_thatStartedAgain_waitsForAReplicaThatLoads() {
        settle();
        restart(1);
        for (int i = 0; i < 4; i++) {
            pass(FULL);
            beat(2, Query.Heartbeat.LOADING);
            beat(3, Query.Heartbeat.NO_DATA);
            assertThat(beat(1, 0).leaseMillis()).isZero();
            assertThat(table.due(TERM)).isEmpty();
        }
        beat(2, 50);
        beat(3, Query.Heartbeat.NO_DATA);
        beat(2, 50);
        beat(3, Query.Heartbeat.NO_DATA);
        assertThat(table.due(TERM)).containsExactly(new LeaseTable.Failover(id(2), id(1), TERM));
    }

    @Test
    void primary_thatStartedAgainAlone_servesAfterAWait() {
        settle();
        restart(1);
        pass(FULL + 1);
        assertThat(beat(1, 0).leaseMillis()).isZero();
        assertThat(table.due(TERM)).isEmpty();
        assertThat(beat(1, 0).leaseMillis()).as("the replicas may come").isZero();
        pass(FULL);
        beat(1, 0);
        assertThat(table.due(TERM)).isEmpty();
        assertThat(beat(1, 0).leaseMillis()).isEqualTo(1_000);
    }

    @Test
    void newCluster_needsNoWaitForReplicasWithoutData() {
        pass(FULL);
        assertThat(beat(1, 0).leaseMillis()).isZero();
        beat(2, -1);
        beat(3, -1);
        assertThat(beat(1, 0).leaseMillis()).isEqualTo(1_000);
        proven.put(1, false);
        assertThat(beat(1, 0).leaseMillis()).as("the reply with the first lease was lost").isEqualTo(1_000);
        assertThat(table.due(TERM)).isEmpty();
        pass(FULL);
        beat(2, -1);
        beat(3, -1);
        beat(2, -1);
        beat(3, -1);
        assertThat(table.due(TERM)).as("no replica has the data").isEmpty();
    }

    @Test
    void heartbeats_ofOtherProcesses_areRefused() {
        settle();
        long old = state.generation(id(1));
        restart(1);
        assertThat(table.heartbeat(new Query.Heartbeat(id(1), old, 0, 0, false, 0, 0), now, TERM).status())
                .isEqualTo(HeartbeatReply.Status.REPLACED);
        assertThat(table.heartbeat(new Query.Heartbeat(id(9), 1, 0, 0, false, 0, 0), now, TERM).status())
                .isEqualTo(HeartbeatReply.Status.UNKNOWN);
    }

    @Test
    void heartbeats_comeFaster_whenAFailoverIsNear() {
        settle();
        assertThat(beat(2, 50).nextMillis()).isEqualTo(200);
        pass(401);
        assertThat(beat(2, 50).nextMillis()).isEqualTo(40);
    }

    @Test
    void map_isSentIfItIsNewer() {
        settle();
        Query.Heartbeat known = new Query.Heartbeat(id(1), state.generation(id(1)), state.map().epoch(), 50, false, 0,
                0);
        assertThat(table.heartbeat(known, now, TERM).map()).isNull();
        apply(new Command.SetWeight(id(1), 2));
        assertThat(table.heartbeat(known, now, TERM).map()).isSameAs(state.map());
    }

    @Test
    void forcedRemoval_waitsForTheEndOfTheLease() {
        settle();
        assertThat(table.fenceIfExpired(id(1), TERM)).isFalse();
        pass(FULL);
        assertThat(table.fenceIfExpired(id(1), TERM)).isTrue();
        assertThat(beat(1, 50).leaseMillis()).isZero();
    }

    @Test
    void plainMember_isAliveAfterAPing_andNeverReplaced() {
        apply(new Command.Register(new Member(id(7), "127.0.0.1", 7007, 1, null, Member.Kind.PLAIN)));
        apply(new Command.Register(replica(8, 7)));
        table.pinged(id(7), TERM);
        assertThat(table.liveness().get(id(7))).isNotNull().matches(seen -> seen.alive() && seen.leaseMillis() == 0);
        pass(2 * FULL);
        for (int i = 0; i < 3; i++) {
            beat(8, 10);
        }
        assertThat(table.due(TERM)).isEmpty();
        assertThat(table.liveness().get(id(7))).isNotNull().matches(seen -> !seen.alive());
    }
}

package io.varve.server.membership;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView.Liveness;
import io.varve.cluster.protocol.Command;
import io.varve.server.clustering.ClusterListener;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.ManualFailover.Outcome;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.replication.Replica;
import io.varve.server.replication.ReplicaLink;
import io.varve.server.testing.SettableTicker;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests {@link RoleHandover} at a primary. The handover runs on a thread of its own; the controllers, the replicas and
 * the clock do what the test's thread says.
 */
class RoleHandoverTest {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final String HOST = "127.0.0.1";
    private static final String REPLICA = "b".repeat(40);
    private static final String OTHER_REPLICA = "c".repeat(40);
    private static final long REPLICA_GENERATION = 22;
    private static final long OTHER_GENERATION = 33;
    private static final long EPOCH = 7;
    private static final SlotRange SLOTS = new SlotRange(0, 99);
    private static final byte[] CHANGE = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final String DONE = "the replica is the primary";
    private static final int LONG_MILLIS = 60_000;
    /** Longer than the test's thread may take for an answer. */
    private static final int REPLY_MILLIS = 60_000;

    @TempDir
    private Path folder;

    private final SettableTicker clock = new SettableTicker();
    private final ScriptedControllers controllers = new ScriptedControllers();
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    /** The view at the time when held commands ran. */
    private final CompletableFuture<ClusterView> released = new CompletableFuture<>();
    @SuppressWarnings("NullAway.Init") // before each test
    private ScriptedPrimary successor;
    @SuppressWarnings("NullAway.Init") // before each test
    private ServerState server;
    @SuppressWarnings("NullAway.Init") // before each test
    private ClusterState cluster;
    @SuppressWarnings("NullAway.Init") // before each test
    private RoleHandover handover;
    private String me = "";
    private volatile Runnable olderCommand = () -> {};

    @BeforeEach
    void start() throws IOException {
        ServerConfig config = ServerConfig.defaults().with("cluster-enabled", "yes")
                .with("cluster-controllers", HOST + ":1").with("dir", folder.toString()).validate();
        successor = new ScriptedPrimary();
        server = new ServerState(StubCache.create(config.cacheConfig()), config, clock, _ -> {});
        cluster = Objects.requireNonNull(server.cluster());
        me = cluster.view().me().id();
        cluster.install(SlotMap.EMPTY.toBuilder().member(new Member(me, HOST, 1, 1, null))
                .member(new Member(REPLICA, HOST, successor.port(), 1, me))
                .member(new Member(OTHER_REPLICA, HOST, 3, 1, me)).owner(SLOTS, me).build(EPOCH), true);
        handover = new RoleHandover(server, cluster, controllers, () -> false, REPLY_MILLIS);
        cluster.listener(handover);
        cluster.listener(new ClusterListener() {
            @Override
            public void changed(ClusterView before, ClusterView now) {
                // Only the commands matter.
            }

            @Override
            public void awaitOlderCommands() {
                olderCommand.run();
            }
        });
        controllers.hear(Map.of(REPLICA, new Liveness(true, 0, 0), OTHER_REPLICA, new Liveness(true, 0, 0)));
    }

    @AfterEach
    void stop() throws IOException {
        handover.close();
        successor.close();
        server.close();
    }

    // --- controllers, replicas and commands

    /** A replica that is online, and has all changes. */
    private Replica attach(String id, long generation) {
        Replica replica = server.replicas().introduce(new ReplicaLink() {
            @Override
            public void onFeed() {
                // Nobody reads.
            }

            @Override
            public void kill() {
                // There is no connection.
            }
        }, HOST);
        replica.memberId(id);
        replica.generation(generation);
        server.replicas().attach(replica, "?", -1);
        server.replicas().begin(List.of(replica), "");
        replica.endSnapshot();
        acknowledge(replica);
        return replica;
    }

    private void acknowledge(Replica replica) {
        server.replicas().acknowledge(replica, server.replicas().offset());
    }

    private void change() {
        server.changes().copyOnly(CHANGE);
    }

    /** Installs the map after the handover. */
    private void promote(String replica, long epoch) {
        SlotMap.Builder next = cluster.view().map().toBuilder();
        for (Member member : cluster.view().map().members()) {
            next.member(member.withPrimary(member.id().equals(replica) ? null : replica));
        }
        cluster.install(next.owner(SLOTS, replica).build(epoch));
    }

    private void handOver() {
        handover.handOver(REPLICA, outcome());
    }

    private Outcome outcome() {
        return failure -> ended.complete(failure == null ? DONE : failure);
    }

    /** A command changes data that began before the hold. Returns after that, during the hold. */
    private void handOverWithALastChange() {
        CompletableFuture<Void> changed = new CompletableFuture<>();
        olderCommand = () -> {
            change();
            changed.complete(null);
        };
        handOver();
        changed.orTimeout(WITHIN.toSeconds(), TimeUnit.SECONDS).join();
        olderCommand = () -> {};
        assertThat(isHeld()).isTrue();
    }

    /** Waits for the command to the controllers. Commands of clients are held meanwhile. */
    private Command.HandOver awaitCommand() throws InterruptedException {
        Command.HandOver command = controllers.awaitCommand();
        assertThat(isHeld()).isTrue();
        cluster.holds().whenReleased(SLOTS.first(), () -> released.complete(cluster.view()));
        return command;
    }

    private boolean isHeld() {
        return cluster.holds().isHeld(SLOTS.first()) && cluster.holds().isHeld(SLOTS.last());
    }

    private String awaitEnd() {
        return ended.orTimeout(WITHIN.toSeconds(), TimeUnit.SECONDS).join();
    }

    /** Asserts that the handover has failed, and commands run. */
    private void assertThatItServes() {
        assertThat(cluster.holds().isAny()).isFalse();
        assertThat(cluster.view().me().isPrimary()).isTrue();
        assertThat(handover.isSuccessor(REPLICA)).isFalse();
        // It accepts replicas again.
        assertThat(attach(REPLICA, REPLICA_GENERATION).hasEnded()).isFalse();
    }

    // --- the answer is known

    @Test
    void commandsAreHeld_untilTheMapIsInstalledAndTheReplicaServes() throws Exception {
        Replica replica = attach(REPLICA, REPLICA_GENERATION);
        Replica other = attach(OTHER_REPLICA, OTHER_GENERATION);
        handOver();
        assertThat(awaitCommand()).isEqualTo(new Command.HandOver(me, ScriptedControllers.GENERATION, REPLICA,
                REPLICA_GENERATION, EPOCH));
        assertThat(handover.isSuccessor(REPLICA)).isTrue();
        assertThat(handover.isSuccessor(OTHER_REPLICA)).isFalse();
        assertThat(attach("d".repeat(40), 44).hasEnded()).as("a new replica").isTrue();
        handover.handOver(OTHER_REPLICA, failure -> assertThat(failure).contains("in progress"));

        controllers.answer(() -> EPOCH + 1);
        // They are to ask for the map.
        await().atMost(WITHIN).until(() -> replica.hasEnded() && other.hasEnded() && controllers.hurries() == 1);
        assertThat(isHeld()).isTrue();
        assertThat(successor.isAsked()).as("before there is a map").isFalse();
        promote(REPLICA, EPOCH + 1);
        successor.awaitRequest();
        assertThat(isHeld()).isTrue();
        successor.answer("-ERR WAIT cannot be used with replica instances.");
        successor.awaitRequest();
        successor.answer("-CLUSTERDOWN The cluster is down");
        successor.awaitRequest();
        assertThat(isHeld()).isTrue();
        assertThat(released).isNotDone();
        successor.answer(":0");
        assertThat(awaitEnd()).isEqualTo(DONE);
        assertThat(released.join().me().isPrimary()).isFalse();
        assertThat(cluster.holds().isAny()).isFalse();
        assertThat(controllers.commands()).isZero();
    }

    @Test
    void holdEnds_ifTheNewPrimaryDoesNotServeInTime() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        controllers.answer(() -> EPOCH + 1);
        promote(REPLICA, EPOCH + 1);
        successor.awaitRequest();
        clock.pass(LONG_MILLIS);
        successor.answer("-CLUSTERDOWN The cluster is down");
        assertThat(awaitEnd()).isEqualTo(DONE);
        assertThat(released.join().me().isPrimary()).isFalse();
        assertThat(cluster.holds().isAny()).isFalse();
    }

    /** An older one does not know the command, and says so without an epoch. */
    @ParameterizedTest
    @ValueSource(longs = {0, EPOCH})
    void primaryServesAtOnce_ifTheControllersRefuse(long epoch) throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        controllers.refuse(epoch);
        assertThat(awaitEnd()).isEqualTo("the controllers refuse: " + ScriptedControllers.REFUSAL);
        assertThatItServes();
        assertThat(controllers.commands()).isZero();
    }

    @Test
    void aRefusalForANewerMap_endsTheHoldWithThatMap() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        controllers.refuse(EPOCH + 1);
        await().atMost(WITHIN).until(() -> controllers.hurries() == 1);
        assertThat(isHeld()).isTrue();
        // It may have lost its role by that map.
        cluster.install(cluster.view().map().toBuilder().build(EPOCH + 1));
        assertThat(awaitEnd()).startsWith("the controllers refuse");
        assertThatItServes();
    }

    // --- the answer is not known

    @Test
    void commandsStayHeld_untilAnAnswerIsKnown() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        Command.HandOver command = awaitCommand();
        controllers.stayAway();
        assertThat(awaitCommand()).isEqualTo(command);
        // However long it takes.
        clock.pass(LONG_MILLIS);
        controllers.fail(new IllegalStateException("a bug"));
        assertThat(awaitCommand()).isEqualTo(command);
        // Another controller leads, which does not know the command. The first copy may take effect all the same.
        controllers.refuse(0);
        assertThat(awaitCommand()).isEqualTo(command);
        assertThat(handover.isSuccessor(REPLICA)).isTrue();
        assertThat(ended).isNotDone();
        controllers.answer(() -> EPOCH + 1);
        promote(REPLICA, EPOCH + 1);
        successor.awaitRequest();
        successor.answer(":0");
        assertThat(awaitEnd()).isEqualTo(DONE);
        assertThat(released.join().me().isPrimary()).isFalse();
    }

    @Test
    void primaryServesAgain_ifARefusalFollowsAnUnknownAnswer() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        controllers.stayAway();
        awaitCommand();
        controllers.refuse(EPOCH);
        assertThat(awaitEnd()).startsWith("the controllers refuse");
        assertThatItServes();
    }

    @Test
    void aMapWithoutAnAnswer_doesNotEndTheHold() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        controllers.stayAway();
        promote(REPLICA, EPOCH + 1);
        awaitCommand();
        assertThat(released).isNotDone();
        controllers.answer(() -> EPOCH + 1);
        successor.awaitRequest();
        successor.answer(":0");
        assertThat(awaitEnd()).isEqualTo(DONE);
    }

    // --- the replica

    @Test
    void nothingIsHeld_ifTheReplicaIsNotLevelInTime() {
        attach(REPLICA, REPLICA_GENERATION);
        change();
        handOver();
        // The handover may not have read the clock yet.
        await().atMost(WITHIN).until(() -> {
            assertThat(cluster.holds().isAny()).isFalse();
            clock.pass(LONG_MILLIS);
            return ended.isDone();
        });
        assertThat(awaitEnd()).isEqualTo("the replica has not received all changes in time");
        assertThat(controllers.commands()).isZero();
        assertThatItServes();
    }

    @Test
    void holdEnds_ifTheReplicaDoesNotReceiveTheLastChangesInTime() {
        attach(REPLICA, REPLICA_GENERATION);
        handOverWithALastChange();
        clock.pass(LONG_MILLIS);
        assertThat(awaitEnd()).isEqualTo("the replica has not received all changes in time");
        assertThat(controllers.commands()).isZero();
        assertThatItServes();
    }

    @Test
    void theReplicaIsAwaited_withTheChangesOfOlderCommands() throws Exception {
        Replica replica = attach(REPLICA, REPLICA_GENERATION);
        handOverWithALastChange();
        assertThat(controllers.commands()).isZero();
        acknowledge(replica);
        awaitCommand();
        controllers.refuse(EPOCH);
        awaitEnd();
    }

    @Test
    void holdEnds_ifTheReplicaDisconnects() {
        Replica replica = attach(REPLICA, REPLICA_GENERATION);
        handOverWithALastChange();
        replica.disconnected();
        assertThat(awaitEnd()).isIn("the replica has disconnected", "the replica is not online");
        assertThat(controllers.commands()).isZero();
        server.replicas().detach(replica);
        assertThatItServes();
    }

    @Test
    void unsuitableReplicas_areRefusedBeforeAnythingIsHeld() {
        handover.handOver("d".repeat(40), outcome());
        assertThat(awaitEnd()).contains("is no replica of this member");
        assertThat(failure()).isEqualTo("the replica is not online");
        attach(REPLICA, 0);
        assertThat(failure()).isEqualTo("the replica has not told its generation");
        attach(REPLICA, REPLICA_GENERATION);
        controllers.hear(Map.of(REPLICA, new Liveness(true, 0, -1)));
        assertThat(failure()).isEqualTo("the replica has no complete data set");
        controllers.hear(Map.of(REPLICA, new Liveness(false, 0, 0)));
        assertThat(failure()).isEqualTo("the controllers do not hear the replica");
        controllers.hear(Map.of());
        assertThat(failure()).isEqualTo("the controllers do not hear the replica");
        controllers.hear(null);
        assertThat(failure()).isEqualTo(ScriptedControllers.SILENCE);
        cluster.lease(false);
        assertThat(failure()).isEqualTo("this member has no lease");
        assertThat(controllers.commands()).isZero();
        assertThat(cluster.holds().isAny()).isFalse();
    }

    private String failure() {
        CompletableFuture<String> end = new CompletableFuture<>();
        handover.handOver(REPLICA, failure -> end.complete(failure == null ? DONE : failure));
        return end.orTimeout(WITHIN.toSeconds(), TimeUnit.SECONDS).join();
    }

    // --- the server stops

    private Thread startToStop() {
        return Thread.ofPlatform().start(handover::handOverBeforeStop);
    }

    private static void awaitEnd(Thread thread) throws InterruptedException {
        assertThat(thread.join(WITHIN)).isTrue();
    }

    @Test
    void aServerThatStops_choosesTheReplicaThatIsAhead_andRepeatsWhatTheControllersRefuse() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        change();
        Replica ahead = attach(OTHER_REPLICA, OTHER_GENERATION);
        Thread stopping = startToStop();
        assertThat(awaitCommand().replicaId()).isEqualTo(OTHER_REPLICA);
        // A member has registered meanwhile.
        controllers.refuse(EPOCH + 1);
        cluster.install(cluster.view().map().toBuilder().build(EPOCH + 1));
        assertThat(controllers.awaitCommand()).isEqualTo(new Command.HandOver(me, ScriptedControllers.GENERATION,
                OTHER_REPLICA, OTHER_GENERATION, EPOCH + 1));
        controllers.answer(() -> EPOCH + 2);
        promote(OTHER_REPLICA, EPOCH + 2);
        awaitEnd(stopping);
        assertThat(ahead.hasEnded()).isTrue();
        assertThat(cluster.holds().isAny()).isFalse();
    }

    @Test
    void aServerWithoutReplicas_stopsAtOnce() throws Exception {
        awaitEnd(startToStop());
        attach("d".repeat(40), 44);
        awaitEnd(startToStop());
        // A further attempt would be of no use either.
        attach(REPLICA, 0);
        awaitEnd(startToStop());
        assertThat(controllers.commands()).isZero();
    }

    @Test
    void aServerThatStops_waitsForTheFailoverThatRuns() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        Thread stopping = startToStop();
        await().atMost(WITHIN).until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
        controllers.answer(() -> EPOCH + 1);
        promote(REPLICA, EPOCH + 1);
        successor.awaitRequest();
        successor.answer(":0");
        awaitEnd(stopping);
        assertThat(awaitEnd()).isEqualTo(DONE);
        assertThat(controllers.commands()).isZero();
    }

    @Test
    void aServerThatStops_handsOver_ifTheFailoverThatRanHasFailed() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        Thread stopping = startToStop();
        await().atMost(WITHIN).until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
        controllers.refuse(EPOCH);
        assertThat(awaitEnd()).startsWith("the controllers refuse");
        awaitCommand();
        controllers.answer(() -> EPOCH + 1);
        promote(REPLICA, EPOCH + 1);
        successor.awaitRequest();
        successor.answer(":0");
        awaitEnd(stopping);
        assertThat(cluster.view().me().isPrimary()).isFalse();
    }

    /** Its process ends with the answer unknown: nothing runs on it between the end of its lease and its own. */
    @Test
    void aServerThatStops_servesNothingAnyMore_ifTheAnswerStaysUnknown() throws Exception {
        attach(REPLICA, REPLICA_GENERATION);
        handOver();
        awaitCommand();
        Thread stopping = startToStop();
        await().atMost(WITHIN).until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
        controllers.stayAway();
        awaitCommand();
        clock.pass(LONG_MILLIS);
        awaitEnd(stopping);
        assertThat(isHeld()).isTrue();
        assertThat(ended).isNotDone();
        // As the link does then.
        cluster.lease(false);
        handover.close();
        assertThat(awaitEnd()).isEqualTo("this server is closing");
        assertThat(released.join().isLeased()).isFalse();
        assertThat(failure()).isEqualTo("another failover is in progress");
    }
}

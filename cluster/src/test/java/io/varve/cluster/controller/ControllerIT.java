package io.varve.cluster.controller;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.testing.TestMember;
import io.varve.testing.TestBudget;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.cluster.testing.TestMembers.id;
import static io.varve.cluster.testing.TestMembers.primary;
import static io.varve.cluster.testing.TestMembers.replica;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Three controllers in this process, and members without servers. Confined to the test's thread.
 *
 * <p>All tests share the controllers: each one has members and slots of its own.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ControllerIT {
    private static final long DEADLINE_MILLIS = 20_000;
    private static final int CLIENTS = 8;
    private static final int SLOTS = 100;
    private static final int CHANGES = 3 * TestControllers.ENTRIES_PER_SNAPSHOT;

    @TempDir
    static Path directory;

    private TestControllers controllers;
    private ControllerClient client;

    @BeforeAll
    void prepare() throws IOException {
        controllers = new TestControllers(directory, 3);
        client = new ControllerClient(controllers.addresses(), DEADLINE_MILLIS);
    }

    @BeforeEach
    void startAll() {
        controllers.startAll();
    }

    @AfterAll
    void stop() throws IOException {
        client.close();
        controllers.close();
    }

    /** The number of the controller that the others follow. */
    private int leader() throws IOException {
        String id = client.view().leaderId();
        return controllers.running().keySet().stream().filter(number -> id.equals("c" + number)).findFirst()
                .orElseThrow();
    }

    /** Slots of one test's own. */
    private static List<SlotRange> slots(int number) {
        return List.of(new SlotRange(number * SLOTS, number * SLOTS + SLOTS - 1));
    }

    private static void awaitLonger(ThrowingRunnable assertion) {
        await().atMost(Duration.ofMillis(DEADLINE_MILLIS)).pollInterval(Duration.ofMillis(10)).untilAsserted(assertion);
    }

    private static void awaitWrites(TestMember member) {
        await().atMost(Duration.ofMillis(DEADLINE_MILLIS)).pollInterval(Duration.ofMillis(5))
                .until(member::acceptsWrites);
    }

    @Test
    void deadPrimary_isReplaced_andComesBackAsAReplica() throws Exception {
        try (TestMember first = new TestMember(controllers.addresses(), primary(11), 100)) {
            awaitWrites(first);
            client.change(new Command.AssignSlots(slots(10), id(11)));
            try (TestMember second = new TestMember(controllers.addresses(), replica(12, 11), 90);
                    TestMember third = new TestMember(controllers.addresses(), replica(13, 11), 80)) {
                awaitLonger(() -> assertThat(third.session().hasLease() && second.session().hasLease()).isTrue());
                third.setOffset(95);
                assertThat(second.acceptsWrites()).isFalse();
                long start = System.nanoTime();
                long lease = first.session().leaseUntilNanos();
                first.die();
                awaitWrites(third);
                long end = System.nanoTime();
                assertThat(end - lease).as("the old lease had ended").isPositive();
                System.out.println("ControllerIT: fail-over " + TimeUnit.NANOSECONDS.toMillis(end - start) + " ms");
                SlotMap map = third.session().map();
                assertThat(map.owner(1000)).isEqualTo(map.member(id(13)));
                assertThat(map.replicas(primary(13))).extracting(Member::id).containsExactlyInAnyOrder(id(11), id(12));
                try (TestMember again = new TestMember(controllers.addresses(), primary(11), 0)) {
                    awaitLonger(() -> assertThat(again.session().map().epoch()).isEqualTo(map.epoch()));
                    assertThat(again.acceptsWrites()).isFalse();
                }
                assertThat(third.maps()).extracting(SlotMap::epoch).isSorted().doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void lossOfTheLeader_keepsLeasesAndChanges() throws Exception {
        try (TestMember first = new TestMember(controllers.addresses(), primary(21), 100)) {
            awaitWrites(first);
            client.change(new Command.AssignSlots(slots(20), id(21)));
            try (TestMember second = new TestMember(controllers.addresses(), replica(22, 21), 100)) {
                awaitLonger(() -> assertThat(second.session().hasLease()).isTrue());
                int lost = leader();
                long start = System.nanoTime();
                controllers.stop(lost);
                client.change(new Command.SetWeight(id(22), 7));
                System.out.println("ControllerIT: change after the loss of the leader "
                        + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms");
                awaitWrites(first);
                ClusterView view = client.view();
                assertThat(view.map().owner(2005)).as("no fail-over").isEqualTo(view.map().member(id(21)));
                controllers.start(lost);
                awaitLonger(() -> assertThat(controllers.get(lost).map().epoch()).isEqualTo(view.map().epoch()));
            }
        }
    }

    @Test
    void minority_grantsNoLeases() throws Exception {
        try (TestMember first = new TestMember(controllers.addresses(), primary(31), 100)) {
            awaitWrites(first);
            int leader = leader();
            for (int number = 1; number <= 3; number++) {
                if (number != leader) {
                    controllers.stop(number);
                }
            }
            await().atMost(Duration.ofMillis(DEADLINE_MILLIS)).until(() -> !first.session().hasLease());
            controllers.start(leader % 3 + 1);
            awaitWrites(first);
        }
    }

    @Test
    void restartOfAll_keepsTheState_andSnapshotsReplaceTheLog() throws Exception {
        client.change(new Command.Register(primary(41)));
        client.change(new Command.AssignSlots(slots(40), id(41)));
        int late = leader() % 3 + 1;
        controllers.stop(late);
        // More than the log keeps, so that the late controller needs a snapshot.
        changeWeights(id(41), CHANGES);
        client.change(new Command.SetIdentifiers(id(41), List.of(1L, 2L)));
        long epoch = client.view().map().epoch();
        controllers.start(late);
        awaitLonger(() -> assertThat(controllers.get(late).map().epoch()).isEqualTo(epoch));
        controllers.close();
        try (Stream<Path> files = Files.walk(directory)) {
            assertThat(files.filter(file -> file.getFileName().toString().matches("snapshot\\.\\d+_\\d+")))
                    .isNotEmpty();
        }
        controllers.startAll();
        ClusterView view = client.view();
        assertThat(view.map().epoch()).isEqualTo(epoch);
        assertThat(view.map().slots(primary(41).withWeight(CHANGES))).isEqualTo(slots(40));
        assertThat(view.identifiers()).containsEntry(id(41), List.of(1L, 2L));
    }

    private void changeWeights(String member, int count) throws Exception {
        List<Callable<ChangeResult>> changes = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            double weight = i;
            changes.add(() -> client.change(new Command.SetWeight(member, weight)));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            for (Future<ChangeResult> change : threads.invokeAll(changes)) {
                assertThat(change.get().accepted()).isTrue();
            }
        }
        client.change(new Command.SetWeight(member, count));
    }

    @Test
    void refusals_tellTheReason() throws Exception {
        assertThatThrownBy(() -> client.change(new Command.SetWeight(id(51), 2))).isInstanceOf(RefusedException.class)
                .hasMessage("there is no member " + id(51));
        try (TestMember first = new TestMember(controllers.addresses(), primary(51), 0)) {
            awaitWrites(first);
            client.change(new Command.AssignSlots(slots(50), id(51)));
            assertThatThrownBy(() -> client.change(new Command.Remove(id(51), true)))
                    .isInstanceOf(RefusedException.class).hasMessageContaining("may have a lease");
            try (TestMember same = new TestMember(controllers.addresses(), primary(51), 0)) {
                awaitWrites(same);
                awaitLonger(() -> assertThat(first.problems()).containsExactly("another process has registered as "
                        + id(51)));
                assertThat(first.acceptsWrites()).isFalse();
            }
            await().atMost(Duration.ofMillis(DEADLINE_MILLIS)).ignoreException(RefusedException.class)
                    .until(() -> client.change(new Command.Remove(id(51), true)).accepted());
            assertThat(client.view().map().member(id(51))).isNull();
        }
    }

    /** In every third round the leading controller is lost too. */
    @Test
    void failovers_followEachOther() throws Exception {
        int rounds = TestBudget.ofInt("varve.cluster.failovers", 2, 30);
        TestMember serving = new TestMember(controllers.addresses(), primary(71), 1);
        TestMember other = new TestMember(controllers.addresses(), replica(72, 71), -1);
        try {
            awaitWrites(serving);
            client.change(new Command.AssignSlots(slots(70), id(71)));
            for (int round = 1; round <= rounds; round++) {
                TestMember successor = other;
                successor.setOffset(round);
                await().atMost(Duration.ofMillis(DEADLINE_MILLIS)).until(() -> successor.session().hasLease());
                if (round % 3 == 0) {
                    controllers.stop(leader());
                }
                long lease = serving.session().leaseUntilNanos();
                serving.die();
                awaitWrites(successor);
                assertThat(System.nanoTime() - lease).as("the old lease had ended").isPositive();
                assertThat(successor.session().map().slots(
                        Objects.requireNonNull(successor.session().map().member(successor.id())))).isEqualTo(slots(70));
                controllers.startAll();
                other = new TestMember(controllers.addresses(), primary(serving.id().equals(id(71)) ? 71 : 72), -1);
                serving = successor;
            }
        } finally {
            serving.close();
            other.close();
        }
    }

    /** A redis-server that sends no heartbeats. */
    @Test
    void plainMember_isPinged() throws Exception {
        Thread replies;
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            replies = Thread.ofVirtual().start(() -> reply(server));
            client.change(new Command.Register(
                    new Member(id(67), "127.0.0.1", server.getLocalPort(), 1, null, Member.Kind.PLAIN)));
            awaitLonger(() -> assertThat(client.view().liveness().get(id(67))).isNotNull()
                    .matches(ClusterView.Liveness::alive));
        }
        replies.join();
        awaitLonger(() -> assertThat(client.view().liveness().get(id(67))).isNotNull()
                .matches(seen -> !seen.alive()));
    }

    private static void reply(ServerSocket server) {
        try {
            while (true) {
                try (Socket socket = server.accept()) {
                    socket.getInputStream().readNBytes("*1\r\n$4\r\nPING\r\n".length());
                    socket.getOutputStream().write("+PONG\r\n".getBytes(StandardCharsets.US_ASCII));
                }
            }
        } catch (IOException closed) {
            // The test has closed the socket.
            return;
        }
    }
}

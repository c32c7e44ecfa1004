package io.varve.cluster.controller;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.cluster.controller.TestMembers.id;
import static io.varve.cluster.controller.TestMembers.primary;
import static io.varve.cluster.controller.TestMembers.replica;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Three controllers in this process, and members without servers. Confined to the test's thread. */
@Timeout(120)
final class ControllerIT {
    private static final long DEADLINE_MILLIS = 20_000;
    private static final int CLIENTS = 8;
    private static final int CHANGES = 3 * TestControllers.ENTRIES_PER_SNAPSHOT;
    private static final List<SlotRange> ALL = List.of(new SlotRange(0, HashSlot.COUNT - 1));

    @TempDir
    Path directory;

    private TestControllers controllers;
    private ControllerClient client;

    @BeforeEach
    void start() throws IOException {
        controllers = new TestControllers(directory, 3);
        controllers.startAll();
        client = new ControllerClient(controllers.addresses(), DEADLINE_MILLIS);
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        controllers.close();
    }

    private int leader() {
        return controllers.running().entrySet().stream().filter(one -> one.getValue().isLeader()).findFirst()
                .orElseThrow().getKey();
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
        try (TestMember first = new TestMember(controllers.addresses(), primary(1), 100)) {
            awaitWrites(first);
            client.change(new Command.AssignSlots(ALL, id(1)));
            try (TestMember second = new TestMember(controllers.addresses(), replica(2, 1), 90);
                    TestMember third = new TestMember(controllers.addresses(), replica(3, 1), 80)) {
                awaitLonger(() -> assertThat(third.session().hasLease() && second.session().hasLease()).isTrue());
                third.setOffset(95);
                assertThat(second.acceptsWrites()).isFalse();
                long start = System.nanoTime();
                long lease = first.session().leaseUntilNanos();
                first.close();
                awaitWrites(third);
                long end = System.nanoTime();
                assertThat(end - lease).as("the old lease had ended").isPositive();
                System.out.println("ControllerIT: fail-over " + TimeUnit.NANOSECONDS.toMillis(end - start) + " ms");
                SlotMap map = third.session().map();
                assertThat(map.owner(0)).isEqualTo(map.member(id(3)));
                assertThat(map.replicas(primary(3))).extracting(Member::id).containsExactlyInAnyOrder(id(1), id(2));
                try (TestMember again = new TestMember(controllers.addresses(), primary(1), 0)) {
                    awaitLonger(() -> assertThat(again.session().map().epoch()).isEqualTo(map.epoch()));
                    assertThat(again.acceptsWrites()).isFalse();
                }
                assertThat(third.maps()).extracting(SlotMap::epoch).isSorted().doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void lossOfTheLeader_keepsLeasesAndChanges() throws Exception {
        try (TestMember first = new TestMember(controllers.addresses(), primary(1), 100)) {
            awaitWrites(first);
            client.change(new Command.AssignSlots(ALL, id(1)));
            try (TestMember second = new TestMember(controllers.addresses(), replica(2, 1), 100)) {
                awaitLonger(() -> assertThat(second.session().hasLease()).isTrue());
                int lost = leader();
                long start = System.nanoTime();
                controllers.stop(lost);
                client.change(new Command.SetWeight(id(2), 7));
                System.out.println("ControllerIT: change after the loss of the leader "
                        + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms");
                awaitWrites(first);
                ClusterView view = client.view();
                assertThat(view.map().owner(5)).as("no fail-over").isEqualTo(view.map().member(id(1)));
                controllers.start(lost);
                awaitLonger(() -> assertThat(controllers.get(lost).map().epoch()).isEqualTo(view.map().epoch()));
            }
        }
    }

    @Test
    void minority_grantsNoLeases() throws Exception {
        try (TestMember first = new TestMember(controllers.addresses(), primary(1), 100)) {
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
        client.change(new Command.Register(primary(1)));
        client.change(new Command.AssignSlots(ALL, id(1)));
        int late = leader() % 3 + 1;
        controllers.stop(late);
        // More than the log keeps, so that the late controller needs a snapshot.
        changeWeights(CHANGES);
        client.change(new Command.SetIdentifiers(id(1), List.of(1L, 2L)));
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
        assertThat(view.map().slots(primary(1).withWeight(CHANGES))).isEqualTo(ALL);
        assertThat(view.identifiers()).containsEntry(id(1), List.of(1L, 2L));
    }

    private void changeWeights(int count) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            for (int i = 1; i < count; i++) {
                double weight = i;
                threads.submit(() -> client.change(new Command.SetWeight(id(1), weight)));
            }
        }
        client.change(new Command.SetWeight(id(1), count));
    }

    @Test
    void refusals_tellTheReason() throws Exception {
        assertThatThrownBy(() -> client.change(new Command.SetWeight(id(1), 2))).isInstanceOf(RefusedException.class)
                .hasMessage("there is no member " + id(1));
        try (TestMember first = new TestMember(controllers.addresses(), primary(1), 0)) {
            awaitWrites(first);
            client.change(new Command.AssignSlots(ALL, id(1)));
            assertThatThrownBy(() -> client.change(new Command.Remove(id(1), true)))
                    .isInstanceOf(RefusedException.class).hasMessageContaining("may have a lease");
            try (TestMember same = new TestMember(controllers.addresses(), primary(1), 0)) {
                awaitWrites(same);
                awaitLonger(() -> assertThat(first.problems()).containsExactly("another process has registered as "
                        + id(1)));
                assertThat(first.acceptsWrites()).isFalse();
            }
            await().atMost(Duration.ofMillis(DEADLINE_MILLIS)).ignoreException(RefusedException.class)
                    .until(() -> client.change(new Command.Remove(id(1), true)).accepted());
            assertThat(client.view().map().members()).isEmpty();
        }
    }

    /** A redis-server that sends no heartbeats. */
    @Test
    void plainMember_isPinged() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Thread replies = Thread.ofVirtual().start(() -> reply(server));
            client.change(new Command.Register(
                    new Member(id(7), "127.0.0.1", server.getLocalPort(), 1, null, Member.Kind.PLAIN)));
            awaitLonger(() -> assertThat(client.view().liveness().get(id(7))).isNotNull()
                    .matches(ClusterView.Liveness::alive));
            server.close();
            replies.join();
            awaitLonger(() -> assertThat(client.view().liveness().get(id(7))).isNotNull()
                    .matches(seen -> !seen.alive()));
        }
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

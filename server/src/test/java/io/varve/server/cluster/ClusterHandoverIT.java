package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.server.testing.RawClient;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A cluster of real processes whose primaries hand over to their replicas while clients write without WAIT: all that
 * was acknowledged stays.
 */
class ClusterHandoverIT {
    private static final Duration WAIT = Duration.ofMinutes(2);
    private static final int WRITERS = TestBudget.ofInt("varve.cluster.writers", 4, 8);
    private static final int WRITES = 50;

    @TempDir
    Path folder;

    /** Sends a command; an error of the connection is an error reply. */
    private static String call(int port, String... words) {
        try (RawClient client = new RawClient(port)) {
            return client.command(words).strip();
        } catch (IOException failed) {
            return "-" + failed;
        }
    }

    /** On a slow machine the controllers may not have heard the replica for some time. */
    private static void failOver(int replica) {
        await().atMost(WAIT).until(() -> call(replica, "CLUSTER", "FAILOVER").equals("+OK"));
    }

    /**
     * Starts few processes in the gate: one primary with its replica.
     *
     * @param controllers their number in the gate
     */
    private ProcessCluster startCluster(int controllers) throws Exception {
        return TestBudget.isNightly()
                ? ProcessCluster.start(folder, 3, 2, 1)
                : ProcessCluster.start(folder, controllers, 1, 1);
    }

    private static List<SequenceWriter> startWriters(ProcessCluster cluster) {
        List<Integer> ports = IntStream.range(0, cluster.memberCount()).mapToObj(i -> cluster.member(i).port())
                .toList();
        List<SequenceWriter> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            writers.add(SequenceWriter.start(ports, "key" + i));
        }
        awaitWrites(writers);
        return writers;
    }

    /** Waits until each of them has written again. */
    private static void awaitWrites(List<SequenceWriter> writers) {
        List<Long> before = writers.stream().map(SequenceWriter::acknowledged).toList();
        await().atMost(WAIT).until(() -> IntStream.range(0, writers.size())
                .allMatch(i -> writers.get(i).acknowledged() >= before.get(i) + WRITES));
    }

    private static void end(List<SequenceWriter> writers) throws InterruptedException {
        for (SequenceWriter writer : writers) {
            writer.end();
        }
    }

    private static void assertThatNothingIsLost(ProcessCluster cluster, List<SequenceWriter> writers)
            throws IOException {
        for (SequenceWriter writer : writers) {
            try (RawClient client = new RawClient(cluster.member(cluster.owner(writer.key())).port())) {
                assertThat(Long.parseLong(client.call("GET", writer.key()).text())).as(writer.key())
                        .isBetween(writer.acknowledged(), writer.attempted());
            }
        }
    }

    private static String pauses(List<SequenceWriter> writers) {
        return writers.stream().map(SequenceWriter::takeLongestPauseMillis).sorted().toList() + " ms";
    }

    @Test
    void clusterFailover_losesNoWrite_andClosesNoConnection() throws Exception {
        try (ProcessCluster cluster = startCluster(3)) {
            List<SequenceWriter> writers = startWriters(cluster);
            try {
                int handovers = TestBudget.ofInt("varve.cluster.handovers", 2, 6);
                for (int i = 0; i < handovers; i++) {
                    int primary = cluster.owner("key" + i % 2);
                    int replica = cluster.replicaOf(primary);
                    writers.forEach(SequenceWriter::takeLongestPauseMillis);
                    failOver(cluster.member(replica).port());
                    // The map that the replica has is that of the controllers.
                    assertThat(call(cluster.member(replica).port(), "ROLE")).contains("master");
                    assertThat(cluster.owner("key" + i % 2)).isEqualTo(replica);
                    awaitWrites(writers);
                    System.out.println("ClusterHandoverIT: CLUSTER FAILOVER, longest pauses " + pauses(writers));
                    cluster.awaitServing();
                }
            } finally {
                end(writers);
            }
            assertThatNothingIsLost(cluster, writers);
            assertThat(writers.stream().mapToLong(SequenceWriter::lostConnections).sum()).isZero();
        }
    }

    @Test
    void membersRestartedOneAfterTheOther_loseNoWrite() throws Exception {
        try (ProcessCluster cluster = startCluster(1)) {
            List<SequenceWriter> writers = startWriters(cluster);
            try {
                for (int i = 0; i < cluster.memberCount(); i++) {
                    writers.forEach(SequenceWriter::takeLongestPauseMillis);
                    boolean isPrimary = cluster.primaries().contains(i);
                    if (i % 2 == 0) {
                        cluster.member(i).terminate();
                    } else {
                        call(cluster.member(i).port(), "SHUTDOWN", "NOSAVE");
                        cluster.member(i).awaitEnd();
                    }
                    awaitWrites(writers);
                    System.out.println("ClusterHandoverIT: restart of a " + (isPrimary ? "primary" : "replica")
                            + ", longest pauses " + pauses(writers));
                    cluster.member(i).restart();
                    cluster.awaitServing();
                }
            } finally {
                end(writers);
            }
            assertThatNothingIsLost(cluster, writers);
            assertThat(cluster.errors()).doesNotContain("without a handover");
        }
    }

    @Test
    void whatCannotBeHandedOver_staysWithThePrimary() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 2, 1)) {
            int primary = cluster.member(0).port();
            int replica = cluster.member(2).port();
            assertThat(call(primary, "CLUSTER", "FAILOVER")).startsWith("-ERR You should send CLUSTER FAILOVER to a");
            assertThat(call(replica, "CLUSTER", "FAILOVER", "FORCE"))
                    .contains("the controllers fail over by themselves");
            assertThat(call(replica, "CLUSTER", "FAILOVER", "NOW")).startsWith("-ERR syntax error");
            assertThat(call(primary, "REPLCONF", "VARVE-FAILOVER", cluster.id(3))).contains("is no replica of this");

            // The replica does not acknowledge.
            assertThat(call(primary, "CONFIG", "SET", "cluster-manual-failover-timeout", "500")).isEqualTo("+OK");
            cluster.member(2).signal("STOP");
            assertThat(call(primary, "SET", "{" + keyOf(0) + "}", "1")).isEqualTo("+OK");
            assertThat(call(primary, "REPLCONF", "VARVE-FAILOVER", cluster.id(2))).startsWith("-ERR");
            cluster.member(2).signal("CONT");
            assertThat(call(primary, "SET", "{" + keyOf(0) + "}", "2")).isEqualTo("+OK");
            cluster.awaitServing();

            cluster.controller(0).kill();
            assertThat(call(replica, "CLUSTER", "FAILOVER")).startsWith("-ERR");
            cluster.controller(0).restart();
            await().atMost(WAIT).until(() -> call(primary, "SET", "{" + keyOf(0) + "}", "3").equals("+OK"));

            // A second primary with the slot 0 as its own: the first one sends it.
            cluster.change(new Command.BeginMigration(List.of(new SlotRange(0, 0)), cluster.id(1)));
            await().atMost(WAIT).until(() -> cluster.map().migrations().isEmpty());
            cluster.awaitServing();
            failOver(replica);
            assertThat(cluster.map().owner(1)).extracting(Member::port).isEqualTo(replica);
        }
    }

    private static String read(int port, String key) throws IOException {
        try (RawClient client = new RawClient(port)) {
            client.call("READONLY");
            return client.call("GET", key).text();
        }
    }

    private static void awaitCopies(int port, int count) {
        await().atMost(WAIT).until(() -> call(port, "CLUSTER", "INFO").lines()
                .anyMatch(("cluster_copies_held:" + count)::equals));
    }

    /** Log and replicas have no copies: no change of the new primary would delete the key. */
    @Test
    void primaryThatHoldsCopiesOfAHotKey_forgetsThemAsAReplica() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 2, 1)) {
            cluster.awaitServing();
            String hot = keyOf(0);
            // Members may have changed their roles on a slow machine.
            int first = cluster.owner(hot);
            int second = cluster.primaries().stream().filter(primary -> primary != first).findFirst().orElseThrow();
            int owner = cluster.member(first).port();
            int holder = cluster.member(second).port();
            int successor = cluster.member(cluster.replicaOf(second)).port();
            assertThat(call(owner, "SET", hot, "old")).isEqualTo("+OK");
            assertThat(call(owner, "VARVE.REPLICATE", hot, "1")).isEqualTo(":1");
            awaitCopies(holder, 1);
            await().atMost(WAIT).until(() -> read(holder, hot).equals("old"));
            assertThat(call(successor, "DBSIZE")).isEqualTo(":0");
            // Otherwise it could send a copy to the successor, whose snapshot would have it.
            cluster.member(first).signal("STOP");
            try {
                failOver(successor);
                awaitCopies(holder, 0);
                await().atMost(WAIT).until(() -> call(holder, "DBSIZE").equals(":0"));
            } finally {
                cluster.member(first).signal("CONT");
            }
        }
    }

    @Test
    void shutdownNow_handsNothingOver() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 1, 1)) {
            call(cluster.member(0).port(), "SHUTDOWN", "NOW");
            cluster.member(0).awaitEnd();
            await().atMost(WAIT).until(() -> call(cluster.member(1).port(), "SET", "key", "1").equals("+OK"));
            assertThat(cluster.errors()).contains("The lease of").doesNotContain("Commands were held");
        }
    }

    /** A key in the slots of the first of two primaries. */
    private static String keyOf(int first) {
        return IntStream.range(first, 1_000).mapToObj(i -> "key" + i)
                .filter(key -> HashSlot.of(key) < HashSlot.COUNT / 2).findFirst().orElseThrow();
    }
}

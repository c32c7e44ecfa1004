package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

import io.varve.cluster.protocol.Command;
import io.varve.server.cluster.machine.TestNetwork;
import io.varve.server.testing.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A cluster of real processes whose members die, stop, and are cut off from the controllers. */
class ClusterFailoverIT {
    private static final Duration WAIT = Duration.ofMinutes(2);

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

    private static String value(int port, String key) {
        try (RawClient client = new RawClient(port)) {
            return client.call("GET", key).text();
        } catch (IOException failed) {
            return "-" + failed;
        }
    }

    @Test
    void killedPrimary_replicaServes_andTheOldPrimaryFollowsIt() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, TestNetwork.loopback(), ProcessCluster.LEASE_MILLIS,
                3, 2, 1)) {
            int primary = cluster.owner("key");
            int replica = cluster.replicaOf(primary);
            try (RawClient client = new RawClient(cluster.member(primary).port())) {
                assertThat(client.command("SET", "key", "1")).startsWith("+OK");
                assertThat(client.call("WAIT", "1", "5000").integer()).isEqualTo(1);
            }
            long killed = System.nanoTime();
            cluster.member(primary).kill();
            await().atMost(WAIT).pollInterval(Duration.ofMillis(10))
                    .until(() -> call(cluster.member(replica).port(), "SET", "key", "2").equals("+OK"));
            System.out.println("ClusterFailoverIT: " + (System.nanoTime() - killed) / 1_000_000
                    + " ms from the death of the primary to the first accepted write");
            cluster.member(primary).restart();
            cluster.awaitServing();
            assertThat(cluster.owner("key")).isEqualTo(replica);
            assertThat(call(cluster.member(primary).port(), "SET", "key", "3")).startsWith("-MOVED");
            try (RawClient client = new RawClient(cluster.member(replica).port())) {
                assertThat(client.command("SET", "key", "4")).startsWith("+OK");
                assertThat(client.call("WAIT", "1", "5000").integer()).isEqualTo(1);
            }
            try (RawClient client = new RawClient(cluster.member(primary).port())) {
                assertThat(client.command("READONLY")).startsWith("+OK");
                assertThat(client.call("GET", "key").text()).isEqualTo("4");
            }
            // And back.
            cluster.member(replica).kill();
            await().atMost(WAIT).until(() -> value(cluster.member(primary).port(), "key").equals("4"));
        }
    }

    @Test
    void primaryThatStartsAgainAtOnceWithoutData_doesNotEmptyItsReplica() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 1, 1)) {
            try (RawClient client = new RawClient(cluster.member(0).port())) {
                client.setKeys("key", 1000, "value");
                assertThat(client.call("WAIT", "1", "5000").integer()).isEqualTo(1);
            }
            cluster.member(0).kill();
            cluster.member(0).restart();
            await().atMost(WAIT).until(() -> call(cluster.member(1).port(), "SET", "key0", "2").equals("+OK"));
            assertThat(call(cluster.member(1).port(), "DBSIZE")).isEqualTo(":1000");
            await().atMost(WAIT).until(() -> call(cluster.member(0).port(), "DBSIZE").equals(":1000"));
        }
    }

    @Test
    void removedReplica_stopsFollowing_andDoesNotCount() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 1, 1)) {
            assertThat(call(cluster.member(0).port(), "WAIT", "1", "5000")).isEqualTo(":1");
            cluster.change(new Command.Remove(cluster.id(1), false));
            await().atMost(WAIT).until(() -> call(cluster.member(1).port(), "ROLE").contains("master"));
            await().atMost(WAIT).until(() -> call(cluster.member(0).port(), "WAIT", "1", "10").equals(":0"));
            assertThat(call(cluster.member(1).port(), "SET", "key", "1")).startsWith("-CLUSTERDOWN");
        }
    }

    @Test
    void stoppedPrimary_acknowledgesNothingWhenItGoesOn() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 1, 1);
                RawClient before = new RawClient(cluster.member(0).port())) {
            assertThat(before.command("SET", "key", "1")).startsWith("+OK");
            assertThat(before.call("WAIT", "1", "5000").integer()).isEqualTo(1);
            cluster.member(0).signal("STOP");
            before.queue("SET", "key", "lost");
            before.queue("GET", "key");
            before.flush();
            await().atMost(WAIT).until(() -> call(cluster.member(1).port(), "SET", "key", "2").equals("+OK"));
            cluster.member(0).signal("CONT");
            String after = before.readToEnd();
            assertThat(after).doesNotContain("+OK").doesNotContain("lost");
            await().atMost(WAIT).until(() -> call(cluster.member(0).port(), "GET", "key").startsWith("-MOVED"));
            assertThat(value(cluster.member(1).port(), "key")).isEqualTo("2");
        }
    }

    @Test
    void noController_membersRefuse_andServeWhenItIsBack() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 1, 1, 1)) {
            assertThat(call(cluster.member(0).port(), "SET", "key", "1")).isEqualTo("+OK");
            cluster.controller(0).kill();
            await().atMost(WAIT).until(
                    () -> call(cluster.member(0).port(), "SET", "key", "2").startsWith("-CLUSTERDOWN"));
            assertThat(call(cluster.member(0).port(), "FLUSHALL")).startsWith("-CLUSTERDOWN");
            assertThat(call(cluster.member(0).port(), "PING")).isEqualTo("+PONG");
            cluster.controller(0).restart();
            await().atMost(WAIT).until(() -> call(cluster.member(0).port(), "SET", "key", "3").equals("+OK"));
            assertThat(cluster.owner("key")).isZero();
        }
    }

    @Test
    void allProcessesStartAgain_withTheirData() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start(folder, 3, 1, 1)) {
            assertThat(call(cluster.member(0).port(), "SET", "key", "1")).isEqualTo("+OK");
            assertThat(call(cluster.member(0).port(), "SAVE")).isEqualTo("+OK");
            await().atMost(WAIT).until(() -> call(cluster.member(1).port(), "SAVE").equals("+OK"));
            for (int i = 0; i < cluster.controllerCount(); i++) {
                cluster.controller(i).kill();
            }
            for (int i = 0; i < cluster.memberCount(); i++) {
                cluster.member(i).kill();
            }
            for (int i = 0; i < cluster.memberCount(); i++) {
                cluster.member(i).restart();
            }
            for (int i = 0; i < cluster.controllerCount(); i++) {
                cluster.controller(i).restart();
            }
            await().atMost(WAIT).ignoreExceptions()
                    .until(() -> value(cluster.member(cluster.owner("key")).port(), "key").equals("1"));
        }
    }
}

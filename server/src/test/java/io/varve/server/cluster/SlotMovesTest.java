package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.cluster.map.SlotMap;
import io.varve.server.config.ConfigException;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests what a new slot map and the lease change for running clients. Confined to the test's thread. */
class SlotMovesTest {
    private static final int SLOT_OF_B = 3300;
    private static final int WRITERS = 3;
    private static final int ROUNDS = 20;

    /** Watches the log for errors and leaks. */
    @RegisterExtension
    static final ServerExtension log = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    /** Counts the writes to a key that a member accepts, until it redirects. */
    private static long write(int port, AtomicLong accepted) throws IOException {
        try (RawClient client = new RawClient(port)) {
            RawReply reply = client.call("INCR", "b");
            while (reply.isInteger()) {
                accepted.incrementAndGet();
                reply = client.call("INCR", "b");
            }
            assertThat(reply.text()).startsWith("MOVED 3300 ");
            return accepted.get();
        }
    }

    @Test
    void afterAMapIsInstalled_noWriteIsAcceptedUnderTheOlderOne() throws Exception {
        try (Members members = Members.ofVarve(folder, 2, 0, "io-threads 3", "shards 4");
                ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
            for (int round = 0; round < ROUNDS; round++) {
                int from = round % 2;
                AtomicLong accepted = new AtomicLong();
                List<Future<Long>> writers = new ArrayList<>();
                members.call(from, "DEL", "b");
                for (int i = 0; i < WRITERS; i++) {
                    int port = members.port(from);
                    writers.add(threads.submit(() -> write(port, accepted)));
                }
                await().until(() -> accepted.get() > 50);
                SlotMap now = members.installed();
                SlotMap next = now.toBuilder().owner(SLOT_OF_B, members.id(1 - from)).build(now.epoch() + 1);
                members.state(from).install(next, true);
                // The slot is another's, so only this test can see the value.
                String handedOver = members.call(from, "DEBUG", "DIGEST").text();
                for (Future<Long> writer : writers) {
                    writer.get();
                }
                assertThat(members.call(from, "DEBUG", "DIGEST").text()).isEqualTo(handedOver);
                members.state(1 - from).install(next, true);
                assertThat(members.call(from, "FLUSHALL").text()).isEqualTo("OK");
            }
        }
    }

    @Test
    void withoutALease_aMemberRefusesWritesAndReads() throws IOException {
        try (Members members = Members.ofVarve(folder, 1, 0); RawClient client = new RawClient(members.port(0))) {
            assertThat(client.call("SET", "a", "1").text()).isEqualTo("OK");
            assertThat(client.call("MULTI").text()).isEqualTo("OK");
            assertThat(client.call("SET", "a", "2").text()).isEqualTo("QUEUED");
            members.state(0).lease(false);
            assertThat(client.call("EXEC").text()).isEqualTo("CLUSTERDOWN The cluster is down");
            assertThat(client.call("SET", "a", "2").text()).isEqualTo("CLUSTERDOWN The cluster is down");
            assertThat(client.call("GET", "a").text()).isEqualTo("CLUSTERDOWN The cluster is down");
            assertThat(client.call("CONFIG", "SET", "cluster-allow-reads-when-down", "yes").text()).isEqualTo("OK");
            assertThat(client.call("GET", "a").text()).isEqualTo("1");
            members.state(0).lease(true);
            assertThat(client.call("SET", "a", "3").text()).isEqualTo("OK");
        }
    }

    @Test
    void anOlderMapIsIgnored() throws IOException {
        try (Members members = Members.ofVarve(folder, 2, 0)) {
            SlotMap first = members.installed();
            SlotMap second = first.toBuilder().owner(SLOT_OF_B, members.id(1)).build(first.epoch() + 1);
            members.install(second, true);
            members.install(first, true);
            assertThat(members.installed()).isSameAs(second);
            assertThat(members.call(0, "GET", "b").text()).startsWith("MOVED 3300 ");
        }
    }

    /** As the controllers declare it. */
    @Test
    void aMigrationInTheMapRedirectsByAsk() throws IOException {
        try (Members members = Members.ofVarve(folder, 2, 0); RawClient target = new RawClient(members.port(1))) {
            SlotMap now = members.installed();
            members.install(now.toBuilder().target(SLOT_OF_B, members.id(1)).build(now.epoch() + 1), true);
            assertThat(members.call(0, "GET", "b").text()).isEqualTo("ASK 3300 127.0.0.1:" + members.port(1));
            assertThat(target.call("GET", "b").text()).isEqualTo("MOVED 3300 127.0.0.1:" + members.port(0));
            assertThat(target.call("ASKING").text()).isEqualTo("OK");
            assertThat(target.call("SET", "b", "1").text()).isEqualTo("OK");
        }
    }

    @Test
    void aMemberKeepsItsIdAndItsMap() throws IOException {
        String id;
        try (Members members = Members.ofVarve(folder, 1, 0)) {
            id = members.id(0);
            assertThat(members.call(0, "CLUSTER", "DELSLOTS", "5").text()).isEqualTo("OK");
        }
        try (var server = log.start("cluster-enabled yes", "maxmemory 64mb", "dir " + folder.resolve("v0"));
                RawClient client = new RawClient(server.port())) {
            assertThat(client.call("CLUSTER", "MYID").text()).isEqualTo(id);
            assertThat(client.call("CLUSTER", "NODES").text()).contains(":" + server.port() + "@0 myself,master")
                    .contains(" 0-4 6-16383");
        }
    }

    @Test
    void twoServersCannotHaveOneId() throws IOException {
        String[] settings = {"cluster-enabled yes", "maxmemory 64mb", "dir " + folder};
        try (var _ = log.start(settings)) {
            assertThatThrownBy(() -> log.start(settings)).isInstanceOf(ConfigException.class)
                    .hasMessageContaining("another server uses").hasMessageContaining("cluster-config-file");
        }
        log.start(settings).close();
    }

    @Test
    void aFileOfMembersThatCannotBeRead_preventsTheStart() throws IOException {
        Path file = folder.resolve("nodes.conf");
        for (String text : List.of("x", "vars currentEpoch 0 lastVoteEpoch 0 varveVersion 2\n",
                "%s 127.0.0.1:1@0 master - 0 0 0 connected 0-16384".formatted("1".repeat(40)),
                "%s 127.0.0.1:1@0 myself,master - 0 0 0 connected [5->-%s]".formatted("1".repeat(40),
                        "2".repeat(40)))) {
            Files.writeString(file, text);
            assertThatThrownBy(() -> log.start("cluster-enabled yes", "maxmemory 64mb", "dir " + folder))
                    .isInstanceOf(ConfigException.class).hasMessageContaining("is not a file of cluster members");
            assertThat(file).hasContent(text);
        }
    }

    @Test
    void flashIsRefused() {
        assertThatThrownBy(() -> log.start("cluster-enabled yes", "maxmemory 64mb", "dir " + folder,
                "maxmemory-policy allkeys-lru", "flash-dir " + folder.resolve("flash")))
                .isInstanceOf(ConfigException.class).hasMessageContaining("expected none with cluster-enabled yes");
    }

    /** The migrations that a member has begun are in its file. */
    @Test
    void movingSlotsAreKept() throws IOException {
        try (Members members = Members.ofVarve(folder, 2, 1)) {
            members.call(0, members.resolve("CLUSTER SETSLOT 3300 MIGRATING ID1"));
            members.call(0, members.resolve("CLUSTER SETSLOT 15495 IMPORTING ID1"));
            String nodes = members.call(0, "CLUSTER", "NODES").text();
            assertThat(nodes).contains("[3300->-" + members.id(1) + "]", "[15495-<-" + members.id(1) + "]",
                    "slave " + members.id(0));
            assertThat(folder.resolve("v0").resolve("nodes.conf")).content().startsWith(nodes)
                    .endsWith("vars currentEpoch 1 lastVoteEpoch 0 varveVersion 1\n");
            members.state(0).close();
            try (var again = log.start("cluster-enabled yes", "maxmemory 64mb", "dir " + folder.resolve("v0"));
                    RawClient client = new RawClient(again.port())) {
                assertThat(client.call("CLUSTER", "NODES").text().replace(":" + again.port(), "")).isEqualTo(
                        nodes.replace(":" + members.port(0), ""));
            }
        }
    }

    @Test
    void controllersOwnTheMap() throws IOException {
        try (var server = log.start("cluster-enabled yes", "cluster-controllers 127.0.0.1:1", "maxmemory 64mb",
                "dir " + folder); RawClient client = new RawClient(server.port())) {
            for (List<String> change : List.of(List.of("ADDSLOTS", "1"), List.of("DELSLOTS", "1"),
                    List.of("ADDSLOTSRANGE", "1", "2"), List.of("FLUSHSLOTS"), List.of("BUMPEPOCH"),
                    List.of("SETSLOT", "1", "STABLE"), List.of("SET-CONFIG-EPOCH", "1"), List.of("RESET"))) {
                List<String> command = new ArrayList<>(List.of("CLUSTER"));
                command.addAll(change);
                assertThat(client.call(command.toArray(String[]::new)).text()).as(change.toString())
                        .startsWith("ERR The controllers own the slot map");
            }
            assertThat(client.call("CLUSTER", "MEET", "127.0.0.1", "1").text()).contains("`varve cluster`");
            assertThat(client.call("CLUSTER", "INFO").text()).contains("cluster_state:fail");
        }
    }
}

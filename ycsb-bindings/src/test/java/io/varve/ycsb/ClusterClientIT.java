package io.varve.ycsb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Vector;
import java.util.stream.IntStream;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.cluster.SlotHash;
import io.varve.testing.Polling;
import io.varve.ycsb.database.CacheAsideSummary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the binding on a cluster of three real Redis servers. Confined to the test's thread. */
@Timeout(120)
@SuppressWarnings("JdkObsolete") // YCSB asks for a Vector.
class ClusterClientIT {
    private static final int MEMBERS = 3;
    private static final int RECORDS = 60;

    @TempDir
    static Path directory;

    private static final List<RedisProcess> MEMBERS_STARTED = new ArrayList<>();

    private final List<VarveClient> clients = new ArrayList<>();

    @BeforeAll
    static void startCluster() throws IOException {
        List<Integer> busPorts = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            busPorts.add(RedisProcess.freePort());
            MEMBERS_STARTED.add(RedisProcess.start(Files.createDirectories(directory.resolve("member" + i)),
                    "--cluster-enabled", "yes", "--cluster-port", busPorts.get(i).toString(),
                    "--cluster-node-timeout", "5000"));
        }
        for (int i = 0; i < MEMBERS; i++) {
            member(i).commands().clusterAddSlots(slots(i));
            member(i).commands().clusterSetConfigEpoch(i + 1);
            if (i > 0) {
                member(0).command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(member(i).port()),
                        busPorts.get(i).toString());
            }
        }
        for (RedisProcess each : MEMBERS_STARTED) {
            while (!isJoined(each)) {
                Polling.pause();
            }
        }
    }

    private static boolean isJoined(RedisProcess member) {
        String info = member.commands().clusterInfo();
        return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MEMBERS)
                && !member.commands().clusterNodes().contains("handshake");
    }

    private static RedisProcess member(int i) {
        return MEMBERS_STARTED.get(i);
    }

    private static int[] slots(int member) {
        int first = SlotHash.SLOT_COUNT * member / MEMBERS;
        int end = SlotHash.SLOT_COUNT * (member + 1) / MEMBERS;
        int[] slots = new int[end - first];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = first + i;
        }
        return slots;
    }

    private static int ownerOf(String key) {
        int slot = SlotHash.getSlot(key);
        int owner = 0;
        while (SlotHash.SLOT_COUNT * (owner + 1) / MEMBERS <= slot) {
            owner++;
        }
        return owner;
    }

    @AfterAll
    static void stopCluster() {
        MEMBERS_STARTED.forEach(RedisProcess::close);
        MEMBERS_STARTED.clear();
    }

    @AfterEach
    void cleanUp() throws DBException {
        for (VarveClient client : clients) {
            client.cleanup();
        }
        for (RedisProcess member : MEMBERS_STARTED) {
            member.commands().flushall();
        }
    }

    @Test
    void eachMemberHasItsRecords() throws DBException {
        VarveClient client = client(member(1).port(), "varve.ttls", "1000", "varve.index", "zset");
        for (int i = 0; i < RECORDS; i++) {
            assertThat(client.insert("t", "user" + i, value("v" + i))).isEqualTo(Status.OK);
        }
        for (int i = 0; i < RECORDS; i++) {
            String key = "user" + i;
            assertThat(read(client, key)).isEqualTo("v" + i);
            assertThat(member(ownerOf(key)).commands().ttl(bytes(key))).isBetween(900L, 1000L);
        }
        Vector<HashMap<String, ByteIterator>> scanned = new Vector<>();
        assertThat(client.scan("t", "user0", RECORDS, null, scanned)).isEqualTo(Status.OK);
        assertThat(scanned).hasSize((int) IntStream.range(0, RECORDS)
                .filter(i -> ("user" + i).hashCode() >= "user0".hashCode()).count());
        for (int i = 0; i < RECORDS; i++) {
            assertThat(client.delete("t", "user" + i)).isEqualTo(Status.OK);
        }
        for (RedisProcess member : MEMBERS_STARTED) {
            assertThat(member.commands().info("commandstats")).contains("cmdstat_hset");
            assertThat(member.commands().dbsize()).isZero();
        }
    }

    @Test
    void movedSlotIsFollowed() throws DBException {
        VarveClient client = client(member(0).port());
        String key = "moved";
        int slot = SlotHash.getSlot(key);
        RedisProcess from = member(ownerOf(key));
        int target = (ownerOf(key) + 1) % MEMBERS;
        RedisProcess to = member(target);
        assertThat(client.insert("t", key, value("a"))).isEqualTo(Status.OK);
        to.commands().clusterSetSlotImporting(slot, from.commands().clusterMyId());
        from.commands().clusterSetSlotMigrating(slot, to.commands().clusterMyId());
        from.commands().migrate("127.0.0.1", to.port(), 0, 10_000, MigrateArgs.Builder.key(bytes(key)));
        assertThat(read(client, key)).as("an ASK redirection").isEqualTo("a");
        assertThat(client.update("t", key, value("b"))).isEqualTo(Status.OK);
        for (RedisProcess member : List.of(to, from, member((target + 1) % MEMBERS))) {
            member.commands().clusterSetSlotNode(slot, to.commands().clusterMyId());
        }
        assertThat(read(client, key)).as("a MOVED redirection").isEqualTo("b");
        assertThat(client.update("t", key, value("c"))).isEqualTo(Status.OK);
        assertThat(to.commands().hget(bytes(key), bytes("field0"))).isEqualTo(bytes("c"));
    }

    @Test
    void clusterIsACacheInFrontOfDatabases() throws DBException {
        Properties properties = properties(member(2).port());
        properties.setProperty("varve.db.dir", directory.resolve("databases").toString());
        properties.setProperty("varve.db.local.delay-us", "0");
        properties.setProperty("varve.db.remote.delay-us", "0");
        properties.setProperty("fieldcount", "1");
        properties.setProperty("dotransactions", "false");
        CacheAsideClient client = new CacheAsideClient();
        client.setProperties(properties);
        client.init();
        for (int i = 0; i < RECORDS; i++) {
            assertThat(client.insert("usertable", "user" + i, value("v" + i))).isEqualTo(Status.OK);
        }
        for (int reads = 0; reads < 2; reads++) {
            for (int i = 0; i < RECORDS; i++) {
                Map<String, ByteIterator> result = new HashMap<>();
                assertThat(client.read("usertable", "user" + i, null, result)).isEqualTo(Status.OK);
                assertThat(result.get("field0")).hasToString("v" + i);
            }
        }
        client.cleanup();
        CacheAsideSummary summary = Objects.requireNonNull(CacheAsideClient.summary());
        assertThat(summary.misses()).isEqualTo(RECORDS);
        assertThat(summary.hits()).isEqualTo(RECORDS);
    }

    @Test
    void serverWithoutAClusterIsRefused() throws Exception {
        try (RedisProcess alone = RedisProcess.start(Files.createDirectories(directory.resolve("alone")))) {
            assertThatThrownBy(() -> client(alone.port())).isInstanceOf(DBException.class)
                    .hasMessageContaining("no connection to varve.host=127.0.0.1").hasMessageContaining("cluster");
        }
    }

    @Test
    void redirectionWithoutTheOptionIsAnErrorThatNamesIt() throws DBException {
        Properties properties = properties(member(0).port());
        properties.setProperty("varve.cluster", "false");
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        client.init();
        clients.add(client);
        List<Status> statuses = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            statuses.add(client.insert("t", "user" + i, value("a")));
        }
        assertThat(statuses).contains(Status.OK, Status.ERROR);
    }

    private static Properties properties(int port) {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", Integer.toString(port));
        properties.setProperty("varve.cluster", "true");
        return properties;
    }

    private VarveClient client(int port, String... namesAndValues) throws DBException {
        Properties properties = properties(port);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        client.init();
        clients.add(client);
        return client;
    }

    private static Map<String, ByteIterator> value(String text) {
        return new HashMap<>(Map.of("field0", new StringByteIterator(text)));
    }

    private static String read(VarveClient client, String key) {
        Map<String, ByteIterator> result = new HashMap<>();
        assertThat(client.read("t", key, null, result)).isEqualTo(Status.OK);
        return String.valueOf(result.get("field0"));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

package io.varve.ycsb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;

import io.lettuce.core.KillArgs;
import io.varve.testing.Polling;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the near cache of a client on a real Redis, whose counters say which reads it has served. Confined to the
 * test's thread.
 */
@Timeout(60)
@SuppressWarnings("JdkObsolete") // YCSB asks for a Vector.
class NearCacheIT {

    @TempDir
    static Path directory;

    private static RedisProcess redis;

    private final List<VarveClient> clients = new ArrayList<>();

    @BeforeAll
    static void startRedis() throws IOException {
        redis = RedisProcess.start(directory, "--enable-debug-command", "yes");
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @BeforeEach
    void flush() {
        redis.commands().flushall();
        redis.commands().configResetstat();
    }

    @AfterEach
    void cleanUp() throws DBException {
        for (VarveClient client : clients) {
            client.cleanup();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"hash", "string"})
    void serverIsAskedOnceForARecord(String record) throws DBException {
        VarveClient writer = client("varve.near.cache", "0", "varve.record", record, "fieldcount", "2");
        VarveClient client = client("varve.record", record, "fieldcount", "2");
        writer.insert("t", "user1", values("field0", "a", "field1", "b"));
        assertThat(read(client, "user1", Set.of("field1"))).isEqualTo(Map.of("field1", "b"));
        for (int i = 0; i < 10; i++) {
            assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", "a", "field1", "b"));
            assertThat(read(client, "user1", Set.of("field0"))).isEqualTo(Map.of("field0", "a"));
            assertThat(read(client, "user1", Set.of("field7"))).isNull();
        }
        assertThat(redis.commands().info("commandstats"))
                .contains("cmdstat_" + (record.equals("hash") ? "hgetall" : "get") + ":calls=1,");
    }

    @Test
    void changesOfOthersReachTheClient() throws DBException {
        VarveClient other = client("varve.near.cache", "0");
        VarveClient client = client();
        other.insert("t", "user1", values("field0", "a"));
        assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", "a"));
        other.update("t", "user1", values("field0", "b"));
        awaitRead(client, "user1", Map.of("field0", "b"));
        other.delete("t", "user1");
        awaitRead(client, "user1", null);
        other.insert("t", "user1", values("field0", "c"));
        assertThat(read(client, "user1", null)).as("absence is not kept").isEqualTo(Map.of("field0", "c"));
        redis.commands().flushall();
        awaitRead(client, "user1", null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hash", "string"})
    void ownWritesAreSeenAtOnce(String record) throws DBException {
        VarveClient client = client("varve.record", record, "fieldcount", "2");
        client.insert("t", "user1", values("field0", "0", "field1", "x"));
        for (int i = 0; i < 50; i++) {
            String value = Integer.toString(i);
            assertThat(client.update("t", "user1", values("field0", value))).isEqualTo(Status.OK);
            assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", value, "field1", "x"));
            assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", value, "field1", "x"));
        }
        client.delete("t", "user1");
        assertThat(read(client, "user1", null)).isNull();
        long loads = calls(record.equals("hash") ? "hgetall" : "get") - (record.equals("hash") ? 0 : 50);
        assertThat(loads).as("the report of an own change may overtake the next load").isBetween(51L, 101L);
    }

    /** With NOLOOP, Redis would not report a key that it evicts for a write of the client itself. */
    @Test
    void recordThatAnOwnWriteEvictsIsNotServed() throws DBException {
        VarveClient client = client();
        client.insert("t", "evicted", values("field0", "a"));
        assertThat(read(client, "evicted", null)).isEqualTo(Map.of("field0", "a"));
        redis.commands().configSet(Map.of("maxmemory-policy", "allkeys-lru", "maxmemory-samples", "64", "maxmemory",
                Long.toString(usedMemory() + (2L << 20))));
        try {
            String filler = "x".repeat(1000);
            for (int i = 0; redis.commands().exists(bytes("evicted")) == 1; i++) {
                assertThat(client.insert("t", "filler" + i, values("field0", filler))).isEqualTo(Status.OK);
            }
            while (read(client, "evicted", null) != null) {
                assertThat(read(client, "absent", null)).as("the server answers").isNull();
                Polling.pause();
            }
        } finally {
            redis.commands().configSet(Map.of("maxmemory", "0", "maxmemory-policy", "noeviction"));
        }
    }

    private static long usedMemory() {
        return redis.commands().info("memory").lines().filter(line -> line.startsWith("used_memory:"))
                .mapToLong(line -> Long.parseLong(line.substring("used_memory:".length()))).findFirst().orElseThrow();
    }

    /** Over RESP2 a server accepts CLIENT TRACKING and reports nothing. */
    @Test
    void serverWithoutResp3IsRefused() throws IOException {
        try (RedisProcess old = RedisProcess.start(directory, "--rename-command", "HELLO", "NO-HELLO")) {
            assertThatThrownBy(() -> client("varve.port", Integer.toString(old.port())))
                    .isInstanceOf(DBException.class).hasMessageContaining("varve.near.cache=100 needs a server")
                    .hasMessageContaining("RESP3").hasMessageContaining("HELLO");
        }
    }

    /** The change is made while the client is cut off: nothing reports it. */
    @Test
    void lostConnectionMakesTheClientAskAgain() throws DBException {
        VarveClient client = client();
        client.insert("t", "user1", values("field0", "0"));
        for (int i = 1; i <= 20; i++) {
            awaitRead(client, "user1", Map.of("field0", Integer.toString(i - 1)));
            redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
            redis.commands().hset(bytes("user1"), bytes("field0"), bytes(Integer.toString(i)));
            awaitRead(client, "user1", Map.of("field0", Integer.toString(i)));
            redis.commands().hset(bytes("user1"), bytes("field0"), bytes("tracked again"));
            awaitRead(client, "user1", Map.of("field0", "tracked again"));
            redis.commands().hset(bytes("user1"), bytes("field0"), bytes(Integer.toString(i)));
        }
    }

    /** The server keeps an expired key that nobody reads, and so does not invalidate it. */
    @Test
    void recordIsNotServedAfterItsTtl() throws DBException {
        redis.command("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        VarveClient client = client("varve.ttls", "0.2");
        client.insert("t", "user1", values("field0", "a"));
        redis.commands().hset(bytes("user2"), bytes("field0"), bytes("b"));
        redis.commands().pexpire(bytes("user2"), 200);
        for (String key : List.of("user1", "user2")) {
            while (read(client, key, null) != null) {
                assertThat(read(client, "absent", null)).as("the server answers").isNull();
                Polling.pause();
            }
        }
    }

    @Test
    void scanAndReadAgree() throws DBException {
        VarveClient other = client("varve.near.cache", "0", "varve.index", "zset");
        VarveClient client = client("varve.index", "zset");
        other.insert("t", "user1", values("field0", "a"));
        read(client, "user1", null);
        other.update("t", "user1", values("field0", "b"));
        Vector<HashMap<String, ByteIterator>> result = new Vector<>();
        assertThat(client.scan("t", "user1", 5, null, result)).isEqualTo(Status.OK);
        assertThat(result).hasSize(1);
        assertThat(result.get(0).get("field0")).hasToString("b");
        assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", "b"));
    }

    @Test
    void serverThatDoesNotTrackIsRefused() {
        redis.command("ACL", "SETUSER", "untracked", "on", ">sesame", "~*", "+@all", "-client|tracking");
        assertThatThrownBy(() -> client("varve.user", "untracked", "varve.password", "sesame"))
                .isInstanceOf(DBException.class).hasMessageContaining("varve.near.cache=100: the server at 127.0.0.1:")
                .hasMessageContaining("refuses CLIENT TRACKING").hasMessageContaining("NOPERM");
    }

    private static long calls(String command) {
        String start = "cmdstat_" + command + ":calls=";
        return redis.commands().info("commandstats").lines().filter(line -> line.startsWith(start))
                .mapToLong(line -> Long.parseLong(line.substring(start.length(), line.indexOf(',')))).sum();
    }

    /** Reads until a change has arrived; a read without a connection is an error. */
    private static void awaitRead(VarveClient client, String key, @Nullable Map<String, String> expected) {
        while (true) {
            Map<String, ByteIterator> result = new HashMap<>();
            Status status = client.read("t", key, null, result);
            if (status.equals(Status.NOT_FOUND) && expected == null
                    || status.equals(Status.OK) && StringByteIterator.getStringMap(result).equals(expected)) {
                return;
            }
            Polling.pause();
        }
    }

    private static @Nullable Map<String, String> read(VarveClient client, String key, @Nullable Set<String> fields) {
        Map<String, ByteIterator> result = new HashMap<>();
        Status status = client.read("t", key, fields, result);
        if (status.equals(Status.NOT_FOUND)) {
            return null;
        }
        assertThat(status).isEqualTo(Status.OK);
        return StringByteIterator.getStringMap(result);
    }

    private VarveClient client(String... namesAndValues) throws DBException {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", Integer.toString(redis.port()));
        properties.setProperty("varve.near.cache", "100");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        client.init();
        clients.add(client);
        return client;
    }

    private static Map<String, ByteIterator> values(String... namesAndValues) {
        Map<String, ByteIterator> values = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i], new StringByteIterator(namesAndValues[i + 1]));
        }
        return values;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

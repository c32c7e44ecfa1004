package io.varve.ycsb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import io.varve.ycsb.database.CacheAsideSummary;
import io.varve.ycsb.option.Side;
import io.varve.ycsb.record.PackedRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the commands to the cache, as a real Redis receives them. Confined to the test's thread. */
class CacheAsideClientIT {

    @TempDir
    static Path directory;

    private static RedisProcess redis;
    /** A server on which VARVE.CLASS is another name of GETSET: it sets the key DEFAULT to the requested class. */
    private static RedisProcess hinted;

    private final List<CacheAsideClient> clients = new ArrayList<>();

    @BeforeAll
    static void startRedis() throws IOException {
        redis = RedisProcess.start(directory);
        hinted = RedisProcess.start(directory, "--rename-command", "GETSET", "VARVE.CLASS");
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
        hinted.close();
    }

    @BeforeEach
    void flush() {
        redis.commands().flushall();
        redis.commands().configResetstat();
    }

    @AfterEach
    void cleanUp() throws DBException {
        for (CacheAsideClient client : clients) {
            client.cleanup();
        }
        clients.clear();
    }

    @ParameterizedTest
    @ValueSource(strings = {"answered", "sent"})
    void aMissIsAGetAndASetAndAWriteADel(String fill) throws DBException {
        CacheAsideClient client = client(redis, "varve.ttls", "1000", "varve.ttl.mode", "ex", "varve.fill", fill);
        assertThat(client.insert("t", "user1", values("field0", "a"))).isEqualTo(Status.OK);
        assertThat(redis.commands().dbsize()).isZero();
        assertThat(read(client, "user1")).isEqualTo("a");
        // The connection answers in order: with this all that was sent before is done.
        assertThat(read(client, "user1")).isEqualTo("a");
        assertThat(PackedRecord.unpack(redis.commands().get(bytes("user1"))).get("field0")).isEqualTo(bytes("a"));
        assertThat(redis.commands().ttl(bytes("user1"))).isBetween(900L, 1000L);
        redis.commands().configResetstat();
        assertThat(read(client, "user1")).isEqualTo("a");
        assertThat(client.update("t", "user1", values("field0", "b"))).isEqualTo(Status.OK);
        assertThat(redis.commands().exists(bytes("user1"))).isZero();
        assertThat(read(client, "user1")).isEqualTo("b");
        assertThat(client.delete("t", "user1")).isEqualTo(Status.OK);
        assertThat(redis.commands().exists(bytes("user1"))).isZero();
        assertThat(client.read("t", "user1", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);
        assertThat(redis.commands().info("commandstats")).contains("cmdstat_get:calls=3,", "cmdstat_set:calls=1,",
                "cmdstat_del:calls=2,").doesNotContain("cmdstat_varve");
    }

    @Test
    void read_fullCache_reportsFailureAndReturnsRecord() throws DBException {
        CacheAsideClient client = client(redis);
        client.insert("t", "user1", values("field0", "a"));
        redis.commands().configSet("maxmemory", "1");
        PrintStream standardError = System.err;
        ByteArrayOutputStream reported = new ByteArrayOutputStream();
        System.setErr(new PrintStream(reported, true, StandardCharsets.UTF_8));
        try {
            assertThat(read(client, "user1")).isEqualTo("a");
        } finally {
            System.setErr(standardError);
            redis.commands().configSet("maxmemory", "0");
        }
        assertThat(reported.toString(StandardCharsets.UTF_8)).contains("filling the cache failed").contains("OOM");
    }

    @Test
    void aStrangersValueIsUnexpected() throws DBException {
        CacheAsideClient client = client(redis);
        client.insert("t", "user1", values("field0", "a"));
        redis.commands().set(bytes("user1"), bytes("\u007fa"));
        assertThat(client.read("t", "user1", null, new HashMap<>())).isEqualTo(Status.UNEXPECTED_STATE);
    }

    @Test
    void aServerWithoutHintsIsNamed() {
        assertThatThrownBy(() -> client(redis, "varve.penalty.hint", "true")).isInstanceOf(DBException.class)
                .hasMessageStartingWith("varve.penalty.hint=true: the server at 127.0.0.1:" + redis.port()
                        + " does not know VARVE.CLASS: expected false for this server (ERR unknown command");
    }

    @Test
    void aClassThatIsRefusedIsNamed() {
        hinted.commands().lpush(bytes("DEFAULT"), bytes("not for GETSET"));
        try {
            assertThatThrownBy(() -> client(hinted, "varve.penalty.hint", "true", "varve.penalty.class.local", "15"))
                    .isInstanceOf(DBException.class)
                    .hasMessageStartingWith("varve.penalty.hint=true with varve.penalty.class.local=15: the server at"
                            + " 127.0.0.1:" + hinted.port() + " refuses VARVE.CLASS DEFAULT 15 (WRONGTYPE");
        } finally {
            hinted.commands().flushall();
        }
    }

    /** The SET behind the hint is done, and is answered before the read has its record. */
    @Test
    void hintRefusedLater_isReportedAndRecordIsCached() throws DBException {
        CacheAsideClient client = client(hinted, "varve.penalty.hint", "true");
        client.insert("t", "user1", values("field0", "a"));
        hinted.commands().del(bytes("DEFAULT"));
        hinted.commands().lpush(bytes("DEFAULT"), bytes("not for GETSET"));
        PrintStream standardError = System.err;
        ByteArrayOutputStream reported = new ByteArrayOutputStream();
        System.setErr(new PrintStream(reported, true, StandardCharsets.UTF_8));
        try {
            assertThat(read(client, "user1")).isEqualTo("a");
            assertThat(hinted.commands().exists(bytes("user1"))).isEqualTo(1);
        } finally {
            System.setErr(standardError);
            hinted.commands().flushall();
        }
        assertThat(reported.toString(StandardCharsets.UTF_8)).startsWith("varve: varve.penalty.hint=true: ")
                .contains("WRONGTYPE");
        CacheAsideSummary summary = CacheAsideClient.summary();
        assertThat(summary).isNotNull();
        assertThat(summary.unhintedFills()).isEqualTo(1);
        assertThat(summary.fills()).isEqualTo(1);
        assertThat(summary.refusedFills()).isZero();
    }

    @Test
    void theHintIsTheClassOfTheDatabase() throws DBException {
        CacheAsideClient client = client(hinted, "varve.penalty.hint", "true", "varve.penalty.class.remote", "9");
        for (int i = 0; i < 8; i++) {
            String key = "user" + i;
            client.insert("t", key, values("field0", "a"));
            assertThat(read(client, key)).isEqualTo("a");
            assertThat(hinted.commands().get(bytes("DEFAULT"))).as(key)
                    .isEqualTo(bytes(Side.of(key) == Side.LOCAL ? "3" : "9"));
            hinted.commands().del(bytes("DEFAULT"));
            assertThat(read(client, key)).as("from the cache").isEqualTo("a");
            assertThat(hinted.commands().get(bytes("DEFAULT"))).isNull();
        }
    }

    @Test
    void aCacheThatIsNotThereIsNamed() throws IOException {
        int port = RedisProcess.freePort();
        assertThatThrownBy(() -> client(redis, "varve.port", Integer.toString(port))).isInstanceOf(DBException.class)
                .hasMessageContaining("varve.port=" + port);
    }

    @Test
    void filesOfH2KeepLoadedRecords(@TempDir Path databases) throws DBException {
        String[] files = {"varve.db.local.url", "", "varve.db.remote.url", "", "varve.db.dir", databases.toString(),
                "dotransactions", "false"};
        CacheAsideClient loader = client(redis, files);
        for (int i = 0; i < 8; i++) {
            assertThat(loader.insert("t", "user" + i, values("field0", "v" + i))).isEqualTo(Status.OK);
        }
        cleanUp();
        files[7] = "true";
        CacheAsideClient client = client(redis, files);
        for (int i = 0; i < 8; i++) {
            assertThat(read(client, "user" + i)).isEqualTo("v" + i);
        }
        assertThat(databases.resolve("local.mv.db")).isNotEmptyFile();
        assertThat(databases.resolve("remote.mv.db")).isNotEmptyFile();
    }

    /** With tables that are created again, as in the load phase. */
    private CacheAsideClient client(RedisProcess server, String... namesAndValues) throws DBException {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", Integer.toString(server.port()));
        properties.setProperty("varve.db.local.url", "jdbc:h2:mem:local");
        properties.setProperty("varve.db.remote.url", "jdbc:h2:mem:remote");
        properties.setProperty("dotransactions", "false");
        properties.setProperty("fieldcount", "1");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        CacheAsideClient client = new CacheAsideClient();
        clients.add(client);
        client.setProperties(properties);
        client.init();
        return client;
    }

    private static Map<String, ByteIterator> values(String name, String value) {
        Map<String, ByteIterator> values = new HashMap<>();
        values.put(name, new StringByteIterator(value));
        return values;
    }

    private static String read(CacheAsideClient client, String key) {
        Map<String, ByteIterator> result = new HashMap<>();
        assertThat(client.read("t", key, null, result)).isEqualTo(Status.OK);
        return String.valueOf(result.get("field0"));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

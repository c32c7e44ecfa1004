package io.varve.ycsb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;

import io.lettuce.core.AclSetuserArgs;
import io.varve.ycsb.option.KeyCoding;
import org.jspecify.annotations.Nullable;
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

/** Tests each operation of the binding from both sides: YCSB's, and that of a real Redis. */
@SuppressWarnings("JdkObsolete") // YCSB asks for a Vector.
class VarveClientIT {

    @TempDir
    static Path directory;

    private static RedisProcess redis;

    private final List<VarveClient> clients = new ArrayList<>();

    @BeforeAll
    static void startRedis() throws IOException {
        redis = RedisProcess.start(directory);
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @BeforeEach
    void flush() {
        redis.commands().flushall();
    }

    @AfterEach
    void cleanUp() throws DBException {
        for (VarveClient client : clients) {
            client.cleanup();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"hash", "string"})
    void aRecordIsInsertedReadUpdatedAndDeleted(String record) throws DBException {
        VarveClient client = client("varve.record", record, "fieldcount", "2");
        assertThat(read(client, "user1", null)).isNull();
        assertThat(client.insert("t", "user1", values("field0", "a", "field1", "b"))).isEqualTo(Status.OK);
        assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", "a", "field1", "b"));
        assertThat(read(client, "user1", Set.of("field1"))).isEqualTo(Map.of("field1", "b"));
        assertThat(client.update("t", "user1", values("field1", "c"))).isEqualTo(Status.OK);
        assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", "a", "field1", "c"));
        assertThat(redis.commands().type(bytes("user1"))).isEqualTo(record);
        assertThat(redis.commands().ttl(bytes("user1"))).isEqualTo(-1);
        assertThat(client.delete("t", "user1")).isEqualTo(Status.OK);
        assertThat(client.delete("t", "user1")).isEqualTo(Status.NOT_FOUND);
        assertThat(read(client, "user1", Set.of("field0"))).isNull();
        assertThat(redis.commands().dbsize()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"hash expire", "string expire", "string ex"})
    void everyWriteSetsATtlFromTheList(String recordAndMode) throws DBException {
        String[] words = recordAndMode.split(" ");
        VarveClient client = client("varve.record", words[0], "varve.ttl.mode", words[1], "varve.ttls", "100,1000.5",
                "fieldcount", "1");
        int[] counts = new int[2];
        for (int i = 0; i < 40; i++) {
            assertThat(client.insert("t", "user" + i, values("field0", "a"))).isEqualTo(Status.OK);
            counts[nearest(redis.commands().pttl(bytes("user" + i)), 100_000, 1_000_500)]++;
        }
        assertThat(counts).doesNotContain(0);
        redis.commands().persist(bytes("user7"));
        assertThat(client.update("t", "user7", values("field0", "b"))).isEqualTo(Status.OK);
        nearest(redis.commands().pttl(bytes("user7")), 100_000, 1_000_500);
    }

    @Test
    void anUpdateMakesAnExpiredRecordAgain() throws DBException {
        VarveClient client = client("varve.ttls", "100");
        client.insert("t", "user1", values("field0", "a"));
        redis.commands().pexpire(bytes("user1"), 0);
        assertThat(read(client, "user1", null)).isNull();
        assertThat(client.update("t", "user1", values("field0", "b"))).isEqualTo(Status.OK);
        assertThat(read(client, "user1", null)).isEqualTo(Map.of("field0", "b"));
    }

    @Test
    void oneSeedSetsTheSameTtlsInASecondRun() throws DBException {
        List<Integer> first = ttlRanks();
        cleanUp();
        clients.clear();
        redis.commands().flushall();
        assertThat(ttlRanks()).isEqualTo(first);
    }

    @Test
    void writeAndExpireTravelInOnePipelineAndAsWholeSeconds() throws DBException {
        VarveClient client = client("varve.ttls", "30");
        redis.commands().configResetstat();
        long readsBefore = readsProcessed();
        client.insert("t", "user1", values("field0", "a"));
        // One read of the socket for the pipeline, one for INFO itself.
        assertThat(readsProcessed() - readsBefore).isEqualTo(2);
        String stats = redis.commands().info("commandstats");
        assertThat(stats).contains("cmdstat_hset:calls=1,", "cmdstat_expire:calls=1,").doesNotContain("cmdstat_pexpire",
                "cmdstat_zadd");
    }

    @Test
    void pollingClientGetsItsReplies() throws DBException {
        VarveClient client = client("varve.poll-us", "1000000");
        for (int i = 0; i < 200; i++) {
            assertThat(client.insert("t", "user" + i, values("field0", "a" + i))).isEqualTo(Status.OK);
            assertThat(read(client, "user" + i, null)).isEqualTo(Map.of("field0", "a" + i));
        }
    }

    @Test
    void binaryKeysHaveEightBytes() throws DBException {
        VarveClient client = client("varve.key", "binary8");
        assertThat(client.insert("t", "user77", values("field0", "a"))).isEqualTo(Status.OK);
        assertThat(redis.commands().exists(ByteBuffer.allocate(8).putLong(77).array())).isEqualTo(1);
        assertThat(read(client, "user77", null)).isEqualTo(Map.of("field0", "a"));
        assertThat(client.insert("t", "77", values("field0", "a"))).isEqualTo(Status.BAD_REQUEST);
    }

    @Test
    void scansNeedTheIndex() throws DBException {
        VarveClient client = client();
        client.insert("t", "user1", values("field0", "a"));
        assertThat(client.scan("t", "user1", 10, null, new Vector<>())).isEqualTo(Status.NOT_IMPLEMENTED);
        assertThat(redis.commands().dbsize()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ycsb", "binary8"})
    void withTheIndexScansFollowTheStockBindingsOrder(String key) throws DBException {
        VarveClient client = client("varve.index", "zset", "varve.key", key);
        for (int i = 0; i < 10; i++) {
            client.insert("t", "user" + i, values("field0", "v" + i));
        }
        client.delete("t", "user5");
        redis.commands().del(KeyCoding.valueOf(key.toUpperCase(java.util.Locale.ROOT)).encode("user6"));
        Vector<HashMap<String, ByteIterator>> result = new Vector<>();
        assertThat(client.scan("t", "user3", 5, Set.of("field0"), result)).isEqualTo(Status.OK);
        // "user3" to "user8" without 5: one of the five, 6, was deleted since.
        assertThat(result.stream().map(each -> String.valueOf(each.get("field0")))).containsExactly("v3", "v4", "v7",
                "v8");
        assertThat(redis.commands().zcard(bytes("_indices"))).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hash", "string"})
    void recordRefusedByIndexIsNotWritten(String record) throws DBException {
        VarveClient client = client("varve.index", "zset", "varve.record", record, "varve.ttls", "1000");
        redis.commands().set(bytes("_indices"), bytes("no sorted set"));
        PrintStream standardError = System.err;
        ByteArrayOutputStream reported = new ByteArrayOutputStream();
        System.setErr(new PrintStream(reported, true, StandardCharsets.UTF_8));
        try {
            assertThat(client.insert("t", "user1", values("field0", "a"))).isEqualTo(Status.ERROR);
        } finally {
            System.setErr(standardError);
        }
        assertThat(reported.toString(StandardCharsets.UTF_8)).contains(
                "varve.index=zset: the server refuses the ZADD of the index, so the record is not written: WRONGTYPE");
        assertThat(redis.commands().exists(bytes("user1"))).isZero();
        redis.commands().del(bytes("_indices"));
        assertThat(client.insert("t", "user1", values("field0", "a"))).isEqualTo(Status.OK);
        assertThat(redis.commands().ttl(bytes("user1"))).isBetween(900L, 1000L);
    }

    @Test
    void operationAfterErrorReplySucceeds() throws DBException {
        VarveClient client = client();
        redis.commands().set(bytes("user1"), bytes("a string"));
        assertThat(client.insert("t", "user1", values("field0", "a"))).isEqualTo(Status.ERROR);
        assertThat(client.read("t", "user1", null, new HashMap<>())).isEqualTo(Status.ERROR);
        assertThat(client.insert("t", "user2", values("field0", "a"))).isEqualTo(Status.OK);
        assertThat(read(client, "user2", null)).isEqualTo(Map.of("field0", "a"));
    }

    @Test
    void read_valueIsNoRecord_returnsUnexpectedState() throws DBException {
        VarveClient client = client("varve.record", "string");
        redis.commands().set(bytes("user1"), bytes("\u007fa"));
        assertThat(client.read("t", "user1", null, new HashMap<>())).isEqualTo(Status.UNEXPECTED_STATE);
    }

    @Test
    void aServerThatIsNotThereIsNamedAtInit() throws IOException {
        int port = RedisProcess.freePort();
        assertThatThrownBy(() -> client("varve.port", Integer.toString(port))).isInstanceOf(DBException.class)
                .hasMessageContaining("varve.host=127.0.0.1").hasMessageContaining("varve.port=" + port);
    }

    @Test
    void aBadPropertyIsNamedAtInit() {
        assertThatThrownBy(() -> client("varve.record", "tree")).isInstanceOf(DBException.class)
                .hasMessage("varve.record=tree: expected hash or string");
    }

    @Test
    void thePasswordIsSent() throws Exception {
        redis.commands().configSet("requirepass", "open sesame");
        try {
            VarveClient client = client("varve.password", "open sesame");
            assertThat(client.insert("t", "user1", values("field0", "a"))).isEqualTo(Status.OK);
            assertThatThrownBy(() -> client("varve.password", "open barley")).isInstanceOf(DBException.class)
                    .hasMessageContaining("WRONGPASS").message().doesNotContain("barley");
        } finally {
            redis.commands().configSet("requirepass", "");
        }
    }

    @Test
    void aUserIsSentWithItsPassword() throws Exception {
        redis.commands().aclSetuser("bench", AclSetuserArgs.Builder.on().addPassword("sesame").allKeys().allCommands());
        VarveClient client = client("varve.user", "bench", "varve.password", "sesame");
        assertThat(client.insert("t", "user1", values("field0", "a"))).isEqualTo(Status.OK);
        assertThat(redis.commands().clientList()).contains("user=bench");
        assertThatThrownBy(() -> client("varve.user", "bench", "varve.password", "barley"))
                .isInstanceOf(DBException.class).hasMessageContaining("WRONGPASS").message().doesNotContain("barley");
    }

    private static long readsProcessed() {
        return redis.commands().info("stats").lines().filter(line -> line.startsWith("total_reads_processed:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1))).findFirst().orElseThrow();
    }

    private List<Integer> ttlRanks() throws DBException {
        List<Integer> ranks = new ArrayList<>();
        VarveClient one = client("varve.ttls", "1000,2000,3000,4000", "varve.seed", "5");
        VarveClient two = client("varve.ttls", "1000,2000,3000,4000", "varve.seed", "5");
        for (int i = 0; i < 20; i++) {
            for (VarveClient client : List.of(one, two)) {
                client.insert("t", "user" + i, values("field0", "a"));
                ranks.add(
                        nearest(redis.commands().pttl(bytes("user" + i)), 1_000_000, 2_000_000, 3_000_000, 4_000_000));
            }
        }
        return ranks;
    }

    /** The place of the TTL in the list that the rest of a TTL, milliseconds, comes from. */
    private static int nearest(long restMillis, long... ttlsMillis) {
        for (int i = 0; i < ttlsMillis.length; i++) {
            if (restMillis <= ttlsMillis[i] && restMillis > ttlsMillis[i] - 60_000) {
                return i;
            }
        }
        throw new AssertionError("a TTL with " + restMillis + " ms to go is not from the list");
    }

    private VarveClient client(String... namesAndValues) throws DBException {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", Integer.toString(redis.port()));
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        VarveClient client = new VarveClient();
        clients.add(client);
        client.setProperties(properties);
        client.init();
        return client;
    }

    private static Map<String, ByteIterator> values(String... namesAndValues) {
        Map<String, ByteIterator> values = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i], new StringByteIterator(namesAndValues[i + 1]));
        }
        return values;
    }

    private static @Nullable Map<String, String> read(VarveClient client, String key,
            @Nullable Set<String> fields) {
        Map<String, ByteIterator> result = new HashMap<>();
        Status status = client.read("t", key, fields, result);
        if (status.equals(Status.NOT_FOUND)) {
            assertThat(result).isEmpty();
            return null;
        }
        assertThat(status).isEqualTo(Status.OK);
        return StringByteIterator.getStringMap(result);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

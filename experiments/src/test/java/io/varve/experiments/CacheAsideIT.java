package io.varve.experiments;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.ycsb.CacheAsideClient;
import io.varve.ycsb.database.CacheAsideSummary;
import io.varve.ycsb.record.PackedRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs YCSB's six workloads, each with two threads, with a Varve in front of two databases, and counts the statuses
 * between workload and client. Confined to the test's thread, except the workload's own two.
 */
@SuppressWarnings({"JdkObsolete", "NonApiType"}) // The types are YCSB's.
final class CacheAsideIT {
    private static final int RECORDS = 300;
    private static final int OPERATIONS = 600;
    private static final int THREADS = 2;
    private static final List<String> URLS = List.of("jdbc:h2:mem:varve-local;DB_CLOSE_DELAY=-1",
            "jdbc:h2:mem:varve-remote;DB_CLOSE_DELAY=-1");

    private static VarveServer server;
    private static RedisClient redis;
    private static StatefulRedisConnection<byte[], byte[]> connection;

    @BeforeAll
    static void start() throws Exception {
        server = VarveServer.start(ServerConfig.defaults().with("bind", "127.0.0.1").with("port", "0")
                .with("maxmemory", "64mb").validate());
        redis = RedisClient.create("redis://127.0.0.1:" + server.port());
        connection = redis.connect(ByteArrayCodec.INSTANCE);
        Map<String, Long> statuses = run("c", "dotransactions", "false");
        assertThat(statuses).isEqualTo(Map.of("INSERT=OK", (long) RECORDS));
    }

    @AfterAll
    static void stop() throws SQLException {
        connection.close();
        redis.shutdown();
        server.close();
        for (String url : URLS) {
            try (Connection database = DriverManager.getConnection(url);
                    Statement statement = database.createStatement()) {
                statement.execute("SHUTDOWN");
            }
        }
    }

    @BeforeEach
    void flush() {
        connection.sync().flushall();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b", "c", "d", "e", "f"})
    void cacheAndDatabasesAgreeAfterTheWorkload(String workload) throws Exception {
        Map<String, Long> statuses = run(workload);
        assertThat(statuses.keySet()).allMatch(name -> name.endsWith("=OK"), "is OK");
        CacheAsideSummary summary = Objects.requireNonNull(CacheAsideClient.summary());
        long writes = statuses.getOrDefault("UPDATE=OK", 0L) + statuses.getOrDefault("INSERT=OK", 0L);
        long reads = statuses.getOrDefault("READ=OK", 0L) + statuses.getOrDefault("SCAN=OK", 0L);
        assertThat(writes + reads).isGreaterThanOrEqualTo(OPERATIONS);
        assertThat(writes > 0).isEqualTo(!workload.equals("c"));
        assertThat(summary.hits() + summary.misses()).isEqualTo(reads);
        assertThat(summary.hits()).isPositive();
        assertThat(summary.local().fetches() + summary.remote().fetches()).isEqualTo(summary.misses());
        assertThat(summary.fills() + summary.overtakenFills()).isEqualTo(summary.misses());
        assertThat(summary.invalidations()).isEqualTo(writes);
        assertThat(summary.remote().delays()).isEqualTo(summary.remote().roundTrips()).isPositive();
        assertThat(summary.remote().delayNanos()).isGreaterThanOrEqualTo(summary.remote().delayRequestedNanos());
        assertThat(summary.remote().delayRequestedNanos()).isEqualTo(summary.remote().delays() * 60_000);
        assertThat(cachedAndEqual()).isPositive();
    }

    @Test
    void scansReadBothDatabasesIfConfigured() throws Exception {
        Map<String, Long> statuses = run("e", "varve.scan", "databases", "operationcount", "100");
        assertThat(statuses.keySet()).allMatch(name -> name.endsWith("=OK"), "is OK");
        CacheAsideSummary summary = Objects.requireNonNull(CacheAsideClient.summary());
        assertThat(summary.remote().scans()).isEqualTo(statuses.get("SCAN=OK"));
        assertThat(summary.local().scans()).isEqualTo(summary.remote().scans());
        assertThat(summary.misses()).isZero();
    }

    @Test
    void stressBeginsAfterNumberOfOperations() throws Exception {
        run("c", "varve.stress.after-operations", "240");
        CacheAsideSummary summary = Objects.requireNonNull(CacheAsideClient.summary());
        assertThat(summary.stressed()).isTrue();
        assertThat(summary.operationsBeforeStress()).isBetween(240L, 240L + THREADS);
        assertThat(summary.remote().delayRequestedNanos()).isBetween(summary.remote().delays() * 60_000 + 1,
                summary.remote().delays() * 120_000);
        assertThat(summary.local().delayRequestedNanos()).isEqualTo(summary.local().delays() * 20_000);
    }

    /** How many records are cached; each as its database has it. */
    private static int cachedAndEqual() throws SQLException {
        RedisCommands<byte[], byte[]> commands = connection.sync();
        int cached = 0;
        for (String url : URLS) {
            try (Connection database = DriverManager.getConnection(url);
                    Statement statement = database.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT * FROM usertable")) {
                while (rows.next()) {
                    byte[] packed = commands.get(rows.getString("YCSB_KEY").getBytes(StandardCharsets.UTF_8));
                    if (packed != null) {
                        cached++;
                        Map<String, byte[]> record = PackedRecord.unpack(packed);
                        assertThat(record).hasSize(10);
                        for (Map.Entry<String, byte[]> field : record.entrySet()) {
                            assertThat(field.getValue()).isEqualTo(rows.getBytes(field.getKey()));
                        }
                    }
                }
            }
        }
        assertThat((long) cached).as("nothing else is cached").isEqualTo(commands.dbsize());
        return cached;
    }

    /** The numbers of operations by status, {@code READ=OK} and the like. */
    private static Map<String, Long> run(String name, String... namesAndValues) throws Exception {
        Properties properties = properties(name, namesAndValues);
        Measurements.setProperties(properties);
        CoreWorkload workload = new CoreWorkload();
        workload.init(properties);
        List<Counted> clients = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            clients.add(new Counted(new CacheAsideClient(), properties));
        }
        boolean load = properties.getProperty("dotransactions", "true").equals("false");
        int each = (load ? RECORDS : Integer.parseInt(properties.getProperty("operationcount"))) / THREADS;
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                running.add(threads.submit(() -> {
                    Counted client = clients.get(thread);
                    client.init();
                    try {
                        Object state = workload.initThread(properties, thread, THREADS);
                        for (int operation = 0; operation < each; operation++) {
                            assertThat(load
                                    ? workload.doInsert(client, state)
                                    : workload.doTransaction(client, state)).isTrue();
                        }
                    } finally {
                        client.cleanup();
                    }
                    return null;
                }));
            }
            for (Future<?> thread : running) {
                thread.get();
            }
        } finally {
            threads.shutdown();
        }
        Map<String, Long> statuses = new HashMap<>();
        clients.forEach(client -> client.statuses.forEach((status, count) -> statuses.merge(status, count, Long::sum)));
        return statuses;
    }

    private static Properties properties(String name, String... namesAndValues) throws IOException {
        Properties properties = new Properties();
        for (String file : List.of("cache-aside-" + name, "cache-aside-quick")) {
            Path path = Path.of("..", "workloads", file + ".properties");
            try (Reader reader = Files.newBufferedReader(path, StandardCharsets.UTF_8)) {
                properties.load(reader);
            }
        }
        properties.setProperty("recordcount", Integer.toString(RECORDS));
        properties.setProperty("operationcount", Integer.toString(OPERATIONS));
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", Integer.toString(server.port()));
        properties.setProperty("varve.db.local.url", URLS.getFirst());
        properties.setProperty("varve.db.remote.url", URLS.getLast());
        properties.setProperty("varve.db.local.delay-us", "20");
        properties.setProperty("varve.db.remote.delay-us", "60");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        return properties;
    }

    /** Counts the statuses of a client, which the workload itself ignores. Confined to its thread while it runs. */
    private static final class Counted extends DB {
        private final DB client;
        private final Map<String, Long> statuses = new ConcurrentHashMap<>();

        Counted(DB client, Properties properties) {
            this.client = client;
            client.setProperties(properties);
        }

        private Status count(String operation, Status status) {
            statuses.merge(operation + "=" + status.getName(), 1L, Long::sum);
            return status;
        }

        @Override
        public void init() throws DBException {
            client.init();
        }

        @Override
        public void cleanup() throws DBException {
            client.cleanup();
        }

        @Override
        public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
            return count("READ", client.read(table, key, fields, result));
        }

        @Override
        public Status scan(String table, String startKey, int count, Set<String> fields,
                Vector<HashMap<String, ByteIterator>> result) {
            return count("SCAN", client.scan(table, startKey, count, fields, result));
        }

        @Override
        public Status update(String table, String key, Map<String, ByteIterator> values) {
            return count("UPDATE", client.update(table, key, values));
        }

        @Override
        public Status insert(String table, String key, Map<String, ByteIterator> values) {
            return count("INSERT", client.insert(table, key, values));
        }

        @Override
        public Status delete(String table, String key) {
            return count("DELETE", client.delete(table, key));
        }
    }
}

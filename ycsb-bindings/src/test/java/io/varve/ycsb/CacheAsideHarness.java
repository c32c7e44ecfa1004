package io.varve.ycsb;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.varve.ycsb.database.CacheAsideSummary;
import io.varve.ycsb.option.Side;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The client between two databases in memory and a cache that tests inspect. Confined to the test's thread, except
 * where a test says otherwise.
 */
abstract class CacheAsideHarness {

    static final String LOCAL_KEY = keyOf(Side.LOCAL, 0);
    static final String REMOTE_KEY = keyOf(Side.REMOTE, 0);
    static final String LOCAL_URL = "jdbc:h2:mem:cache-aside-local;DB_CLOSE_DELAY=-1";
    static final String REMOTE_URL = "jdbc:h2:mem:cache-aside-remote;DB_CLOSE_DELAY=-1";

    final MapCache cache = new MapCache();
    final List<CacheAsideClient> clients = new ArrayList<>();
    /** Actions that run while an answer is delayed, one each time, in the waiting thread. */
    final Deque<Runnable> duringDelays = new ArrayDeque<>();
    final List<Long> delays = new ArrayList<>();

    @BeforeEach
    void load() throws DBException {
        CacheAsideClient loader = client("dotransactions", "false");
        for (String key : List.of(LOCAL_KEY, REMOTE_KEY)) {
            assertThat(loader.insert("usertable", key, values("field0", "old", "field1", "rest"))).isEqualTo(Status.OK);
        }
        cleanUp();
        assertThat(delays).as("of the load phase").isEmpty();
    }

    @AfterEach
    void dropDatabases() throws DBException, SQLException {
        cleanUp();
        for (String url : List.of(LOCAL_URL, REMOTE_URL)) {
            execute(url, "SHUTDOWN");
        }
    }

    long delayed(long nanos) {
        delays.add(nanos);
        Runnable hook = duringDelays.poll();
        if (hook != null) {
            hook.run();
        }
        return nanos + TimeUnit.MICROSECONDS.toNanos(1);
    }

    void write(CacheAsideClient client, String operation, String key) {
        Status status = switch (operation) {
            case "insert" -> client.insert("usertable", key, values("field0", "new"));
            case "update" -> client.update("usertable", key, values("field0", "new"));
            default -> client.delete("usertable", key);
        };
        assertThat(status).isEqualTo(Status.OK);
    }

    /** The record that a reader finds after an operation. */
    static @Nullable Map<String, String> after(String operation) {
        return switch (operation) {
            case "insert" -> Map.of("field0", "new");
            case "update" -> Map.of("field0", "new", "field1", "rest");
            default -> null;
        };
    }

    static CacheAsideSummary summary() {
        CacheAsideSummary summary = CacheAsideClient.summary();
        assertThat(summary).isNotNull();
        return Objects.requireNonNull(summary);
    }

    void cleanUp() throws DBException {
        for (CacheAsideClient client : clients) {
            client.cleanup();
        }
        clients.clear();
    }

    CacheAsideClient client(String... namesAndValues) throws DBException {
        return client(properties(namesAndValues));
    }

    CacheAsideClient client(Properties properties) throws DBException {
        CacheAsideClient client = new CacheAsideClient((options, thread) -> cache, () -> this::delayed);
        clients.add(client);
        client.setProperties(properties);
        client.init();
        return client;
    }

    static Properties properties(String... namesAndValues) {
        Properties properties = new Properties();
        properties.setProperty("fieldcount", "2");
        properties.setProperty("varve.db.local.url", LOCAL_URL);
        properties.setProperty("varve.db.remote.url", REMOTE_URL);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        return properties;
    }

    static Map<String, ByteIterator> values(String... namesAndValues) {
        Map<String, ByteIterator> values = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i], new StringByteIterator(namesAndValues[i + 1]));
        }
        return values;
    }

    static @Nullable Map<String, String> read(CacheAsideClient client, String key,
            @Nullable Set<String> fields) {
        Map<String, ByteIterator> result = new HashMap<>();
        Status status = client.read("usertable", key, fields, result);
        if (status.equals(Status.NOT_FOUND)) {
            assertThat(result).isEmpty();
            return null;
        }
        assertThat(status).isEqualTo(Status.OK);
        return StringByteIterator.getStringMap(result);
    }

    static String reported(Runnable action) {
        PrintStream standardError = System.err;
        ByteArrayOutputStream reported = new ByteArrayOutputStream();
        System.setErr(new PrintStream(reported, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(standardError);
        }
        return reported.toString(StandardCharsets.UTF_8);
    }

    static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static long count(String url, String from) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + from)) {
            assertThat(rows.next()).isTrue();
            return rows.getLong(1);
        }
    }

    /** The n-th key of a side. */
    static String keyOf(Side side, int n) {
        int found = 0;
        for (int i = 0;; i++) {
            if (Side.of("user" + i) == side && found++ == n) {
                return "user" + i;
            }
        }
    }
}

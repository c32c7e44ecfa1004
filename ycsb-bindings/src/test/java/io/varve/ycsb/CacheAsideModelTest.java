package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

import io.varve.ycsb.database.CacheAsideSummary;
import io.varve.ycsb.database.PreciseDelay;
import io.varve.ycsb.record.RecordCache;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the guarantee about writes, with concurrent writers and readers on a few keys: no read that begins after a
 * write has returned sees the earlier value, and at the end the cache holds only values of the databases.
 */
class CacheAsideModelTest {

    private static final int KEYS = 6;
    private static final int WRITERS = 2;
    private static final int READERS = 3;
    private static final int WRITES = 1500;
    private static final long SET_NANOS = 200_000;
    private static final List<String> URLS = List.of("jdbc:h2:mem:cache-aside-model-local;DB_CLOSE_DELAY=-1",
            "jdbc:h2:mem:cache-aside-model-remote;DB_CLOSE_DELAY=-1");

    private final MapCache cache = new MapCache();
    private final List<CacheAsideClient> clients = new ArrayList<>();
    /** By key: the version of the last write that has returned. */
    private final AtomicLongArray returned = new AtomicLongArray(KEYS);
    private final AtomicBoolean over = new AtomicBoolean();
    private String fills = "";

    /** A connection to the cache: another thread executes the requests in order, and answers them. */
    private final class Wire implements RecordCache {
        private final ExecutorService server = Executors.newSingleThreadExecutor();

        @Override
        public boolean read(byte[] key, Map<String, ByteIterator> result) {
            return CompletableFuture.supplyAsync(() -> cache.read(key, result), server).join();
        }

        @Override
        public CompletableFuture<Optional<String>> write(byte[] key, Map<String, byte[]> fields, int penaltyClass) {
            return CompletableFuture.supplyAsync(() -> {
                // On its way for longer than a DEL on another connection is.
                LockSupport.parkNanos(SET_NANOS);
                return cache.write(key, fields, penaltyClass).join();
            }, server);
        }

        @Override
        public void remove(byte[] key) {
            CompletableFuture.runAsync(() -> cache.remove(key), server).join();
        }

        @Override
        public void run() {}

        @Override
        public void await(CompletableFuture<?> answer, long millis) {
            cache.await(answer, millis);
        }

        @Override
        public void close() {
            server.shutdown();
        }
    }

    @AfterEach
    void dropDatabases() throws DBException, SQLException {
        for (CacheAsideClient client : clients) {
            client.cleanup();
        }
        for (String url : URLS) {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.execute("SHUTDOWN");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"answered", "sent"})
    @Timeout(60)
    void noReadGoesBackBehindAWriteThatHasReturned(String fill) throws Exception {
        fills = fill;
        CacheAsideClient loader = client("false");
        for (int key = 0; key < KEYS; key++) {
            assertThat(loader.insert("usertable", key(key), version(0))).isEqualTo(Status.OK);
        }
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS + READERS);
        try {
            List<Future<?>> writers = new ArrayList<>();
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                int writer = i;
                CacheAsideClient client = client("true");
                writers.add(threads.submit(() -> write(client, writer)));
            }
            for (int i = 0; i < READERS; i++) {
                SplittableRandom random = new SplittableRandom(i);
                CacheAsideClient client = client("true");
                readers.add(threads.submit(() -> read(client, random)));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
            over.set(true);
            for (Future<?> reader : readers) {
                reader.get();
            }
        } finally {
            over.set(true);
            threads.shutdown();
        }
        // Writes under way are done when their client has ended.
        for (CacheAsideClient client : clients) {
            client.cleanup();
        }
        clients.clear();
        cache.records.forEach((key, record) -> assertThat(number(Objects.requireNonNull(record.get("field0"))))
                .as("of %s in the cache", key)
                .isEqualTo(returned.get(Integer.parseInt(key.substring("user".length())))));
        CacheAsideSummary summary = Objects.requireNonNull(CacheAsideClient.summary());
        assertThat(summary.overtakenFills()).as("the premise: writes overtake fetches").isPositive();
        assertThat(summary.hits()).isPositive();
    }

    /** Every key has one writer, so versions grow. */
    private void write(CacheAsideClient client, int writer) {
        for (int i = 1; i <= WRITES; i++) {
            int key = i * WRITERS % KEYS + writer;
            long version = returned.get(key) + 1;
            assertThat(client.update("usertable", key(key), version(version))).isEqualTo(Status.OK);
            returned.set(key, version);
        }
    }

    private void read(CacheAsideClient client, SplittableRandom random) {
        while (!over.get()) {
            int key = random.nextInt(KEYS);
            long atLeast = returned.get(key);
            Map<String, ByteIterator> result = new HashMap<>();
            assertThat(client.read("usertable", key(key), null, result)).isEqualTo(Status.OK);
            ByteIterator value = Objects.requireNonNull(result.get("field0"));
            assertThat(number(value.toArray())).as("of %s", key(key)).isGreaterThanOrEqualTo(atLeast);
        }
    }

    private CacheAsideClient client(String transactions) throws DBException {
        CacheAsideClient client = new CacheAsideClient((options, thread) -> new Wire(), PreciseDelay::new);
        clients.add(client);
        Properties properties = new Properties();
        properties.setProperty("dotransactions", transactions);
        properties.setProperty("fieldcount", "1");
        properties.setProperty("varve.fill", fills);
        // The longer an answer takes to come back, the more comes between.
        properties.setProperty("varve.db.local.delay-us", "60");
        properties.setProperty("varve.db.remote.delay-us", "60");
        properties.setProperty("varve.db.local.url", URLS.get(0));
        properties.setProperty("varve.db.remote.url", URLS.get(1));
        client.setProperties(properties);
        client.init();
        return client;
    }

    private static String key(int key) {
        return "user" + key;
    }

    private static Map<String, ByteIterator> version(long version) {
        Map<String, ByteIterator> values = new HashMap<>();
        values.put("field0", new StringByteIterator(Long.toString(version)));
        return values;
    }

    private static long number(byte[] value) {
        return Long.parseLong(new String(value, StandardCharsets.US_ASCII));
    }
}

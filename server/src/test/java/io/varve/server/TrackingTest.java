package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests client-side caching over sockets: Varve's own behaviour, and its guarantees under concurrent writes. Several
 * threads.
 */
@Timeout(120)
class TrackingTest {
    private static final int KEYS = 40;
    private static final int WRITERS = 3;
    private static final int READERS = 2;
    private static final int ROUNDS = 300;
    private static final int PHASES = 10;
    private static final int PIPELINE = 8;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 4", "maxmemory 16mb",
            "maxmemory-policy allkeys-random");
    private RawClient reader;
    private RawClient writer;

    @BeforeEach
    void start() throws IOException {
        reader = tracking();
        writer = server.connect();
    }

    @AfterEach
    void nothingStays() throws IOException {
        reader.close();
        await().until(() -> writer.infoLong("tracking_clients") == 0);
        await().until(() -> writer.infoLong("tracking_total_keys") == 0);
        assertThat(writer.infoLong("tracking_total_items")).isZero();
        assertThat(writer.infoLong("tracking_total_prefixes")).isZero();
    }

    private RawClient tracking(String... options) throws IOException {
        RawClient client = new RawClient(server.port());
        client.call("HELLO", "3");
        List<String> command = new ArrayList<>(List.of("CLIENT", "TRACKING", "ON"));
        command.addAll(List.of(options));
        assertThat(client.call(command.toArray(String[]::new)).text()).isEqualTo("OK");
        return client;
    }

    /** The received invalidations, in order. */
    private static List<String> invalidations(RawClient client) throws IOException {
        client.queue("PING");
        client.flush();
        return invalidatedUntilPong(client);
    }

    /** The invalidations received before a key is read or because of the read: either may precede the value. */
    private static List<String> invalidatedWhileReading(RawClient client, String key) throws IOException {
        client.queue("GET", key);
        client.queue("PING");
        client.flush();
        return invalidatedUntilPong(client);
    }

    private static List<String> invalidatedUntilPong(RawClient client) throws IOException {
        List<String> invalidations = new ArrayList<>();
        for (RawReply next = client.read(); next.kind() != '+'; next = client.read()) {
            if (next.kind() == '>') {
                invalidations.add(keyOf(next));
            }
        }
        return invalidations;
    }

    private static String keyOf(RawReply push) {
        assertThat(push.elements().getFirst().text()).isEqualTo("invalidate");
        RawReply keys = push.elements().get(1);
        return keys.elements().isEmpty() ? "everything" : keys.elements().getFirst().text();
    }

    @Test
    void theTableHasALimit() throws IOException {
        writer.call("CONFIG", "SET", "tracking-table-max-keys", "10");
        List<String> invalidations = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            invalidations.addAll(invalidatedWhileReading(reader, "key" + i));
        }
        invalidatedExceptTable(invalidations, 100);
        // Maintenance takes keys out too, and may do so for the same one that is too many.
        assertThat(invalidations).hasSizeBetween(90, 91);
        writer.call("CONFIG", "SET", "tracking-table-max-keys", "3");
        await().until(() -> writer.infoLong("tracking_total_keys") == 3);
        invalidatedExceptTable(invalidations, 100);
        assertThat(invalidations).hasSize(97).doesNotHaveDuplicates();
    }

    /** Waits until the reader has received an invalidation for every key that has left the table. */
    private void invalidatedExceptTable(List<String> invalidations, int keys) {
        await().until(() -> {
            invalidations.addAll(invalidations(reader));
            return invalidations.size() + writer.infoLong("tracking_total_keys") == keys;
        });
    }

    @Test
    void expiredAndEvictedKeysAreInvalidated() throws IOException {
        boolean seen = false;
        while (!seen) {
            writer.call("SET", "short", "life", "PX", "50");
            invalidations(reader);
            seen = !reader.call("GET", "short").isNull();
        }
        assertThat(keyOf(reader.read())).isEqualTo("short");
        for (int i = 0; i < 300; i++) {
            writer.call("SET", "old" + i, "v");
            reader.call("GET", "old" + i);
        }
        assertThat(invalidations(reader)).isEmpty();
        String value = "v".repeat(10_000);
        List<String> invalidations = List.of();
        for (int i = 0; invalidations.isEmpty(); i++) {
            writer.call("SET", "key" + i, value);
            invalidations = invalidations(reader);
        }
        assertThat(invalidations).allMatch(key -> key.startsWith("old"));
        for (String key : invalidations) {
            assertThat(writer.call("EXISTS", key).text()).isEqualTo("0");
        }
    }

    @Test
    void exchangedDatabasesInvalidateEverything() throws IOException {
        reader.call("GET", "k");
        writer.call("SWAPDB", "0", "1");
        assertThat(invalidations(reader)).containsExactly("everything");
        assertThat(writer.infoLong("tracking_total_keys")).isZero();
    }

    @Test
    void disconnectedTrackersAreRemoved() throws IOException {
        try (RawClient second = tracking(); RawClient third = tracking("BCAST", "PREFIX", "a", "PREFIX", "b")) {
            for (int i = 0; i < 100; i++) {
                reader.call("GET", "key" + i);
                second.call("GET", "key" + i % 50);
            }
            assertThat(writer.infoLong("tracking_clients")).isEqualTo(3);
            assertThat(writer.infoLong("tracking_total_keys")).isEqualTo(100);
            assertThat(writer.infoLong("tracking_total_items")).isEqualTo(150);
            assertThat(writer.infoLong("tracking_total_prefixes")).isEqualTo(2);
            assertThat(third.call("CLIENT", "LIST").text()).contains("flags=t ").contains("flags=tB ");
        }
        await().until(() -> writer.infoLong("tracking_total_items") == 100);
        assertThat(writer.infoLong("tracking_total_prefixes")).isZero();
        reader.call("CLIENT", "TRACKING", "OFF");
        await().until(() -> writer.infoLong("tracking_total_keys") == 0);
    }

    /** When all invalidations have arrived, every cached value is current, whatever was written, by whom and when. */
    @Test
    void nothingThatIsCachedIsOld() throws Exception {
        int checked = 0;
        List<RawClient> readers = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(WRITERS + READERS)) {
            for (int i = 0; i < READERS; i++) {
                readers.add(tracking());
            }
            for (int phase = 0; phase < PHASES; phase++) {
                checked += phase(phase, threads, readers);
            }
        } finally {
            for (RawClient client : readers) {
                client.close();
            }
        }
        assertThat(checked).as("values that were cached").isPositive();
    }

    private int phase(long phase, ExecutorService threads, List<RawClient> readers) throws Exception {
        AtomicInteger writing = new AtomicInteger(WRITERS);
        List<Callable<Map<String, String>>> work = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            long seed = phase * WRITERS + i;
            work.add(() -> {
                try {
                    return write(seed);
                } finally {
                    writing.decrementAndGet();
                }
            });
        }
        for (RawClient client : readers) {
            work.add(() -> read(client, writing));
        }
        List<Future<Map<String, String>>> caches = threads.invokeAll(work);
        int checked = 0;
        for (int i = 0; i < WRITERS; i++) {
            assertThat(caches.get(i).get()).isEmpty();
        }
        for (int i = 0; i < READERS; i++) {
            Map<String, String> cache = caches.get(WRITERS + i).get();
            take(readers.get(i), cache, List.of("PING"));
            checked += cache.size();
            for (Map.Entry<String, String> cached : cache.entrySet()) {
                assertThat(valueOf(writer.call("GET", cached.getKey()))).as(cached.getKey())
                        .isEqualTo(cached.getValue());
            }
        }
        return checked;
    }

    private static String valueOf(RawReply reply) {
        return reply.isNull() ? "nothing" : reply.text();
    }

    private Map<String, String> write(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        try (RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < ROUNDS; i++) {
                String key = "key" + random.nextInt(KEYS);
                switch (random.nextInt(12)) {
                    case 0 -> client.call("DEL", key);
                    case 1 -> client.call("MSET", key, "m" + i, "key" + random.nextInt(KEYS), "m" + i);
                    case 2 -> {
                        client.call("MULTI");
                        client.call("SET", key, "t" + i);
                        client.call("DEL", "key" + random.nextInt(KEYS));
                        client.call("EXEC");
                    }
                    case 3 -> client.call(i % 100 == 0 ? "FLUSHALL" : "PING");
                    default -> client.call("SET", key, seed + "." + i);
                }
            }
        }
        return Map.of();
    }

    private static Map<String, String> read(RawClient client, AtomicInteger writing) throws IOException {
        SplittableRandom random = new SplittableRandom();
        Map<String, String> cache = new HashMap<>();
        while (writing.get() > 0) {
            List<String> requested = new ArrayList<>();
            for (int j = 0; j < PIPELINE; j++) {
                requested.add("key" + random.nextInt(KEYS));
            }
            take(client, cache, requested);
        }
        return cache;
    }

    /** Asks for keys in one piece, and takes in whatever comes, in its order. */
    private static void take(RawClient client, Map<String, String> cache, List<String> requested) throws IOException {
        for (String key : requested) {
            if (key.equals("PING")) {
                client.queue(key);
            } else {
                client.queue("GET", key);
            }
        }
        client.flush();
        for (int answered = 0; answered < requested.size();) {
            RawReply next = client.read();
            if (next.kind() != '>') {
                String key = requested.get(answered++);
                if (!key.equals("PING")) {
                    cache.put(key, valueOf(next));
                }
            } else if (keyOf(next).equals("everything")) {
                cache.clear();
            } else {
                cache.remove(keyOf(next));
            }
        }
    }
}

package io.varve.server.flash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests a server whose data set is several times its memory, with the rest on flash: clients see one map. */
class FlashTierIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String VALUE = "v".repeat(1000);
    /** Items of a thousand bytes, four times what memory holds. */
    private static final int KEYS = 30_000;
    private static final int PIPELINE = 100;
    private static final int CLIENTS = 4;
    private static final int STEPS = TestBudget.ofInt("varve.flash.steps", 12_000, 25_000);

    @TempDir
    Path directory;

    private ServerConfig config(String... more) {
        ServerConfig config = ServerExtension.config("maxmemory 8mb", "shards 4", "segment-size 32kb",
                "maxmemory-policy allkeys-lru", "flash-dir " + directory.toString(), "flash-max-items 200000",
                "flash-queue-size 128mb");
        for (int i = 0; i < more.length; i += 2) {
            config = config.with(more[i], more[i + 1]);
        }
        return config;
    }

    /** The keys of all commands of a transaction come up before the first of them runs. */
    @Test
    void aTransactionFindsWhatIsOnFlash() throws IOException {
        try (VarveServer server = servers.start(config("port", "0"));
                RawClient client = new RawClient(server.port())) {
            client.setKeys("k", KEYS, VALUE);
            SplittableRandom random = new SplittableRandom(5);
            for (int round = 0; round < 50; round++) {
                client.queue("MULTI");
                List<Integer> requested = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    int number = random.nextInt(KEYS);
                    requested.add(number);
                    client.queue(i % 2 == 0 ? "GET" : "STRLEN", "k" + number);
                }
                client.queue("EXEC");
                client.flush();
                for (int i = 0; i <= requested.size(); i++) {
                    assertThat(client.read().isError()).isFalse();
                }
                List<RawReply> replies = client.read().elements();
                for (int i = 0; i < requested.size(); i++) {
                    String value = VALUE + requested.get(i);
                    assertThat(replies.get(i).text())
                            .isEqualTo(i % 2 == 0 ? value : Integer.toString(value.length()));
                }
            }
            assertThat(client.infoLong("flash_promotions")).isGreaterThan(100);
        }
    }

    @Test
    void everyCommandFindsKeysOnFlash() throws IOException {
        try (VarveServer server = servers.start(config());
                RawClient client = new RawClient(server.port())) {
            client.call("SET", "text", "value", "EX", "10000");
            client.call("SET", "number", "41");
            client.call("HSET", "hash", "field", "one", "other", "two");
            client.call("SET", "moved", "away");
            client.call("SET", "copied", "over");
            client.call("SELECT", "3");
            client.call("SET", "copied", "old of 3");
            client.call("SET", "moved", "stays");
            client.call("SELECT", "0");
            client.setKeys("key:", KEYS, VALUE);
            assertThat(client.infoLong("flash_written")).isGreaterThan(KEYS / 2);
            assertThat(client.infoLong("flash_shed")).isZero();

            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS + 5);
            assertThat(client.call("EXISTS", "text", "number", "hash", "nothing").integer()).isEqualTo(3);
            assertThat(client.call("TYPE", "hash").text()).isEqualTo("hash");
            assertThat(client.call("TTL", "text").integer()).isBetween(9900L, 10_000L);
            assertThat(client.call("GET", "text").text()).isEqualTo("value");
            assertThat(client.call("INCR", "number").integer()).isEqualTo(42);
            assertThat(client.call("HGET", "hash", "other").text()).isEqualTo("two");
            assertThat(client.call("HSET", "hash", "third", "three").integer()).isOne();
            assertThat(client.call("COPY", "copied", "copied", "DB", "3").integer()).isZero();
            assertThat(client.call("MOVE", "moved", "3").integer()).isZero();
            assertThat(client.call("COPY", "copied", "copied", "DB", "3", "REPLACE").integer()).isOne();
            assertThat(client.call("RENAME", "key:7", "key:8").text()).isEqualTo("OK");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS + 4);
            assertThat(client.call("GET", "key:8").text()).isEqualTo(VALUE + 7);
            assertThat(client.call("GET", "key:7").isNull()).isTrue();
            assertThat(client.call("DEL", "key:1", "key:2", "key:7").integer()).isEqualTo(2);
            assertThat(client.call("MGET", "key:3", "key:1", "key:4").elements())
                    .extracting(RawReply::text).containsExactly(VALUE + 3, "-1 (null)", VALUE + 4);
            assertThat(client.call("SET", "key:5", "new", "GET").text()).isEqualTo(VALUE + 5);
            assertThat(client.call("SET", "key:6", "new", "NX").isNull()).isTrue();
            assertThat(client.call("EXPIRE", "key:9", "100").integer()).isOne();
            assertThat(client.call("APPEND", "key:10", "!").integer()).isEqualTo(VALUE.length() + 3);
            client.call("SELECT", "3");
            assertThat(client.call("GET", "copied").text()).isEqualTo("over");
            assertThat(client.call("GET", "moved").text()).isEqualTo("stays");
        }
    }

    /** Those on flash make a batch wait, those in memory do not overtake them. */
    @Test
    void repliesComeInOrder() throws IOException {
        try (VarveServer server = servers.start(config());
                RawClient client = new RawClient(server.port())) {
            client.setKeys("key:", KEYS, VALUE);
            SplittableRandom random = new SplittableRandom(4);
            for (int round = 0; round < 50; round++) {
                List<Integer> requested = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    int number = random.nextInt(KEYS + 100);
                    requested.add(number);
                    client.queue("GET", "key:" + number);
                }
                client.flush();
                for (int number : requested) {
                    assertThat(client.read().text()).isEqualTo(number < KEYS ? VALUE + number : "-1 (null)");
                }
            }
            assertThat(client.infoLong("flash_promotions")).isGreaterThan(1000);
        }
    }

    /** Each client has keys of its own, and knows what they are; all share memory and flash. */
    @Test
    void clientsSeeOneMapDuringDemotionAndPromotion() throws Exception {
        try (VarveServer server = servers.start(config("io-threads", "2"));
                ExecutorService pool = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<Boolean>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                clients.add(pool.submit((Callable<Boolean>) () -> ownKeys(server.port(), number)));
            }
            for (Future<Boolean> client : clients) {
                assertThat(client.get(5, TimeUnit.MINUTES)).isTrue();
            }
            try (RawClient client = new RawClient(server.port())) {
                assertThat(client.infoLong("flash_shed")).isZero();
                assertThat(client.infoLong("flash_promotions")).isGreaterThan(1000);
                assertThat(client.infoLong("flash_given_up")).isZero();
            }
        }
    }

    private static boolean ownKeys(int port, int number) throws IOException {
        SplittableRandom random = new SplittableRandom(number);
        Map<String, String> model = new HashMap<>();
        try (RawClient client = new RawClient(port)) {
            for (int step = 0; step < STEPS; step++) {
                String key = "client " + number + " key " + random.nextInt(KEYS / CLIENTS);
                String known = model.get(key);
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> {
                        model.put(key, VALUE + step);
                        assertThat(client.call("SET", key, VALUE + step).text()).isEqualTo("OK");
                    }
                    case 3 -> {
                        assertThat(client.call("DEL", key).integer()).isEqualTo(known == null ? 0 : 1);
                        model.remove(key);
                    }
                    case 4 -> {
                        String longer = (known == null ? "" : known) + "+";
                        assertThat(client.call("APPEND", key, "+").integer()).isEqualTo(longer.length());
                        model.put(key, longer);
                    }
                    case 5 -> {
                        String other = "client " + number + " key " + random.nextInt(KEYS / CLIENTS);
                        assertThat(client.call("MGET", key, other).elements()).extracting(RawReply::text)
                                .containsExactly(orNull(known), orNull(model.get(other)));
                    }
                    default -> assertThat(client.call("GET", key).text()).as("step %d", step).isEqualTo(orNull(known));
                }
            }
            for (Map.Entry<String, String> entry : new TreeMap<>(model).entrySet()) {
                assertThat(client.call("GET", entry.getKey()).text()).isEqualTo(entry.getValue());
            }
        }
        return true;
    }

    private static String orNull(@Nullable String text) {
        return text == null ? "-1 (null)" : text;
    }

    /**
     * A key that is present throughout a scan is visited, though other clients have it fetched and demoted meanwhile.
     */
    @Test
    void aWalkMeetsWhatIsThereAllTheTime() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (VarveServer server = servers.start(config("io-threads", "2"));
                ExecutorService pool = Executors.newSingleThreadExecutor();
                RawClient client = new RawClient(server.port())) {
            client.setKeys("key:", KEYS, VALUE);
            client.call("SELECT", "1");
            client.call("SET", "elsewhere", "x");
            client.call("SELECT", "0");
            Future<Boolean> churn = pool.submit(() -> {
                SplittableRandom random = new SplittableRandom(8);
                try (RawClient other = new RawClient(server.port())) {
                    while (!stop.get()) {
                        int number = random.nextInt(KEYS);
                        assertThat(other.call("GET", "key:" + number).text()).isEqualTo(VALUE + number);
                    }
                }
                return true;
            });
            try {
                for (String count : List.of("10", "700")) {
                    Set<String> met = new HashSet<>();
                    int replies = 0;
                    int elements = 0;
                    String cursor = "0";
                    do {
                        RawReply reply = client.call("SCAN", cursor, "COUNT", count);
                        cursor = reply.elements().getFirst().text();
                        reply.elements().getLast().elements().forEach(key -> met.add(key.text()));
                        elements += reply.elements().getLast().elements().size();
                        replies++;
                    } while (!cursor.equals("0"));
                    assertThat(met).hasSize(KEYS).doesNotContain("elsewhere");
                    assertThat((double) elements / replies).as("keys in a reply").isBetween(
                            Integer.parseInt(count) / 3.0,
                            Integer.parseInt(count) * 4.0);
                }
            } finally {
                stop.set(true);
            }
            assertThat(churn.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(client.call("KEYS", "key:12?4").elements()).hasSize(10);
            assertThat(client.call("KEYS", "*").elements()).hasSize(KEYS);
            assertThat(client.call("SCAN", "0", "TYPE", "hash", "COUNT", "100000").elements().getLast().elements())
                    .isEmpty();
            assertThat(client.call("RANDOMKEY").text()).startsWith("key:");
            client.call("SELECT", "1");
            assertThat(client.call("KEYS", "*").elements()).extracting(RawReply::text).containsExactly("elsewhere");
            assertThat(client.call("RANDOMKEY").text()).isEqualTo("elsewhere");
        }
    }

    @Test
    void emptiedAndExchangedInBothTiers() throws IOException {
        try (VarveServer server = servers.start(config());
                RawClient client = new RawClient(server.port())) {
            client.setKeys("key:", KEYS, VALUE);
            client.call("SELECT", "1");
            client.setKeys("one:", 1000, VALUE);
            assertThat(client.call("SWAPDB", "0", "1").text()).isEqualTo("OK");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS);
            assertThat(client.call("GET", "key:11").text()).isEqualTo(VALUE + 11);
            // Pipelined: nothing behind it runs before it.
            client.queue("FLUSHDB");
            client.queue("GET", "key:12");
            client.queue("SET", "key:13", "new");
            client.queue("DBSIZE");
            client.flush();
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().isNull()).isTrue();
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().integer()).isOne();
            client.call("SELECT", "0");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(1000);
            assertThat(client.call("FLUSHALL").text()).isEqualTo("OK");
            assertThat(client.call("DBSIZE").integer()).isZero();
            assertThat(client.call("GET", "one:1").isNull()).isTrue();
        }
    }

    @Test
    void itRestartsWarm() throws IOException {
        try (VarveServer server = servers.start(config());
                RawClient client = new RawClient(server.port())) {
            client.call("HSET", "hash", "field", "value");
            client.call("SET", "gone soon", "value", "PX", "1");
            client.setKeys("key:", KEYS, VALUE);
        }
        try (VarveServer server = servers.start(config());
                RawClient client = new RawClient(server.port())) {
            long kept = client.call("DBSIZE").integer();
            assertThat(kept).as("all that memory did not hold").isBetween((long) KEYS / 2, (long) KEYS);
            assertThat(client.call("HGET", "hash", "field").text()).isEqualTo("value");
            assertThat(client.call("EXISTS", "gone soon").integer()).isZero();
            int there = 0;
            for (int from = 0; from < KEYS; from += PIPELINE) {
                for (int i = from; i < from + PIPELINE; i++) {
                    client.queue("GET", "key:" + i);
                }
                client.flush();
                for (int i = from; i < from + PIPELINE; i++) {
                    RawReply reply = client.read();
                    if (!reply.isNull()) {
                        assertThat(reply.text()).isEqualTo(VALUE + i);
                        there++;
                    }
                }
            }
            assertThat(there).isGreaterThan(KEYS / 2);
        }
    }
}

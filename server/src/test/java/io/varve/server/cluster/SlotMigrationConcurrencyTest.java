package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that clients see no migration: each key has one writer, which knows what each reply must be, whichever member
 * gives it. The writers and a reader run on threads of their own.
 */
class SlotMigrationConcurrencyTest {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final int WRITERS = 3;
    private static final int KEYS = 60;
    private static final SlotRange MOVING = new SlotRange(0, 511);

    /** Watches the log for errors and leaks. */
    @RegisterExtension
    static final ServerExtension log = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    private volatile boolean stopped;
    private final AtomicLong commands = new AtomicLong();

    /** What one key must be. Confined to its writer. */
    private static final class Expected {
        private final String counter;
        private final String list;
        private final String text;
        private long count;
        private long pushed;
        private String value = "";

        Expected(String tag) {
            counter = "c" + tag;
            list = "l" + tag;
            text = "t" + tag;
        }
    }

    /** Checks each reply. */
    private final class Writer {
        private final FollowingClient client;
        private final Random random;
        private final List<Expected> keys = new ArrayList<>();

        Writer(int port, int number, long seed) {
            client = new FollowingClient(port);
            random = new Random(seed + number);
            for (int i = 0; keys.size() < KEYS; i++) {
                String tag = number + "." + i;
                // Half of the keys stay.
                if (keys.size() % 2 == 0 || HashSlot.of(tag.getBytes(UTF_8)) <= MOVING.last()) {
                    keys.add(new Expected("{" + tag + '}'));
                }
            }
        }

        List<Expected> run() throws IOException {
            try (client) {
                while (!stopped) {
                    step(keys.get(random.nextInt(KEYS)));
                    commands.incrementAndGet();
                }
                for (Expected key : keys) {
                    assertThat(call(key.counter, "INCRBY", "0").integer()).isEqualTo(key.count);
                    assertThat(call(key.list, "LLEN").integer()).isEqualTo(key.pushed);
                    checkText(key);
                }
            }
            return keys;
        }

        private RawReply call(String key, String command, String... arguments) throws IOException {
            List<String> words = new ArrayList<>(List.of(command, key));
            words.addAll(List.of(arguments));
            RawReply reply = client.call(key, words.toArray(String[]::new));
            assertThat(reply.isError()).as(words + ": " + reply).isFalse();
            return reply;
        }

        private void checkText(Expected key) throws IOException {
            RawReply reply = call(key.text, "GET");
            assertThat(reply.isNull() ? "" : reply.text()).as(key.text).isEqualTo(key.value);
        }

        private void step(Expected key) throws IOException {
            switch (random.nextInt(8)) {
                case 0, 1 -> assertThat(call(key.counter, "INCR").integer()).as(key.counter).isEqualTo(++key.count);
                case 2 -> assertThat(call(key.list, "RPUSH", "e" + key.pushed).integer()).isEqualTo(++key.pushed);
                case 3 -> {
                    key.value = "v" + random.nextInt(1000);
                    assertThat(call(key.text, "SET", key.value).text()).isEqualTo("OK");
                }
                case 4 -> {
                    assertThat(call(key.text, "DEL").integer()).as(key.text).isEqualTo(key.value.isEmpty() ? 0 : 1);
                    key.value = "";
                }
                case 5 -> assertThat(call(key.text, "PEXPIRE", "10000000").integer())
                        .isEqualTo(key.value.isEmpty() ? 0 : 1);
                case 6 -> {
                    if (key.pushed > 0) {
                        assertThat(call(key.list, "LINDEX", "-1").text()).isEqualTo("e" + (key.pushed - 1));
                    }
                }
                default -> checkText(key);
            }
        }
    }

    @Test
    void repliesAreThoseOfOneServer() throws Exception {
        long seed = TestBudget.seed("varve.migration.seed");
        int rounds = TestBudget.ofInt("varve.migration.rounds", 4, 60);
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 1, "shards 64", "io-threads 2");
                ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
            await().atMost(WITHIN).until(() -> cluster.call(1, "INFO", "replication").text().contains("state=online"));
            List<Future<List<Expected>>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                Writer writer = new Writer(cluster.port(0), i, seed);
                writers.add(threads.submit(writer::run));
            }
            try {
                move(cluster, rounds, new Random(seed), writers);
            } finally {
                stopped = true;
            }
            long keys = 0;
            for (Future<List<Expected>> writer : writers) {
                for (Expected key : writer.get()) {
                    keys += (key.count > 0 ? 1 : 0) + (key.pushed > 0 ? 1 : 0) + (key.value.isEmpty() ? 0 : 1);
                }
            }
            // INCRBY 0 has made the counters that there were not yet.
            long expected = keys;
            await().atMost(WITHIN).untilAsserted(() -> {
                assertThat(cluster.keys(0) + cluster.keys(1)).isBetween(expected, expected + WRITERS * KEYS);
                assertThat(cluster.keys(2)).isEqualTo(cluster.keys(1));
            });
            for (int member = 0; member < 2; member++) {
                System.out.println("SlotMigrationConcurrencyTest, member " + member + ": " + cluster.holds(member)
                        + ", " + commands.get() + " commands");
            }
        }
    }

    private void move(ControlledCluster cluster, int rounds, Random random, List<Future<List<Expected>>> writers) {
        for (int round = 0; round < rounds; round++) {
            long begun = commands.get();
            await().atMost(WITHIN).until(() -> commands.get() > begun + 1000
                    || writers.stream().anyMatch(Future::isDone));
            cluster.gate(() -> random.nextInt(4) > 0);
            cluster.beginMigration(MOVING, 1 - round % 2);
            await().atMost(WITHIN).until(() -> !cluster.hasMigrations()
                    || writers.stream().anyMatch(Future::isDone));
        }
    }
}

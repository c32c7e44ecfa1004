package io.varve.server.concurrency;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Runs SCAN, HSCAN, SSCAN and ZSCAN while clients of other event loops write: elements that exist throughout are
 * returned, elements that never existed are not. Each client is confined to its thread.
 *
 * <p>One writer adds several times the permanent elements and removes them again, in tides. Another overwrites half of
 * the permanent ones, and adds and removes a few of its own. Each scan pauses until the tide has turned, so that it
 * spans a doubling or a halving whatever the threads' speed.
 */
@Timeout(120)
class ScanConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** Number of elements that stay unchanged, and of others that are overwritten. */
    private static final int STAYING = 1_500;
    private static final int COMING = 24_000;
    /** In another database. */
    private static final int ELSEWHERE = 500;
    private static final int BATCH = 500;
    private static final int SCANNERS = 2;
    /** For every one a scan by each scanner, of which it is COUNT. */
    private static final int[] COUNTS = {10, 1000, 100};
    /** How often a scan stops until the tide has turned. */
    private static final int STOPS = 2;
    /** The tables at high tide, and at low tide, as multiples of those for what stays: a doubling apart at least. */
    private static final int HIGH = 5;
    private static final int LOW = 2;
    private static final Pattern KNOWN = Pattern.compile("(still|rewritten|coming|own)\\d+");

    /**
     * The scanned keyspace: the keys of a database, or one key's elements; and the commands that add, overwrite and
     * remove.
     */
    enum Scanned {
        KEYS("SCAN", "MSET", "DEL", 1, true), FIELDS("HSCAN h", "HSET h", "HDEL h", 2, true), MEMBERS("SSCAN s",
                "SADD s", "SREM s", 1, false), SCORED("ZSCAN z", "ZADD z", "ZREM z", 2, true);

        private final String scan;
        private final String add;
        private final String remove;
        /** Words that a scan answers for each. */
        private final int answered;
        /** Whether each has a value beside its name. */
        private final boolean valued;

        Scanned(String scan, String add, String remove, int answered, boolean valued) {
            this.scan = scan;
            this.add = add;
            this.remove = remove;
            this.answered = answered;
            this.valued = valued;
        }

        /** @return the command that writes some names, with a value as long as a number says */
        String[] adding(List<String> names, int value) {
            List<String> words = words(add);
            for (String name : names) {
                if (this == SCORED) {
                    words.add(Integer.toString(value));
                }
                words.add(name);
                if (valued && this != SCORED) {
                    words.add("v".repeat(value));
                }
            }
            return words.toArray(String[]::new);
        }

        String[] removing(List<String> names) {
            List<String> words = words(remove);
            words.addAll(names);
            return words.toArray(String[]::new);
        }

        String[] scanning(String cursor, int count) {
            List<String> words = words(scan);
            words.addAll(List.of(cursor, "COUNT", Integer.toString(count)));
            return words.toArray(String[]::new);
        }

        private static List<String> words(String text) {
            return new ArrayList<>(List.of(text.split(" ")));
        }
    }

    /** How far the tide has come: a phase for each turn, which scanners wait for. */
    private final Phaser tide = new Phaser(1);
    private final AtomicInteger scanning = new AtomicInteger(SCANNERS);

    @ParameterizedTest
    @EnumSource
    void scanReturnsAllStableKeysAndOnlyExistingOnes(Scanned what) throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("ScanConcurrencyTest " + what + " seed " + seed);
        ServerConfig config = ServerExtension.config("maxmemory 128mb", "io-threads 2", "shards 2");
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer server = servers.start(config, cache);
                RawClient client = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(SCANNERS + 2)) {
            client.call("SELECT", "1");
            write(client, what, names("elsewhere", 0, ELSEWHERE), 1);
            client.call("SELECT", "0");
            write(client, what, names("gone", 0, STAYING), 1);
            remove(client, what, names("gone", 0, STAYING));
            write(client, what, names("still", 0, STAYING), 3);
            write(client, what, names("rewritten", 0, STAYING), 3);
            long staying = indexBytes(client);
            List<Future<Void>> done = new ArrayList<>();
            for (int i = 0; i < SCANNERS; i++) {
                done.add(threads.submit(() -> scan(server.port(), what)));
            }
            done.add(threads.submit(() -> ebbAndFlow(server.port(), what, staying)));
            done.add(threads.submit(() -> rewrite(server.port(), what, new SplittableRandom(seed))));
            for (Future<Void> each : done) {
                each.get();
            }
            assertThat(tide.getPhase() & Integer.MAX_VALUE).as("turns of the tide")
                    .isGreaterThanOrEqualTo(STOPS * COUNTS.length);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    private static List<String> names(String prefix, int from, int to) {
        List<String> names = new ArrayList<>(to - from);
        for (int i = from; i < to; i++) {
            names.add(prefix + i);
        }
        return names;
    }

    private static void write(RawClient client, Scanned what, List<String> names, int value) throws IOException {
        for (int i = 0; i < names.size(); i += BATCH) {
            RawReply reply = client.call(what.adding(names.subList(i, Math.min(names.size(), i + BATCH)), value));
            assertThat(reply.isError()).as(reply.toString()).isFalse();
        }
    }

    private static void remove(RawClient client, Scanned what, List<String> names) throws IOException {
        for (int i = 0; i < names.size(); i += BATCH) {
            List<String> some = names.subList(i, Math.min(names.size(), i + BATCH));
            assertThat(client.call(what.removing(some)).integer()).isEqualTo(some.size());
        }
    }

    private static ConditionFactory untilTables() {
        return await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
    }

    /** The size of the tables, at a time when none is being replaced. */
    private static long indexBytes(RawClient client) throws IOException {
        untilTables().until(() -> client.info("index_rehash_in_progress").equals("0"));
        return client.infoLong("index_bytes");
    }

    /** Adds much and takes it out again, each time until the tables have followed, while anybody scans. */
    private Void ebbAndFlow(int port, Scanned what, long staying) throws IOException {
        List<String> names = names("coming", 0, COMING);
        try (RawClient client = new RawClient(port)) {
            while (scanning.get() > 0) {
                write(client, what, names, 2);
                if (what == Scanned.KEYS) {
                    untilTables().until(() -> indexBytes(client) >= HIGH * staying);
                }
                tide.arrive();
                remove(client, what, names);
                if (what == Scanned.KEYS) {
                    untilTables().until(() -> indexBytes(client) <= LOW * staying);
                }
                tide.arrive();
            }
        } finally {
            // No thread waits for one that has failed.
            tide.forceTermination();
        }
        return null;
    }

    /** Writes over what stays, in other lengths, and has names of its own come and go. */
    private Void rewrite(int port, Scanned what, SplittableRandom random) throws IOException {
        try (RawClient client = new RawClient(port)) {
            while (scanning.get() > 0) {
                int some = random.nextInt(STAYING);
                write(client, what, names("rewritten", some, Math.min(STAYING, some + 20)), random.nextInt(1, 40));
                write(client, what, names("own", some, some + 3), 1);
                remove(client, what, names("own", some, some + 3));
            }
        }
        return null;
    }

    private Void scan(int port, Scanned what) throws IOException {
        try (RawClient client = new RawClient(port)) {
            for (int count : COUNTS) {
                assertThatAllWasMet(what, count, scanOnce(client, what, count));
            }
        } finally {
            scanning.decrementAndGet();
        }
        return null;
    }

    /** @return how often each name was met */
    private Map<String, Integer> scanOnce(RawClient client, Scanned what, int count) throws IOException {
        Map<String, Integer> met = new HashMap<>();
        int stops = 0;
        int phase = tide.getPhase();
        String cursor = "0";
        do {
            List<RawReply> reply = client.call(what.scanning(cursor, count)).elements();
            cursor = reply.get(0).text();
            List<RawReply> elements = reply.get(1).elements();
            for (int i = 0; i < elements.size(); i += what.answered) {
                met.merge(elements.get(i).text(), 1, Integer::sum);
            }
            // After as many names as a third of what stays, and two thirds.
            if (stops < STOPS && met.size() > (stops + 1) * 2 * STAYING / (STOPS + 1)) {
                tide.awaitAdvance(phase);
                phase = tide.getPhase();
                stops++;
            }
        } while (!cursor.equals("0"));
        return met;
    }

    private static void assertThatAllWasMet(Scanned what, int count, Map<String, Integer> met) {
        for (String name : names("still", 0, STAYING)) {
            assertThat(met.get(name)).as("%s COUNT %s: how often %s was met", what, count, name).isEqualTo(1);
        }
        for (String name : names("rewritten", 0, STAYING)) {
            assertThat(met).as("%s COUNT %s: what was met", what, count).containsKey(name);
        }
        assertThat(met.keySet()).as("%s COUNT %s: what was met", what, count)
                .allMatch(name -> KNOWN.matcher(name).matches());
    }
}

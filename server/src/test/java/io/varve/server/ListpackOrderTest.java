package io.varve.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.server.config.ServerConfig;
import io.varve.server.rdb.Payloads;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a hash or a set that OBJECT ENCODING reports as a listpack keeps insertion order, as far as Redis's own
 * limits are raised, and so does a value restored from an old payload. Confined to the test's thread.
 */
class ListpackOrderTest {
    private static final String BILLION = "1000000000";
    private static final int STEPS = 600;

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 128mb");

    private RawClient redis;
    private RawClient client;

    @BeforeEach
    void empty() throws IOException {
        redis = new RawClient(varve.reference().port());
        client = new RawClient(varve.port());
        for (RawClient each : List.of(redis, client)) {
            each.call("FLUSHALL");
            limits(each, "512", "64");
        }
        client.call("CONFIG", "SET", "set-max-listpack-entries", "128", "set-max-listpack-value", "64");
    }

    private static void limits(RawClient each, String entries, String value) throws IOException {
        assertThat(each.call("CONFIG", "SET", "hash-max-listpack-entries", entries).text()).isEqualTo("OK");
        assertThat(each.call("CONFIG", "SET", "hash-max-listpack-value", value).text()).isEqualTo("OK");
    }

    private RawReply same(String... command) throws IOException {
        RawReply expected = redis.call(command);
        RawReply actual = client.call(command);
        assertThat(actual).as(command[0] + " " + command[1]).isEqualTo(expected);
        return actual;
    }

    /** A short name or value, mostly. */
    private static String text(SplittableRandom random) {
        int bytes = random.nextInt(20) == 0 ? random.nextInt(9000) : random.nextInt(80);
        return random.nextInt(100_000) + "x".repeat(bytes);
    }

    // --- raised limits

    @Test
    void hgetall_limitsOfABillion_isInInsertionOrder() throws IOException {
        for (RawClient each : List.of(redis, client)) {
            limits(each, BILLION, BILLION);
        }
        same("HSET", "k", "ZIP_INT_8B", "127", "ZIP_INT_64B", "9223372036854775808");
        same("HSET", "k", "ZIP_STR_06B", "x".repeat(31));
        same("HSET", "k", "ZIP_STR_14B", "x".repeat(8191));
        same("HSET", "k", "ZIP_STR_32B", "x".repeat(65535), "last", "1");
        same("HGETALL", "k");
        same("OBJECT", "ENCODING", "k");
        String payload = redis.call("DUMP", "k").text();
        same("RESTORE", "kk", "0", payload);
        same("HGETALL", "kk");
        same("COPY", "kk", "kkk");
        same("HKEYS", "kkk");
        assertThat(same("HDEL", "kk", "ZIP_STR_32B").integer()).isEqualTo(1);
        same("HSET", "kk", "ZIP_INT_8B", "x".repeat(100_000));
        same("HGETALL", "kk");
    }

    @Test
    void hgetall_afterRandomCommands_isInTheOrderOfRedis() throws IOException {
        long seed = TestBudget.seed("varve.differential.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (String[] limits : new String[][] {{BILLION, BILLION}, {"600", "64"}, {"512", "100000"}}) {
            for (RawClient each : List.of(redis, client)) {
                each.call("FLUSHALL");
                limits(each, limits[0], limits[1]);
            }
            for (int i = 0; i < STEPS; i++) {
                String field = random.nextInt(400) + "f";
                switch (random.nextInt(6)) {
                    case 0 -> same("HDEL", "h", field, random.nextInt(400) + "f");
                    case 1 -> same("HSETNX", "h", field, text(random));
                    case 2 -> same("HINCRBY", "h", "n" + random.nextInt(5), "7");
                    case 3 -> same("HSET", "h", field, text(random), random.nextInt(400) + "f", text(random),
                            text(random), "v");
                    default -> same("HSET", "h", field, text(random));
                }
                if (redis.call("OBJECT", "ENCODING", "h").text().equals("listpack")) {
                    assertThat(client.call("HGETALL", "h")).as("seed %d, step %d", seed, i)
                            .isEqualTo(redis.call("HGETALL", "h"));
                }
                same("OBJECT", "ENCODING", "h");
            }
        }
    }

    @Test
    void hgetall_fieldsWithTimes_staysInInsertionOrder() throws IOException {
        limits(client, BILLION, BILLION);
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            fields.add("field" + i * 7919 % 1000);
            client.call("HSET", "h", fields.getLast(), "v".repeat(100));
        }
        for (int i = 0; i < 300; i += 3) {
            client.call("HEXPIRE", "h", "1000", "FIELDS", "1", fields.get(i));
        }
        assertThat(client.call("HKEYS", "h").elements()).extracting(RawReply::text).isEqualTo(fields);
        assertThat(client.call("OBJECT", "ENCODING", "h").text()).startsWith("listpack");
    }

    @Test
    void smembers_raisedLimits_isInInsertionOrder() throws IOException {
        client.call("CONFIG", "SET", "set-max-listpack-entries", BILLION, "set-max-listpack-value", BILLION);
        Set<String> members = new LinkedHashSet<>(List.of("first", "z".repeat(9000)));
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 1000; i++) {
            members.add("m" + random.nextInt(100_000));
        }
        List<String> command = new ArrayList<>(List.of("SADD", "s"));
        command.addAll(members);
        client.call(command.stream().map(word -> word.getBytes(StandardCharsets.ISO_8859_1)).toList());
        client.call("SADD", "s", "last");
        members.add("last");
        assertThat(client.call("OBJECT", "ENCODING", "s").text()).isEqualTo("listpack");
        assertThat(client.call("SMEMBERS", "s").elements()).extracting(RawReply::text)
                .containsExactlyElementsOf(members);
        client.call("SUNIONSTORE", "copy", "s");
        assertThat(client.call("SMEMBERS", "copy").elements()).extracting(RawReply::text)
                .containsExactlyElementsOf(members);
        String payload = client.call("DUMP", "s").text();
        client.call("RESTORE", "restored", "0", payload);
        assertThat(client.call("SMEMBERS", "restored").elements()).extracting(RawReply::text)
                .containsExactlyElementsOf(members);
    }

    /**
     * However high the limits are, what is too large to be searched as a whole becomes a tree, and keeps all that it
     * holds.
     */
    @Test
    void hset_beyondWhatAListpackMayTake_keepsAll() throws IOException {
        limits(client, BILLION, BILLION);
        for (int i = 0; i < 300; i++) {
            client.call("HSET", "h", "f" + i, "v".repeat(5000));
        }
        assertThat(client.call("HLEN", "h").integer()).isEqualTo(300);
        for (int i = 0; i < 300; i++) {
            assertThat(client.call("HGET", "h", "f" + i).text()).hasSize(5000);
        }
        assertThat(client.call("OBJECT", "ENCODING", "h").text()).isEqualTo("listpack");
    }

    /** With Redis's own limits where they are by default, nothing stays in one item that did not. */
    @Test
    void limits_byDefault_allowNothingMore() {
        ServerConfig defaults = ServerConfig.defaults().with("maxmemory", "1gb");
        assertThat(defaults.staysListpackHash(2, 100)).isFalse();
        assertThat(defaults.staysListpackSet(2, 100)).isFalse();
        ServerConfig lower = defaults.with("hash-max-listpack-entries", "16").with("set-max-listpack-value", "8");
        assertThat(lower.staysListpackHash(2, 100)).isFalse();
        assertThat(lower.staysListpackSet(2, 100)).isFalse();
        ServerConfig raised = defaults.with("hash-max-listpack-entries", "1000").with("set-max-listpack-value", "1024");
        assertThat(raised.staysListpackHash(1000, 256 << 10)).isTrue();
        assertThat(raised.staysListpackHash(1001, 256 << 10)).isFalse();
        assertThat(raised.staysListpackHash(1000, (256 << 10) + 1)).isFalse();
        assertThat(raised.staysListpackSet(128, 256 << 10)).isTrue();
        assertThat(raised.with("maxmemory", "8mb").staysListpackSet(128, (8 << 20) / 64 + 1)).isFalse();
    }

    // --- old payloads

    @Test
    void restore_oldPackedPayloads_keepsTheirOrder() throws IOException {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
            words.add("w" + i * 7919 % 1009);
            words.add(i % 3 == 0 ? Integer.toString(i * 1_000_003) : "v".repeat(i % 60));
        }
        String[] pairs = words.toArray(String[]::new);
        same("RESTORE", "zipmap", "0", Payloads.payload(9, Payloads.zipmap(pairs)));
        same("HGETALL", "zipmap");
        same("RESTORE", "hash", "0", Payloads.payload(13, Payloads.ziplist(pairs)));
        same("HGETALL", "hash");
        same("HKEYS", "hash");
        same("HSCAN", "hash", "0");
        same("HSET", "hash", "new", "1", words.get(4), "2");
        same("HGETALL", "hash");
        same("RESTORE", "list", "0", Payloads.payload(10, Payloads.ziplist(pairs)));
        same("LRANGE", "list", "0", "-1");
        same("RESTORE", "quicklist", "0",
                Payloads.payload(14, Payloads.length(2) + Payloads.ziplist(pairs) + Payloads.ziplist("a", "1")));
        same("LRANGE", "quicklist", "0", "-1");
        same("RESTORE", "set", "0", Payloads.payload(11, Payloads.integers(4, -5, 1, 70000, 90000)));
        same("SMEMBERS", "set");
        same("RESTORE", "zset", "0",
                Payloads.payload(12, Payloads.ziplist("c", "-1.5", "b", "0", "a", "2", "aa", "2", "7", "inf")));
        same("ZRANGE", "zset", "0", "-1", "WITHSCORES");
        same("RESTORE", "listpack", "0", Payloads.payload(16, Payloads.listpack(pairs)));
        same("HGETALL", "listpack");
    }
}

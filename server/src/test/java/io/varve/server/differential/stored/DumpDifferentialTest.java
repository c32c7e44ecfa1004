package io.varve.server.differential.stored;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.rdb.Payloads;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Restores dumps of a real Redis in Varve, and vice versa: random values of all types, small and large, in all
 * encodings of Redis, and above the thresholds of Varve's trees. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.differential.dumps=N} sets the number of values, {@code -Dvarve.differential.seed=N} repeats a run.
 */
@Timeout(600)
class DumpDifferentialTest {
    private static final int DUMPS = TestBudget.ofInt("varve.differential.dumps", 300, 8_000);
    private static final String[] LIMITS = {"hash-max-listpack-entries", "zset-max-listpack-entries",
            "set-max-intset-entries"};

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 256mb",
            "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);

    @Test
    void valuesMoveBetweenVarveAndRedis() throws IOException {
        if (!varve.reference().isAtLeast(7)) {
            throw new IllegalStateException("Payloads of version 10 are those of Redis 7: " + varve.reference());
        }
        long seed = TestBudget.seed("varve.differential.seed");
        SplittableRandom random = new SplittableRandom(seed);
        try (RawClient redis = new RawClient(varve.reference().port()); RawClient ours = new RawClient(varve.port())) {
            assertThat(redis.call("CONFIG", "SET", "sanitize-dump-payload", "yes").text()).isEqualTo("OK");
            for (int i = 0; i < DUMPS; i++) {
                vary(redis, random);
                PackedLimits.vary(varve.port(), i);
                redis.call("FLUSHALL");
                ours.call("FLUSHALL");
                List<List<String>> commands = commands(random, i < 8, "k");
                for (List<String> command : commands) {
                    String[] words = command.toArray(String[]::new);
                    assertThat(redis.call(words)).isEqualTo(ours.call(words));
                }
                carry(redis, ours, "seed " + seed + ", value " + i);
                carry(ours, redis, "seed " + seed + ", value " + i + " back");
            }
        }
    }

    /** What Redis reads of Redis 5, Varve reads in the same way. */
    @Test
    void streamsOfOldVersionsAreReadAsRedisReadsThem() throws IOException {
        String empty = "\0\0\u0007\0\u0001\u0001g\u0006\0\0\0";
        try (RawClient redis = new RawClient(varve.reference().port()); RawClient ours = new RawClient(varve.port())) {
            for (String payload : List.of(Payloads.payload(15, Payloads.stream(15)), Payloads.payload(15, empty),
                    Payloads.payload(19, Payloads.stream(19)))) {
                assertThat(redis.call("RESTORE", "old", "0", payload, "REPLACE").text()).isEqualTo("OK");
                assertThat(ours.call("RESTORE", "old", "0", payload, "REPLACE").text()).isEqualTo("OK");
                assertThat(StreamInfo.of(ours, "old")).isEqualTo(StreamInfo.of(redis, "old"));
                assertThat(ours.call("DUMP", "old")).isEqualTo(redis.call("DUMP", "old"));
            }
        }
    }

    /** Other ways of Redis to write the same. */
    static void vary(RawClient redis, SplittableRandom random) throws IOException {
        redis.call("CONFIG", "SET", "rdbcompression", random.nextInt(4) == 0 ? "no" : "yes");
        redis.call("CONFIG", "SET", "list-compress-depth", Integer.toString(random.nextInt(3)));
        redis.call("CONFIG", "SET", "list-max-listpack-size", random.nextBoolean() ? "-2" : "5");
        for (String limit : LIMITS) {
            redis.call("CONFIG", "SET", limit, random.nextBoolean() ? "512" : "3");
        }
    }

    private static void carry(RawClient from, RawClient to, String how) throws IOException {
        String payload = from.call("DUMP", "k").text();
        assertThat(to.call("RESTORE", "copy", "100000000", payload).text()).as(how).isEqualTo("OK");
        assertThat(to.call("PTTL", "copy").integer()).isBetween(99_000_000L, 100_000_000L);
        assertThat(contents(to, "copy")).as(how).isEqualTo(contents(from, "k"));
        assertThat(to.call("RESTORE", "copy", "0", payload, "REPLACE").text()).isEqualTo("OK");
        assertThat(to.call("PTTL", "copy").integer()).isEqualTo(-1);
        assertThat(to.call("DEL", "copy").integer()).isEqualTo(1);
    }

    private static List<String> contents(RawClient client, String key) throws IOException {
        String type = client.call("TYPE", key).text();
        List<String> contents = new ArrayList<>(List.of(type));
        switch (type) {
            case "string" -> contents.add(client.call("GET", key).text());
            case "list" -> client.call("LRANGE", key, "0", "-1").elements().forEach(e -> contents.add(e.text()));
            case "set" -> client.call("SMEMBERS", key).elements().stream().map(RawReply::text).sorted()
                    .forEach(contents::add);
            case "zset" -> client.call("ZRANGE", key, "0", "-1", "WITHSCORES").elements()
                    .forEach(e -> contents.add(e.text()));
            case "stream" -> contents.add(StreamInfo.of(client, key));
            default -> {
                List<RawReply> all = client.call("HGETALL", key).elements();
                List<String> fields = new ArrayList<>();
                for (int i = 0; i < all.size(); i += 2) {
                    fields.add(all.get(i).text() + "=" + all.get(i + 1).text());
                }
                fields.stream().sorted().forEach(contents::add);
            }
        }
        return contents;
    }

    // --- values

    /** @param huge whether it has very many elements, or very long ones */
    static List<List<String>> commands(SplittableRandom random, boolean huge, String key) {
        List<List<String>> commands = new ArrayList<>();
        int type = random.nextInt(8);
        if (type >= 6) {
            return StreamInfo.commands(random, huge, key, () -> element(random));
        }
        if (type == 5) {
            return List.of(List.of("SET", key, huge ? text(random, 1 << 20) : element(random)));
        }
        int elements = huge
                ? 20_000
                : random.nextInt(4) == 0 ? 600 : 1 + random.nextInt(20);
        for (int done = 0; done < elements; done += 500) {
            List<String> words = new ArrayList<>(List.of(
                    switch (type) {
                        case 0 -> "RPUSH";
                        case 1, 2 -> "SADD";
                        case 3 -> "ZADD";
                        default -> "HSET";
                    }, key));
            for (int i = done; i < Math.min(elements, done + 500); i++) {
                switch (type) {
                    case 0 -> words.add(element(random));
                    case 1 -> words.add(Long.toString(number(random)));
                    case 2 -> words.add(element(random));
                    case 3 -> words.addAll(List.of(score(random), element(random)));
                    default -> words.addAll(List.of(element(random), element(random)));
                }
            }
            commands.add(words);
        }
        return commands;
    }

    private static String element(SplittableRandom random) {
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> Long.toString(number(random));
            case 3 -> text(random, random.nextInt(8) == 0 ? 1 + random.nextInt(20_000) : random.nextInt(300));
            case 4 -> "x".repeat(random.nextInt(100));
            default -> text(random, random.nextInt(20));
        };
    }

    private static long number(SplittableRandom random) {
        return random.nextLong() >> random.nextInt(64);
    }

    private static String score(SplittableRandom random) {
        return switch (random.nextInt(5)) {
            case 0 -> Long.toString(number(random));
            case 1 -> random.nextBoolean() ? "inf" : "-inf";
            case 2 -> Double.toString(random.nextDouble() * 1e-5);
            default -> Integer.toString(random.nextInt(-5, 5));
        };
    }

    private static String text(SplittableRandom random, int length) {
        StringBuilder text = new StringBuilder(length);
        int alphabet = random.nextBoolean() ? 3 : 256;
        while (text.length() < length) {
            text.append((char) (alphabet == 3 ? 'a' + random.nextInt(3) : random.nextInt(256)));
        }
        return text.toString();
    }
}

package io.varve.server.command.hash;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Effects of the number of fields that have expiry times or have expired: random picks, memory limits, and INFO.
 * Confined to the test's thread.
 */
class HashFieldCountsTest extends FieldTimesHarness {
    // --- picked at random

    private Set<String> picked(String command, int times) {
        return IntStream.range(0, times).mapToObj(_ -> execute(command)).flatMap(reply -> Stream.of(reply.split(" ")))
                .filter(word -> word.startsWith("f")).collect(Collectors.toSet());
    }

    /**
     * A random selection from a large hash returns each visible field and no other: whether half of all are due, or
     * nearly all, and whether all have times or some have none.
     */
    @ParameterizedTest
    @CsvSource({"400, 200, 0", "400, 200, 150", "1000, 950, 0", "1000, 950, 20", "1000, 999, 0", "1000, 999, 1"})
    void onlyFieldsThatAreThereArePicked(int count, int due, int withoutTimes) {
        make("h", count);
        expireSome("h", 0, due, 50);
        expireSome("h", due, count - withoutTimes, 1_000_000);
        server.sleep(51);
        int there = count - due;
        Set<String> expected = Set.copyOf(List.of(fields(due, count).split(" ")));
        expect("HLEN h", ":" + there);
        assertThat(picked("HRANDFIELD h " + Math.min(there, 100), 60)).isEqualTo(expected);
        assertThat(picked("HRANDFIELD h 5", 800)).isEqualTo(expected);
        assertThat(picked("HRANDFIELD h -100", 60)).isEqualTo(expected);
        assertThat(picked("HRANDFIELD h -5", 800)).isEqualTo(expected);
        assertThat(picked("HRANDFIELD h", 4000)).isEqualTo(expected);
        for (int wanted : new int[] {1, 5, there, there + 1}) {
            String reply = execute("HRANDFIELD h " + wanted);
            assertThat(reply).startsWith("*" + Math.min(there, wanted) + " ");
            List<String> names = Stream.of(reply.split(" ")).filter(word -> word.startsWith("f")).toList();
            assertThat(expected).containsAll(names);
            assertThat(Set.copyOf(names)).hasSize(Math.min(there, wanted));
        }
        expect("HRANDFIELD h 0", "*0");
        server.sleep(2_000_000);
        if (withoutTimes == 0) {
            expect("HRANDFIELD h", "$-1");
            expect("HRANDFIELD h -5", "*0");
        }
    }

    // --- refused

    private static String encoding(CommandHarness server) {
        return server.run("OBJECT ENCODING h").replace("\r\n", " ").strip();
    }

    /** There is memory for the times of few fields, but not for those of so many. */
    @ParameterizedTest
    @CsvSource({"1000000, false", "1000000, true", "10, false", "10, true"})
    void aHashThatWasRefusedTimesIsWhatItWas(int packed, boolean keyExpires) {
        int count = 6_000;
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2")
                .with("packed-max-bytes", "64mb").with("packed-max-entries", Integer.toString(packed))
                .with("hash-max-listpack-entries", "1000000");
        try (CommandHarness full = new CommandHarness(config)) {
            for (int i = 0; i < count; i += 500) {
                full.run("HSET h " + pairs(i, i + 500).replace(" f", "value".repeat(5) + " f"));
            }
            if (keyExpires) {
                full.run("PEXPIRE h 1000000");
            }
            String all = full.run("HGETALL h");
            fill(full, "p".repeat(80_000));
            full.run("DEL fill0");
            assertThat(full.run("SET small text")).isEqualTo("+OK\r\n");
            String expire = "HPEXPIRE h 5000 FIELDS " + count + " " + fields(0, count);
            assertThat(full.run(expire)).startsWith("-OOM");
            assertThat(encoding(full)).isEqualTo("$8 listpack");
            assertThat(full.run("INFO keyspace")).contains("db0:").doesNotContain("subexpiry");
            assertThat(full.run("HGETALL h")).isEqualTo(all);
            assertThat(full.run("PTTL h")).isEqualTo(keyExpires ? ":1000000\r\n" : ":-1\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
            for (int i = 0; i < 20; i++) {
                full.run("DEL fill" + i);
            }
            assertThat(full.run(expire)).startsWith("*" + count + "\r\n:1\r\n");
            assertThat(encoding(full)).isEqualTo("$10 listpackex");
            assertThat(full.run("INFO keyspace")).contains("subexpiry=1");
            full.sleep(5001);
            assertThat(full.run("EXISTS h")).isEqualTo(":0\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
        }
    }

    /** Times are taken away whatever maxmemory says. */
    @Test
    void timesAreTakenAwayInAFullCache() {
        int count = 6_000;
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            for (int i = 0; i < count; i += 500) {
                full.run("HSET h " + pairs(i, i + 500).replace(" f", "value".repeat(5) + " f"));
            }
            assertThat(full.run("HPEXPIRE h 5000 FIELDS " + count + " " + fields(0, count)))
                    .startsWith("*" + count + "\r\n:1\r\n");
            fill(full, "p".repeat(80_000));
            assertThat(full.run("HPERSIST h FIELDS " + count / 2 + " " + fields(0, count / 2)))
                    .isEqualTo("*" + count / 2 + "\r\n" + ":1\r\n".repeat(count / 2));
            assertThat(full.cache().checkIntegrity()).isEmpty();
            full.sleep(5001);
            assertThat(full.run("HLEN h")).isEqualTo(":" + count / 2 + "\r\n");
        }
    }

    // --- counted

    private void counts(int hashes) {
        String reported = execute("INFO keyspace") + " ";
        if (hashes == 0) {
            assertThat(reported).contains("db0:").doesNotContain("subexpiry");
        } else {
            assertThat(reported).containsPattern("db0:[^ ]*,subexpiry=" + hashes + " ");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void hashesWithFieldTimesAreCounted(int count) {
        execute("SET string text");
        make("h", count);
        counts(0);
        execute("HPEXPIRE h 10000 FIELDS 2 f1 f2");
        counts(1);
        execute("HPEXPIRE h 20000 FIELDS 1 f3");
        execute("PEXPIRE h 100000");
        execute("COPY h g");
        counts(2);
        execute("RENAME g i");
        execute("HSET other f v");
        counts(2);
        execute("COPY h other REPLACE");
        counts(3);
        execute("SET other text");
        counts(2);
        execute("DEL i");
        counts(1);
        assertThat(server.run("RESTORE", "g", "0", payload("h"))).isEqualTo("+OK\r\n");
        counts(2);
        execute("MOVE g 1");
        counts(1);
        execute("SWAPDB 0 1");
        counts(1);
        execute("SWAPDB 0 1");
        execute("PERSIST h");
        execute("HPERSIST h FIELDS 3 f1 f2 f3");
        for (int i = 0; i < 400; i++) {
            server.sleep(100);
            server.cache().maintain();
        }
        counts(0);
        expect("HLEN h", ":" + count);
        execute("HPEXPIRE h 100 FIELDS 1 f1");
        counts(1);
        for (int i = 0; i < 40; i++) {
            server.sleep(100);
            server.cache().maintain();
        }
        counts(0);
        expect("HLEN h", ":" + (count - 1));
        execute("HPEXPIRE h 100000 FIELDS 1 f2");
        counts(1);
        execute("FLUSHALL");
        execute("SET string text");
        counts(0);
        assertThat(server.cache().checkIntegrity()).isEmpty();
    }
}

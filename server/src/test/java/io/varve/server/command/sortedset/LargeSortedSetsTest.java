package io.varve.server.command.sortedset;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The conversion of a sorted set to a tree, and the differences afterwards. Confined to the test's thread. */
class LargeSortedSetsTest extends HarnessTest {
    private static String pairs(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> i + " m" + i).collect(Collectors.joining(" "));
    }

    private static String members(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "m" + i).collect(Collectors.joining(" "));
    }

    private String range(String key) {
        return execute("ZRANGE " + key + " 0 -1").replaceFirst("\\*\\d+ ?", "").replaceAll("\\$\\d+ ", "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ZADD z 128 m128", "ZADD z CH 0 m0 128 m128 7 m7", "ZINCRBY z 128 m128"})
    void aSetBecomesATreeWithOneMemberMoreThanIsPacked(String command) {
        execute("ZADD z " + pairs(0, 128));
        execute("EXPIRE z 100");
        assertThat(isTree("z")).isFalse();
        execute(command);
        assertThat(isTree("z")).isTrue();
        assertThat(range("z")).isEqualTo(members(0, 129));
        expect("TTL z", ":100");
        expect("OBJECT ENCODING z", "$8 skiplist");
        expect("ZREM z m5", ":1");
        expect("OBJECT ENCODING z", "$8 skiplist");
        expect("ZREMRANGEBYSCORE z -inf +inf", ":128");
        expect("EXISTS z", ":0");
    }

    @Test
    void theReportedEncodingFollowsItsOwnLimits() {
        expect("CONFIG SET zset-max-listpack-entries 300 zset-max-listpack-value 100", "+OK");
        execute("ZADD z " + pairs(0, 300));
        assertThat(isTree("z")).isTrue();
        expect("OBJECT ENCODING z", "$8 listpack");
        expect("ZADD z -0 m0", ":0");
        expect("ZSCORE z m0", "$1 0");
        expect("COPY z y", ":1");
        expect("ZADD z 300 m300", ":1");
        expect("OBJECT ENCODING z", "$8 skiplist");
        expect("OBJECT ENCODING y", "$8 listpack");
        expect("ZUNIONSTORE u 1 y", ":300");
        assertThat(isTree("u")).isTrue();
        expect("OBJECT ENCODING u", "$8 listpack");
        assertThat(execute("DEBUG OBJECT u")).contains("encoding:listpack");
        expect("ZADD z XX -0 m1", ":0");
        expect("ZSCORE z m1", "$2 -0");
    }

    @Test
    void aScanRunsInSteps() {
        execute("ZADD z " + pairs(0, 2000));
        String cursor = "0";
        java.util.Set<String> seen = new java.util.TreeSet<>();
        do {
            String[] lines = server.run("ZSCAN", "z", cursor, "COUNT", "20").split("\r\n");
            cursor = lines[2];
            int words = Integer.parseInt(lines[3].substring(1));
            assertThat(words / 2).isBetween(1, 40);
            for (int i = 0; i < words; i += 2) {
                assertThat(lines[5 + 2 * i]).isEqualTo("m" + lines[7 + 2 * i]);
                seen.add(lines[5 + 2 * i]);
            }
        } while (!cursor.equals("0"));
        assertThat(seen).hasSize(2000);
    }

    /** The members lie under the key that is written. */
    @Test
    void aStoreMayReplaceItsOperand() {
        execute("ZADD x " + pairs(0, 1000));
        execute("ZADD y " + pairs(500, 1500));
        expect("ZUNIONSTORE x 2 x y", ":1500");
        assertThat(range("x")).isNotEmpty();
        expect("ZSCORE x m500", "$4 1000");
        expect("ZRANGESTORE x x 0 199", ":200");
        assertThat(range("x")).isEqualTo(members(0, 200));
        expect("ZINTERSTORE x 2 x y", ":0");
        expect("ZDIFFSTORE y 2 y none", ":1000");
        assertThat(range("y")).isEqualTo(members(500, 1500));
    }

    @Test
    void aRefusalAddsNothing() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            full.run("ZADD packed 1 a 2 b");
            full.run(("ZADD tree " + pairs(0, 300)).split(" "));
            String piece = "p".repeat(30_000);
            fill(full, piece);
            String[] many = new String[42];
            many[0] = "ZADD";
            for (String set : new String[] {"packed", "tree", "new"}) {
                many[1] = set;
                many[2] = "7";
                many[3] = "m1";
                for (int i = 4; i < many.length; i += 2) {
                    many[i] = "0";
                    many[i + 1] = i + piece;
                }
                assertThat(full.run(many)).as(set).startsWith("-OOM");
            }
            assertThat(full.run("ZRANGE packed 0 -1")).isEqualTo("*2\r\n$1\r\na\r\n$1\r\nb\r\n");
            assertThat(full.run("ZRANGE tree 0 -1").replaceAll("\\*300|\\$\\d+\r\n|\r\n", " ").replaceAll(" +", " ")
                    .strip()).isEqualTo(members(0, 300));
            assertThat(full.run("EXISTS new")).isEqualTo(":0\r\n");
            assertThat(full.run("ZPOPMIN tree")).isEqualTo("*2\r\n$2\r\nm0\r\n$1\r\n0\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
        }
    }
}

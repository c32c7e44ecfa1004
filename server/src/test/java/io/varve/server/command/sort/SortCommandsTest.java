package io.varve.server.command.sort;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** SORT and SORT_RO, without a network. Confined to the test's thread. */
class SortCommandsTest extends HarnessTest {
    /** The elements of an array of bulks, joined. */
    private String elements(String command) {
        String[] lines = server.run(command.split(" ")).split("\r\n", -1);
        List<String> elements = new ArrayList<>();
        for (int i = 1; i < lines.length - 1; i++) {
            elements.add(lines[i].equals("$-1") ? "nil" : lines[++i]);
        }
        assertThat(lines[0]).isEqualTo("*" + elements.size());
        return String.join(" ", elements);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"SORT l; 1 2 3 10", "SORT l DESC; 10 3 2 1", "SORT l ALPHA; 1 10 2 3",
            "SORT l ALPHA DESC LIMIT 1 2; 2 10", "SORT l LIMIT 1 -1; 2 3 10", "SORT l LIMIT -5 2; 1 2",
            "SORT l LIMIT 9 2; ''", "SORT l BY nosort; 3 10 1 2", "SORT l BY nosort DESC LIMIT 1 2; 1 10",
            "SORT l BY w_*; 10 3 2 1", "SORT l BY w_* DESC; 1 2 3 10", "SORT l BY h_*->f; 1 2 10 3",
            "SORT l BY w_* GET #; 10 3 2 1", "SORT l GET w_* GET #; 30 1 20 2 10 3 nil 10",
            "SORT l GET h_*->f GET h_*->g; nil nil nil nil 9 nil 1 nil", "SORT l BY t_* ALPHA; 10 3 2 1",
            "SORT l BY t_* ALPHA DESC; 1 2 3 10", "SORT l GET nothing; nil nil nil nil", "SORT z BY nosort; c b a",
            "SORT z BY nosort DESC LIMIT 0 2; a b", "SORT z ALPHA; a b c", "SORT i; 5 7 20",
            "SORT i DESC ALPHA; 7 5 20",
            "SORT i BY w_* GET # GET missing_*; 20 nil 5 nil 7 nil", "SORT none; ''", "SORT_RO l DESC; 10 3 2 1"})
    void elementsComeInTheRequestedOrder(String command, String expected) {
        execute("RPUSH l 3 10 1 2");
        execute("MSET w_1 30 w_2 20 w_3 10 w_5 1 w_7 1 t_1 c t_2 bb t_3 b");
        execute("HSET h_3 f 9");
        execute("HSET h_10 f 1");
        execute("ZADD z 3 a 2 b 1 c");
        execute("SADD i 20 5 7");
        assertThat(elements(command)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"SORT s; -WRONGTYPE Operation against a key holding the wrong kind of value",
            "SORT t; -ERR One or more scores can't be converted into double",
            "SORT l BY w_*; -ERR One or more scores can't be converted into double",
            "SORT l LIMIT 1; -ERR syntax error", "SORT l LIMIT a 1; -ERR value is not an integer or out of range",
            "SORT l GET; -ERR syntax error", "SORT l foo; -ERR syntax error", "SORT_RO l STORE d; -ERR syntax error",
            "SORT l STORE; -ERR syntax error"})
    void invalidArgumentsAreRefused(String command, String expected) {
        execute("SET s v");
        execute("RPUSH t 1 two");
        execute("RPUSH l 1");
        execute("SET w_1 heavy");
        assertThat(execute(command)).isEqualTo(expected);
        assertThat(execute("EXISTS d")).isEqualTo(":0");
    }

    @Test
    void theResultOverwritesAnyTypeWithAList() {
        execute("RPUSH l 3 1 2");
        execute("SET d string EX 100");
        assertThat(execute("SORT l STORE d")).isEqualTo(":3");
        assertThat(elements("LRANGE d 0 -1")).isEqualTo("1 2 3");
        assertThat(execute("TTL d")).isEqualTo(":-1");
        execute("SET w_2 two");
        assertThat(execute("SORT d DESC GET # GET w_* STORE d")).isEqualTo(":6");
        assertThat(elements("LRANGE d 0 -1")).isEqualTo("3  2 two 1 ");
        assertThat(execute("SORT none STORE d")).isEqualTo(":0");
        assertThat(execute("EXISTS d")).isEqualTo(":0");
        execute("SADD s b c a");
        assertThat(execute("SORT s BY nosort DESC STORE s")).isEqualTo(":3");
        assertThat(elements("LRANGE s 0 -1")).isEqualTo("c b a");
    }

    /** The result is a tree where it is large, over a tree too. */
    @Test
    void aLargeResultIsStored() {
        String words = IntStream.range(0, 2000).mapToObj(i -> Integer.toString(i * 7919 % 2000))
                .collect(Collectors.joining(" "));
        execute("RPUSH l " + words);
        assertThat(execute("SORT l STORE l")).isEqualTo(":2000");
        assertThat(elements("LRANGE l 0 -1"))
                .isEqualTo(IntStream.range(0, 2000).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
        assertThat(execute("SORT l DESC LIMIT 0 3 STORE l")).isEqualTo(":3");
        assertThat(elements("LRANGE l 0 -1")).isEqualTo("1999 1998 1997");
    }

    /** More elements than one pass handles, in every kind of collection, sorted by numbers and by texts. */
    @ParameterizedTest
    @ValueSource(strings = {"RPUSH", "SADD", "ZADD"})
    void manyElementsAreSorted(String command) {
        server.close();
        server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "256mb").with("shards", "4"));
        int count = 12_000;
        SplittableRandom random = new SplittableRandom(7);
        List<Integer> byWeight = new ArrayList<>();
        for (int from = 0; from < count; from += 1000) {
            StringBuilder add = new StringBuilder(command).append(" k");
            StringBuilder weights = new StringBuilder("MSET");
            for (int i = from; i < from + 1000; i++) {
                add.append(command.equals("ZADD") ? " " + random.nextInt(9) : "").append(' ').append(i);
                // Each number once: it is prime to the count.
                weights.append(" w_").append(i).append(' ').append(i * 7919L % count);
            }
            assertThat(execute(add.toString())).startsWith(":");
            execute(weights.toString());
        }
        long inverse = inverse(7919, count);
        for (int weight = 0; weight < count; weight++) {
            byWeight.add((int) (weight * inverse % count));
        }
        assertThat(elements("SORT k BY w_* GET #"))
                .isEqualTo(byWeight.stream().map(i -> Integer.toString(i)).collect(Collectors.joining(" ")));
        assertThat(elements("SORT k BY w_* ALPHA DESC LIMIT 0 2 GET w_*")).isEqualTo("9999 9998");
        assertThat(elements("SORT k DESC LIMIT 3 2")).isEqualTo("11996 11995");
        assertThat(execute("SORT k BY w_* STORE d")).isEqualTo(":" + count);
        assertThat(elements("LRANGE d 0 2")).isEqualTo(byWeight.get(0) + " " + byWeight.get(1) + " " + byWeight.get(2));
    }

    private static long inverse(long of, long modulus) {
        for (long i = 1; i < modulus; i++) {
            if (of * i % modulus == 1) {
                return i;
            }
        }
        throw new IllegalArgumentException(of + " mod " + modulus);
    }

    @Test
    void patternKeysInATransactionAreRead() {
        execute("RPUSH l 1 2 3");
        execute("MULTI");
        execute("MSET w_1 3 w_2 2 w_3 1");
        execute("SORT l BY w_* GET w_*");
        execute("SORT l STORE d");
        assertThat(execute("EXEC")).isEqualTo("*3 +OK *3 $1 1 $1 2 $1 3 :3");
    }

    @Test
    void patternLookupsCountOnce() {
        execute("RPUSH l 1 2");
        execute("SET w_1 x");
        execute("CONFIG RESETSTAT");
        execute("SORT l BY nosort GET w_*");
        execute("SORT none");
        assertThat(server.run("INFO", "stats")).contains("keyspace_hits:2").contains("keyspace_misses:2");
    }

    @Test
    void theKeysAreFound() {
        assertThat(execute("COMMAND GETKEYS SORT k BY w_* LIMIT 0 1 STORE d")).isEqualTo("*2 $1 k $1 d");
        assertThat(execute("COMMAND GETKEYS SORT k STORE a STORE b")).isEqualTo("*2 $1 k $1 b");
        assertThat(execute("COMMAND GETKEYS SORT k GET STORE BY STORE")).isEqualTo("*1 $1 k");
        assertThat(execute("COMMAND GETKEYSANDFLAGS SORT k STORE d"))
                .isEqualTo("*2 *2 $1 k *2 +RO +access *2 $1 d *2 +OW +update");
    }
}

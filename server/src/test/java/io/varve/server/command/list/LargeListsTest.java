package io.varve.server.command.list;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The conversion of a list to a tree, and generic key commands on such a list. Confined to the test's thread. */
class LargeListsTest extends HarnessTest {
    private static String numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(Integer::toString).collect(Collectors.joining(" "));
    }

    private String elements(String key) {
        return execute("LRANGE " + key + " 0 -1").replaceFirst("\\*\\d+ ?", "").replaceAll("\\$\\d+ ", "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RPUSH l 128", "LPUSH l 128", "LINSERT l BEFORE 64 128", "LINSERT l AFTER 127 128",
            "RPUSH l 128 129 130", "LMOVE other l LEFT LEFT"})
    void aListBecomesATreeWithOneElementMoreThanIsPacked(String command) {
        execute("RPUSH other 128");
        execute("RPUSH l " + numbers(0, 128));
        execute("EXPIRE l 100");
        assertThat(isTree("l")).isFalse();
        String reply = execute(command);
        assertThat(reply).isEqualTo(
                command.startsWith("LMOVE") ? "$3 128" : command.endsWith("130") ? ":131" : ":129");
        assertThat(isTree("l")).isTrue();
        expect("TTL l", ":100");
        expect("OBJECT ENCODING l", "$9 quicklist");
        String middle = command.contains("BEFORE") ? numbers(0, 64) + " 128 " + numbers(64, 128) : numbers(0, 128);
        assertThat(elements("l")).isEqualTo(switch (command.substring(0, 2)) {
            case "RP" -> numbers(0, command.endsWith("130") ? 131 : 129);
            case "LI" -> command.contains("BEFORE") ? middle : numbers(0, 129);
            default -> "128 " + numbers(0, 128);
        });
        assertThat(execute("LPOP l 200")).startsWith("*1");
        expect("EXISTS l", ":0");
        expect("RPUSH l again", ":1");
        assertThat(isTree("l")).isFalse();
        expect("TTL l", ":-1");
    }

    @Test
    void aListBecomesATreeWithMoreBytesThanArePacked() {
        String half = "h".repeat(4080);
        expect("RPUSH l a " + half + " " + half, ":3");
        assertThat(isTree("l")).isFalse();
        expect("LSET l 0 " + half, "+OK");
        assertThat(isTree("l")).isTrue();
        assertThat(elements("l")).isEqualTo(half + " " + half + " " + half);
        expect("RPUSH m a " + half + " " + half + "bbbbb" + half, ":3");
        assertThat(isTree("m")).isTrue();
        expect("RPUSH one " + half + half + half, ":1");
        assertThat(isTree("one")).isFalse();
        expect("LSET one 0 " + half + half + half + half, "+OK");
        assertThat(isTree("one")).isFalse();
        expect("LPUSH one a", ":2");
        assertThat(isTree("one")).isTrue();
        assertThat(elements("one")).isEqualTo("a " + half + half + half + half);
    }

    @Test
    void theLimitsCanBeSet() {
        expect("CONFIG SET packed-max-entries 200 packed-max-bytes 1mb", "+OK");
        execute("RPUSH l " + numbers(0, 200));
        assertThat(isTree("l")).isFalse();
        expect("CONFIG SET packed-max-entries 2", "+OK");
        expect("LSET l 0 x", "+OK");
        expect("LPOP l", "$1 x");
        assertThat(isTree("l")).isFalse();
        expect("LPUSH l 0", ":200");
        assertThat(isTree("l")).isTrue();
        assertThat(elements("l")).isEqualTo(numbers(0, 200));
        assertThat(execute("CONFIG SET packed-max-entries -1")).startsWith("-ERR");
    }

    @Test
    void manyElementsAreFoundFromBothEndsAndInTheMiddle() {
        int count = 40_000;
        for (int i = 0; i < count; i += 500) {
            expect("RPUSH l " + numbers(i, i + 500), ":" + (i + 500));
        }
        expect("LRANGE l 20000 20002", "*3 $5 20000 $5 20001 $5 20002");
        expect("LINDEX l -40000", "$1 0");
        expect("LINDEX l 39999", "$5 39999");
        expect("LPOS l 31234", ":31234");
        expect("LPOS l 31234 RANK -1", ":31234");
        expect("LINSERT l AFTER 20000 x", ":40001");
        expect("LRANGE l 20000 20002", "*3 $5 20000 $1 x $5 20001");
        expect("LREM l -1 x", ":1");
        expect("LSET l 20000 y", "+OK");
        expect("RPOPLPUSH l l", "$5 39999");
        expect("LMOVE l l LEFT RIGHT", "$5 39999");
        expect("LTRIM l 10000 -10001", "+OK");
        expect("LLEN l", ":20000");
        expect("LINDEX l 0", "$5 10000");
        expect("LINDEX l -1", "$5 29999");
        expect("LREM l 0 y", ":1");
        long usage = Long.parseLong(execute("MEMORY USAGE l").substring(1));
        assertThat(usage).isBetween(20_000 * 6L, 20_000 * 9L);
        assertThat(execute("DEBUG OBJECT l")).contains("encoding:quicklist serializedlength:");
        expect("LTRIM l 1 0", "+OK");
        expect("EXISTS l", ":0");
    }

    @Test
    void isMovedCopiedAndRenamed() {
        execute("RPUSH l " + numbers(0, 1000));
        expect("COPY l m", ":1");
        expect("LPOP l", "$1 0");
        expect("RENAME l n", "+OK");
        expect("MOVE n 2", ":1");
        expect("LPUSH m x", ":1001");
        execute("SELECT 2");
        assertThat(elements("n")).isEqualTo(numbers(1, 1000));
        expect("LMOVE n p LEFT LEFT", "$1 1");
        expect("RENAME p n", "+OK");
        assertThat(elements("n")).isEqualTo("1");
        execute("SELECT 0");
        assertThat(elements("m")).isEqualTo("x " + numbers(0, 1000));
        expect("SET m string", "+OK");
        expect("DBSIZE", ":1");
    }

    /** Both lists may be in one shard or not: several targets. */
    @ParameterizedTest
    @ValueSource(strings = {"b", "c", "d", "e", "f", "g"})
    void elementsMoveBetweenTrees(String to) {
        execute("RPUSH a " + numbers(0, 1000));
        for (int i = 0; i < 1000; i++) {
            expect("LMOVE a " + to + " LEFT RIGHT", "$" + Integer.toString(i).length() + " " + i);
        }
        expect("EXISTS a", ":0");
        assertThat(elements(to)).isEqualTo(numbers(0, 1000));
    }

    /** A refused push of many elements has added none of them, and a packed list stays packed. */
    @Test
    void aRefusalAddsNothing() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            full.run("RPUSH", "packed", "a", "b");
            full.run(("RPUSH tree " + numbers(0, 300)).split(" "));
            String piece = "p".repeat(30_000);
            fill(full, piece);
            String[] many = new String[22];
            java.util.Arrays.fill(many, piece);
            for (String command : new String[] {"LPUSH", "RPUSH"}) {
                for (String list : new String[] {"packed", "tree", "new"}) {
                    many[0] = command;
                    many[1] = list;
                    many[2] = "short";
                    assertThat(full.run(many)).as(command + " " + list).startsWith("-OOM");
                }
            }
            assertThat(full.run("LRANGE packed 0 -1")).isEqualTo("*2\r\n$1\r\na\r\n$1\r\nb\r\n");
            assertThat(full.run("LRANGE tree 0 -1").replaceAll("\\*300|\\$\\d+\r\n|\r\n", " ").replaceAll(" +", " ")
                    .strip()).isEqualTo(numbers(0, 300));
            assertThat(full.run("EXISTS new")).isEqualTo(":0\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
        }
    }
}

package io.varve.server.command.list;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Replies and effects of list commands in both protocols, for every layout. Confined to the test's thread. */
abstract class ListCommandsContractTest extends HarnessTest {
    private final long overheadBytes;

    /** @param overheadBytes what a small list takes at most beside its elements */
    ListCommandsContractTest(CommandHarness server, long overheadBytes) {
        super(server);
        this.overheadBytes = overheadBytes;
    }

    /** The elements, one behind the other. */
    private String elements(String key) {
        String reply = execute("LRANGE " + key + " 0 -1");
        return reply.replaceAll("\\*\\d+ ?", "").replaceAll("\\$\\d+ ", "");
    }

    @Test
    void elementsArePushedAndPoppedAtBothEnds() {
        expect("RPUSH l b c", ":2");
        expect("LPUSH l a z", ":4");
        assertThat(elements("l")).isEqualTo("z a b c");
        expect("LPUSHX l y", ":5");
        expect("RPUSHX l d e", ":7");
        expect("LPUSHX missing y", ":0");
        expect("LLEN l", ":7");
        expect("LPOP l", "$1 y");
        expect("RPOP l 2", "*2 $1 e $1 d");
        expect("LPOP l 0", "*0");
        expect("LPOP l 99", "*4 $1 z $1 a $1 b $1 c");
        expect("EXISTS l", ":0");
        expect("TYPE l", "+none");
        expect("RPUSH l 1", ":1");
        expect("TYPE l", "+list");
        expect("OBJECT ENCODING l", "$9 quicklist");
        expect("EXPIRE l 100", ":1");
        expect("RPUSH l 2", ":2");
        expect("TTL l", ":100");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"LPOP missing; $-1; _", "LPOP missing 2; *-1; _", "RPOP missing 0; *-1; _",
            "LINDEX missing 0; $-1; _", "LINDEX l 9; $-1; _", "LRANGE missing 0 1; *0; *0", "LPOS l zz; $-1; _",
            "LPOS missing a COUNT 0; *0; *0", "LPOS l zz COUNT 1; *0; *0", "LMPOP 2 m1 m2 LEFT; *-1; _",
            "LMOVE missing l LEFT LEFT; $-1; _", "RPOPLPUSH missing l; $-1; _"})
    void nilRepliesFollowTheProtocolVersion(String command, String resp2, String resp3) {
        execute("RPUSH l a b");
        expect(command, resp2);
        execute("HELLO 3");
        expect(command, resp3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"LPUSH s a; WRONGTYPE Operation against a key holding the wrong kind of value",
            "LPUSHX s a; WRONGTYPE Operation against a key holding the wrong kind of value",
            "LPOP s 0; WRONGTYPE Operation against a key holding the wrong kind of value",
            "LPOP s -1; ERR value is out of range, must be positive",
            "LPOP l x; ERR value is out of range, must be positive",
            "LPOP l 1 2; ERR wrong number of arguments for 'lpop' command",
            "LSET missing x a; ERR no such key", "LSET l x a; ERR value is not an integer or out of range",
            "LSET l 3 a; ERR index out of range", "LSET l -4 a; ERR index out of range",
            "LSET s x a; WRONGTYPE Operation against a key holding the wrong kind of value",
            "LINSERT s x b c; ERR syntax error", "LREM s x a; ERR value is not an integer or out of range",
            "LTRIM s x 1; ERR value is not an integer or out of range",
            "LINDEX s x; WRONGTYPE Operation against a key holding the wrong kind of value",
            "LRANGE s 0 x; ERR value is not an integer or out of range",
            "LPOS s a RANK 0; ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "
                    + "negative to start from the end of the list",
            "LPOS l a COUNT -1; ERR COUNT can't be negative", "LPOS l a MAXLEN x; ERR MAXLEN can't be negative",
            "LPOS l a RANK; ERR syntax error", "LMOVE l l up LEFT; ERR syntax error",
            "LMOVE l s LEFT LEFT; WRONGTYPE Operation against a key holding the wrong kind of value",
            "LMPOP 0 l LEFT; ERR numkeys should be greater than 0", "LMPOP 2 l LEFT; ERR syntax error",
            "LMPOP 9223372036854775807 l LEFT; ERR syntax error", "LMPOP 1 l LEFT COUNT; ERR syntax error",
            "LMPOP 1 l LEFT COUNT 1 COUNT 1; ERR syntax error",
            "LMPOP 1 l LEFT COUNT 0; ERR count should be greater than 0",
            "LMPOP 2 missing s LEFT; WRONGTYPE Operation against a key holding the wrong kind of value",
            "BLPOP l x; ERR timeout is not a float or out of range", "BLPOP s -1; ERR timeout is negative",
            "BLPOP l 1e300; ERR timeout is negative", "BLPOP l inf; ERR timeout is negative",
            "BLPOP missing s 1; WRONGTYPE Operation against a key holding the wrong kind of value",
            "BLMOVE l l LEFT up x; ERR syntax error", "BLMPOP x 0 l LEFT; ERR numkeys should be greater than 0",
            "BLMPOP x 1 l LEFT; ERR timeout is not a float or out of range",
            "CLIENT UNBLOCK x foo; ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
            "CLIENT UNBLOCK x; ERR value is not an integer or out of range"})
    void whatMakesNoSenseIsRefusedAndChangesNothing(String command, String error) {
        execute("RPUSH l a b c");
        execute("SET s v");
        expect(command, "-" + error);
        assertThat(elements("l")).isEqualTo("a b c");
        expect("GET s", "$1 v");
    }

    @Test
    void elementsAreChangedWhereTheyAre() {
        execute("RPUSH l a b a c a d");
        expect("LSET l -1 dd", "+OK");
        expect("LINSERT l BEFORE a x", ":7");
        expect("LINSERT l after c y", ":8");
        expect("LINSERT l AFTER zz y", ":-1");
        expect("LINSERT missing AFTER zz y", ":0");
        assertThat(elements("l")).isEqualTo("x a b a c y a dd");
        expect("LREM l -2 a", ":2");
        assertThat(elements("l")).isEqualTo("x a b c y dd");
        expect("LREM l 1 zz", ":0");
        expect("LTRIM l 1 -2", "+OK");
        assertThat(elements("l")).isEqualTo("a b c y");
        expect("LTRIM l -100 100", "+OK");
        expect("LLEN l", ":4");
        expect("LINDEX l -2", "$1 c");
        expect("LRANGE l -3 2", "*2 $1 b $1 c");
        expect("LREM l 0 y", ":1");
        expect("LTRIM l 2 1", "+OK");
        expect("EXISTS l", ":0");
        execute("RPUSH l e e e");
        expect("LREM l 0 e", ":3");
        expect("EXISTS l", ":0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"a; :0", "a RANK 2; :2", "a RANK -1; :5", "a RANK -2; :2", "a RANK 4; $-1",
            "a COUNT 0; *3 :0 :2 :5", "a COUNT 2 RANK -1; *2 :5 :2", "a COUNT 0 RANK 2; *2 :2 :5",
            "a RANK -1 MAXLEN 1; :5", "b MAXLEN 1; $-1", "a COUNT 0 MAXLEN 3; *2 :0 :2",
            "a RANK -9223372036854775808; -ERR value is out of range, value must between "
                    + "-9223372036854775807 and 9223372036854775807",
            "a RANK -9223372036854775807; $-1",
            "a COUNT 0 RANK -9223372036854775808; -ERR value is out of range, value must between "
                    + "-9223372036854775807 and 9223372036854775807"})
    void positionsAreFoundFromBothEnds(String arguments, String expected) {
        execute("RPUSH l a b a c d a");
        expect("LPOS l " + arguments, expected);
    }

    @Test
    void backwardsThroughManyElements() {
        int count = 5_000;
        String all = IntStream.range(0, count).mapToObj(i -> i % 1000 == 7 ? "hit" : "e" + i)
                .collect(Collectors.joining(" "));
        expect("RPUSH l " + all, ":" + count);
        expect("LPOS l hit RANK -1 COUNT 0", "*5 :4007 :3007 :2007 :1007 :7");
        expect("LPOS l e1 RANK -1", ":1");
        assertThat(execute("RPOP l 3000")).startsWith("*3000 $5 e4999 $5 e4998 ").endsWith(" $5 e2001 $5 e2000");
        expect("LLEN l", ":2000");
    }

    @Test
    void elementsMoveBetweenListsAndWithinOne() {
        execute("RPUSH l a b c");
        expect("LMOVE l m RIGHT LEFT", "$1 c");
        expect("RPOPLPUSH l m", "$1 b");
        assertThat(elements("m")).isEqualTo("b c");
        expect("LMOVE l m LEFT RIGHT", "$1 a");
        expect("EXISTS l", ":0");
        expect("RPOPLPUSH m m", "$1 a");
        assertThat(elements("m")).isEqualTo("a b c");
        expect("LMOVE m m LEFT RIGHT", "$1 a");
        expect("LMOVE m m LEFT LEFT", "$1 b");
        assertThat(elements("m")).isEqualTo("b c a");
        expect("LMPOP 3 x m y RIGHT COUNT 2", "*2 $1 m *2 $1 a $1 c");
        expect("BLMPOP 0 2 x m LEFT", "*2 $1 m *1 $1 b");
        execute("RPUSH l a b");
        expect("BRPOP x l 0", "*2 $1 l $1 b");
        expect("BLMOVE l m LEFT LEFT 0", "$1 a");
        expect("BRPOPLPUSH m l 0", "$1 a");
        expect("BLPOP m l 0", "*2 $1 l $1 a");
        expect("DBSIZE", ":0");
    }

    @Test
    void inATransactionNoCommandBlocks() {
        execute("MULTI");
        execute("BLPOP l 0");
        execute("BRPOP l 0");
        execute("BLMOVE l m LEFT LEFT 0");
        execute("BRPOPLPUSH l m 0");
        execute("BLMPOP 0 1 l LEFT");
        expect("EXEC", "*5 *-1 *-1 $-1 $-1 *-1");
    }

    @Test
    void aListIsMovedAndCopiedAsAWhole() {
        execute("RPUSH l a b c");
        expect("COPY l m", ":1");
        expect("RENAME l n", "+OK");
        expect("MOVE n 3", ":1");
        expect("LPUSH m z", ":4");
        execute("SELECT 3");
        assertThat(elements("n")).isEqualTo("a b c");
        execute("SELECT 0");
        assertThat(elements("m")).isEqualTo("z a b c");
        assertThat(execute("SCAN 0 TYPE list COUNT 1000")).isEqualTo("*2 $1 0 *1 $1 m");
        expect("DEL m", ":1");
        execute("RPUSH t a");
        execute("PEXPIRE t 10");
        server.sleep(20);
        expect("LLEN t", ":0");
        expect("RPUSH t b", ":1");
        expect("TTL t", ":-1");
    }

    @Test
    void memoryUsageIsThatOfTheElements() {
        execute("RPUSH l " + "x".repeat(1000));
        long one = Long.parseLong(execute("MEMORY USAGE l").substring(1));
        execute("RPUSH l " + "x".repeat(1000));
        assertThat(one).isBetween(1000L, 1100L);
        assertThat(Long.parseLong(execute("MEMORY USAGE l").substring(1))).isBetween(2000L, 2000L + overheadBytes);
        assertThat(execute("DEBUG OBJECT l")).contains("encoding:quicklist", "type:list");
    }

    /** Large elements go out of the run that holds them; what is removed then moves away from it. */
    @Test
    void largeElementsArePoppedWhileEarlierRepliesAreUnread() {
        String large = "y".repeat(100_000);
        server.run("RPUSH", "l", "a" + large, "b" + large, "c" + large);
        var first = server.runUnread("LINDEX", "l", "1");
        var second = server.runUnread("LPOP", "l");
        var third = server.runUnread("LMOVE", "l", "l", "RIGHT", "LEFT");
        server.run("LSET", "l", "0", "short");
        assertThat(CommandHarness.text(first)).isEqualTo("$100001\r\nb" + large + "\r\n");
        assertThat(CommandHarness.text(second)).isEqualTo("$100001\r\na" + large + "\r\n");
        assertThat(CommandHarness.text(third)).isEqualTo("$100001\r\nc" + large + "\r\n");
        assertThat(server.run("LRANGE", "l", "0", "-1"))
                .isEqualTo("*2\r\n$5\r\nshort\r\n$100001\r\nb" + large + "\r\n");
    }

    /** A refused command changes none of its keys. */
    @Test
    void aRefusalLeavesTheListsUnchanged() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            String piece = "p".repeat(40_000);
            full.run("RPUSH", "l", "a", piece, "b");
            full.run("RPUSH", "m", "c");
            int pushed = 0;
            while (full.run("RPUSH", "l", piece).startsWith(":")) {
                pushed++;
            }
            String length = ":" + (pushed + 3) + "\r\n";
            String fill = "f".repeat(1_000);
            for (int i = 0; full.run("SET", "fill" + i, fill).startsWith("+"); i++) {
                assertThat(i).isLessThan(10_000);
            }
            for (String[] command : new String[][] {{"LPUSH", "l", piece}, {"LINSERT", "l", "AFTER", "a", piece},
                    {"LSET", "l", "0", piece}, {"LMOVE", "l", "m", "RIGHT", "LEFT"},
                    {"LMOVE", "l", "new", "RIGHT", "LEFT"}, {"RPUSH", "m", piece},
                    {"RPUSH", "l", "d", piece, "e"}, {"LPUSH", "l", "d", piece, "e"}, {"LPUSH", "m", "d", piece}}) {
                assertThat(full.run(command)).as(command[0]).startsWith("-OOM");
                assertThat(full.run("LLEN", "l")).isEqualTo(length);
                assertThat(full.run("LINDEX", "l", "0")).isEqualTo("$1\r\na\r\n");
                assertThat(full.run("LRANGE", "m", "0", "-1")).isEqualTo("*1\r\n$1\r\nc\r\n");
                assertThat(full.run("EXISTS", "new")).isEqualTo(":0\r\n");
            }
            assertThat(full.run("LPOP", "l")).isEqualTo("$1\r\na\r\n");
            assertThat(full.run("RPOP", "l")).startsWith("$40000");
            assertThat(full.run("LTRIM", "l", "0", "1")).isEqualTo("+OK\r\n");
            assertThat(full.run("LINDEX", "l", "1")).isEqualTo("$1\r\nb\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
        }
    }
}

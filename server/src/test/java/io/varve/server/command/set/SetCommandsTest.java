package io.varve.server.command.set;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Replies and effects of set commands in both protocols. Confined to the test's thread. */
class SetCommandsTest extends HarnessTest {
    /** The elements of an aggregate, sorted. */
    static Set<String> elements(String reply) {
        String[] lines = reply.split("\r\n");
        Set<String> elements = new TreeSet<>();
        for (int i = 2; i < lines.length; i += 2) {
            assertThat(elements.add(lines[i])).as("%s twice", lines[i]).isTrue();
        }
        assertThat(lines[0].substring(1)).isEqualTo(Integer.toString(elements.size()));
        return elements;
    }

    private Set<String> members(String key) {
        return elements(server.run("SMEMBERS", key));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"SADD i 3 4; :1", "SADD i 1; :0", "SADD new x x y; :2", "SADD str x; -W",
            "SREM i 1 1 9; :1", "SREM i 1 2 3; :3", "SREM missing x; :0", "SREM str x; -W", "SCARD i; :3",
            "SCARD missing; :0", "SCARD str; -W", "SISMEMBER i 2; :1", "SISMEMBER i 02; :0", "SISMEMBER m b; :1",
            "SISMEMBER missing b; :0", "SMISMEMBER m a z 1; *3 :1 :0 :1", "SMISMEMBER missing a b; *2 :0 :0",
            "SMISMEMBER str a; -W", "SMOVE missing str x; :0", "SMOVE i str 1; -W", "SMOVE str i 1; -W",
            "SMOVE i i 1; :1", "SMOVE i i 9; :0", "SMOVE i m 9; :0", "SMOVE i m 2; :1", "SMOVE i m 1; :1",
            "SMOVE i new 1; :1", "SINTER i m; *1 $1 1", "SINTER i missing; *0", "SINTER missing str; -W",
            "SINTER i; *3 $1 1 $1 2 $1 3", "SDIFF i m; *2 $1 2 $1 3", "SDIFF missing i; *0", "SUNION missing; *0",
            "SUNION i; *3 $1 1 $1 2 $1 3", "SINTERCARD 2 i m; :1", "SINTERCARD 1 i LIMIT 2; :2",
            "SINTERCARD 1 i LIMIT 0; :3", "SINTERCARD 2 missing str; -W",
            "SINTERCARD 0 i; -ERR numkeys should be greater than 0",
            "SINTERCARD x i; -ERR numkeys should be greater than 0",
            "SINTERCARD 2 i; -ERR Number of keys can't be greater than number of args",
            "SINTERCARD 1 i LIMIT; -ERR syntax error", "SINTERCARD 1 i LIMIT -1; -ERR LIMIT can't be negative",
            "SINTERCARD 1 i foo 1; -ERR syntax error", "SINTERSTORE d i m; :1", "SINTERSTORE d i missing; :0",
            "SINTERSTORE d i str; -W", "SUNIONSTORE d i m; :5", "SDIFFSTORE d i m; :2", "SDIFFSTORE str i m; :2",
            "SRANDMEMBER missing; $-1", "SRANDMEMBER missing 3; *0", "SRANDMEMBER i 0; *0", "SRANDMEMBER str; -W",
            "SRANDMEMBER i x; -ERR value is not an integer or out of range", "SRANDMEMBER i 1 2; -ERR syntax error",
            "SRANDMEMBER i 9; *3 $1 1 $1 2 $1 3", "SPOP missing; $-1", "SPOP missing 2; *0", "SPOP i 0; *0",
            "SPOP i -1; -ERR value is out of range, must be positive",
            "SPOP str x; -ERR value is out of range, must be positive", "SPOP str 0; -W",
            "SPOP i 1 2; -ERR syntax error", "SPOP i 9; *3 $1 1 $1 2 $1 3", "SSCAN i 0; *2 $1 0 *3 $1 1 $1 2 $1 3",
            "SSCAN missing 0 foo; *2 $1 0 *0", "SSCAN str 0; -W", "SSCAN i x; -ERR invalid cursor",
            "SSCAN i 0 TYPE set; -ERR syntax error", "SSCAN m 0 MATCH [a-b]; *2 $1 0 *2 $1 a $1 b",
            "TYPE i; +set", "SMEMBERS missing; *0"})
    void repliesAreThoseOfRedis(String command, String reply) {
        server.run("SADD i 1 2 3");
        server.run("SADD m a b 1");
        server.run("SET str s");
        assertThat(execute(command))
                .isEqualTo(reply.equals("-W")
                        ? "-WRONGTYPE Operation against a key holding the wrong kind of value"
                        : reply);
    }

    @Test
    void membersAreSetsInResp3() {
        server.run("SADD i 1 2");
        server.run("HELLO 3");
        assertThat(execute("SMEMBERS i")).isEqualTo("~2 $1 1 $1 2");
        assertThat(execute("SUNION i")).isEqualTo("~2 $1 1 $1 2");
        assertThat(execute("SINTER i missing")).isEqualTo("~0");
        assertThat(execute("SDIFF i")).isEqualTo("~2 $1 1 $1 2");
        assertThat(execute("SRANDMEMBER i 2")).isEqualTo("*2 $1 1 $1 2");
        assertThat(execute("SRANDMEMBER missing")).isEqualTo("_");
        assertThat(execute("SPOP missing 1")).isEqualTo("~0");
        assertThat(execute("SPOP i 2")).isEqualTo("~2 $1 1 $1 2");
        assertThat(execute("SPOP i")).isEqualTo("_");
    }

    @Test
    void aSetWithoutMembersIsDeleted() {
        server.run("SADD a 1");
        server.run("SREM a 1");
        server.run("SADD b x");
        server.run("SPOP b");
        server.run("SADD c x y");
        server.run("SPOP c 2");
        server.run("SADD d x");
        server.run("SMOVE d e x");
        server.run("SADD f x");
        server.run("SINTERSTORE f f missing");
        assertThat(execute("EXISTS a b c d f")).isEqualTo(":0");
        assertThat(execute("DBSIZE")).isEqualTo(":1");
    }

    @Test
    void integersAreAnIntsetUntilTheyAreTooManyOrOneIsNone() {
        server.run("SADD s 1 -70000 9223372036854775807");
        assertThat(encodingOf("s")).isEqualTo("intset");
        assertThat(execute("SMEMBERS s")).isEqualTo("*3 $6 -70000 $1 1 $19 9223372036854775807");
        server.run("SADD s 9223372036854775808");
        assertThat(encodingOf("s")).isEqualTo("listpack");
        assertThat(members("s")).containsExactlyInAnyOrder("1", "-70000", "9223372036854775807", "9223372036854775808");
        server.run("SREM s 9223372036854775808");
        assertThat(encodingOf("s")).as("no way back").isEqualTo("listpack");
        addNumbers("t", 1, 512);
        assertThat(encodingOf("t")).isEqualTo("intset");
        addNumbers("t", 500, 513);
        assertThat(encodingOf("t")).isEqualTo("hashtable");
        assertThat(members("t")).hasSize(513);
        addNumbers("u", 1, 127);
        server.run("SADD u x");
        assertThat(encodingOf("u")).isEqualTo("listpack");
        server.run("SADD u y");
        assertThat(encodingOf("u")).isEqualTo("hashtable");
        server.run("SADD", "v", "x".repeat(64));
        server.run("SADD", "v", "x".repeat(64), "y");
        assertThat(encodingOf("v")).isEqualTo("listpack");
        server.run("SADD", "v", "x".repeat(65));
        assertThat(encodingOf("v")).isEqualTo("hashtable");
        server.run("SADD", "w", "1", "x".repeat(65), "2");
        assertThat(encodingOf("w")).isEqualTo("hashtable");
    }

    private void addNumbers(String key, int from, int to) {
        List<String> words = new ArrayList<>(List.of("SADD", key));
        for (int i = from; i <= to; i++) {
            words.add(Integer.toString(i));
        }
        server.run(words.toArray(String[]::new));
    }

    @Test
    void encodingsFollowTheSettings() {
        server.close();
        server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
                .with("set-max-intset-entries", "2").with("set-max-listpack-entries", "0"));
        server.run("SADD s 1 2");
        assertThat(encodingOf("s")).isEqualTo("intset");
        server.run("SADD s 3");
        assertThat(encodingOf("s")).isEqualTo("hashtable");
        server.run("SADD t x");
        assertThat(encodingOf("t")).isEqualTo("hashtable");
        assertThat(execute("CONFIG SET set-max-listpack-entries 5 set-max-listpack-value 3")).isEqualTo("+OK");
        server.run("SADD u xyz");
        assertThat(encodingOf("u")).isEqualTo("listpack");
        server.run("SADD u xyza");
        assertThat(encodingOf("u")).isEqualTo("hashtable");
        server.run("SADD v 1234 x");
        assertThat(encodingOf("v")).as("a number of four digits").isEqualTo("hashtable");
    }

    @Test
    void aStoredResultIsWhatItsMembersMakeIt() {
        addNumbers("many", 1, 600);
        server.run("SADD text a b");
        server.run("SADD two 1 2");
        server.run("SINTERSTORE d many two");
        assertThat(encodingOf("d")).isEqualTo("intset");
        server.run("SUNIONSTORE d two text");
        assertThat(encodingOf("d")).isEqualTo("listpack");
        server.run("SUNIONSTORE d many text");
        assertThat(encodingOf("d")).isEqualTo("hashtable");
        server.run("SDIFFSTORE d d text");
        assertThat(encodingOf("d")).isEqualTo("hashtable");
        server.run("SINTERSTORE d d two");
        assertThat(encodingOf("d")).isEqualTo("intset");
        assertThat(members("d")).containsExactly("1", "2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"d a", "a d", "d d", "a d b d", "d a b"})
    void theTargetMayBeAmongTheSources(String sources) {
        for (String operation : new String[] {"SUNION", "SINTER", "SDIFF"}) {
            server.run("DEL a b d");
            server.run("SADD a 1 2 x long-member-of-a");
            server.run("SADD b 2 3 y");
            server.run("SADD d 2 1 z another-member 70000");
            server.run("EXPIRE d 1000");
            Set<String> expected = elements(server.run((operation + " " + sources).split(" ")));
            assertThat(execute(operation + "STORE d " + sources)).isEqualTo(":" + expected.size());
            assertThat(members("d")).isEqualTo(expected);
            assertThat(execute("TTL d")).isEqualTo(expected.isEmpty() ? ":-2" : ":-1");
        }
    }

    @Test
    void storeOverwritesAnyType() {
        server.run("SADD a 1");
        server.run("SET d text EX 1000");
        assertThat(execute("SUNIONSTORE d a")).isEqualTo(":1");
        assertThat(execute("TYPE d")).isEqualTo("+set");
        assertThat(execute("TTL d")).isEqualTo(":-1");
        server.run("HSET h f v");
        assertThat(execute("SINTERSTORE h a missing")).isEqualTo(":0");
        assertThat(execute("EXISTS h")).isEqualTo(":0");
    }

    @Test
    void aTimeToLiveStaysWithASetThatChanges() {
        server.run("SADD s 1");
        server.run("EXPIRE s 1000");
        server.run("SADD s x y z");
        server.run("SREM s x");
        server.run("SPOP s");
        assertThat(execute("TTL s")).isEqualTo(":1000");
    }

    @Test
    void setsTravelAsAnyKeyDoes() {
        server.run("SADD s 1 2 x");
        assertThat(execute("COPY s t")).isEqualTo(":1");
        assertThat(execute("RENAME t u")).isEqualTo("+OK");
        assertThat(execute("MOVE u 1")).isEqualTo(":1");
        server.run("SELECT 1");
        assertThat(members("u")).containsExactly("1", "2", "x");
        assertThat(encodingOf("u")).isEqualTo("listpack");
        assertThat(execute("SCAN 0 TYPE set COUNT 100")).isEqualTo("*2 $1 0 *1 $1 u");
        assertThat(execute("MEMORY USAGE u")).startsWith(":");
        assertThat(execute("DEBUG OBJECT u")).contains("encoding:listpack").contains("type:set");
    }

    // --- random members

    @Test
    void differentMembersHaveTheSameChance() {
        server.run("SADD s a b 1 2");
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 4000; i++) {
            elements(server.run("SRANDMEMBER s 2")).forEach(member -> counts.merge(member, 1, Integer::sum));
        }
        // 2000 each, with a standard deviation of 32.
        assertThat(counts.values()).hasSize(4).allMatch(count -> count > 1800 && count < 2200);
    }

    @Test
    void randomMembersInTheRequestedNumber() {
        addNumbers("s", 0, 9);
        server.run("SADD t a b c d e f g h i j");
        for (String key : new String[] {"s", "t"}) {
            String[] lines = server.run("SRANDMEMBER " + key + " -25000").split("\r\n");
            assertThat(lines[0]).isEqualTo("*25000");
            Map<String, Integer> counts = new HashMap<>();
            for (int i = 2; i < lines.length; i += 2) {
                counts.merge(lines[i], 1, Integer::sum);
            }
            // 2500 each, with a standard deviation of 47.
            assertThat(counts.values()).hasSize(10).allMatch(count -> count > 2150 && count < 2850);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "5", "19", "20"})
    void poppedMembersAreRemoved(String count) {
        for (boolean text : new boolean[] {false, true}) {
            server.run("DEL s");
            addNumbers("s", 1, 20);
            if (text) {
                server.run("SADD s text");
                server.run("SREM s text");
            }
            Set<String> all = members("s");
            Set<String> popped = elements(server.run("SPOP", "s", count));
            assertThat(popped).hasSize(Integer.parseInt(count)).isSubsetOf(all);
            Set<String> left = new HashSet<>(all);
            left.removeAll(popped);
            assertThat(members("s")).isEqualTo(new TreeSet<>(left));
        }
    }

    @Test
    void poppedOneByOneEachComesOnce() {
        server.run("SADD s a b c d 1 2 3");
        Set<String> popped = new TreeSet<>();
        for (int i = 0; i < 7; i++) {
            popped.add(server.run("SPOP s").split("\r\n")[1]);
        }
        assertThat(popped).containsExactly("1", "2", "3", "a", "b", "c", "d");
        assertThat(execute("EXISTS s")).isEqualTo(":0");
    }

    @Test
    void fewRemainingMembersAreRebuilt() {
        server.run("CONFIG SET set-max-listpack-entries 4");
        addNumbers("s", 1, 11);
        server.run("SADD s x");
        server.run("SREM s x");
        assertThat(encodingOf("s")).isEqualTo("hashtable");
        server.run("SPOP s 9");
        assertThat(encodingOf("s")).as("two of eleven").isEqualTo("hashtable");
        addNumbers("s", 1, 12);
        server.run("SPOP s 10");
        assertThat(encodingOf("s")).as("two of twelve").isEqualTo("intset");
        assertThat(members("s")).hasSize(2);
    }

    // --- SSCAN

    @Test
    void aScanOfALargeSetFindsWhatStays() {
        for (int i = 0; i < 300; i++) {
            server.run("SADD", "s", "member" + i);
        }
        assertThat(encodingOf("s")).isEqualTo("hashtable");
        Set<String> seen = new HashSet<>();
        String cursor = "0";
        int calls = 0;
        do {
            String[] lines = server.run("SSCAN", "s", cursor, "COUNT", "7").split("\r\n");
            cursor = lines[2];
            for (int i = 5; i < lines.length; i += 2) {
                seen.add(lines[i]);
            }
            server.run("SREM", "s", "member" + 2 * calls);
            server.run("SADD", "s", "new" + calls);
            calls++;
        } while (!cursor.equals("0"));
        assertThat(calls).isBetween(40, 60);
        for (int i = 0; i < 300; i++) {
            if (i % 2 == 1 || i > 2 * calls) {
                assertThat(seen).contains("member" + i);
            }
        }
    }

    // --- out of memory

    @Test
    void aRefusedSetIsUnchanged() {
        server.close();
        server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2")
                .with("maxmemory-policy", "noeviction"));
        String[] members = new String[40];
        Arrays.setAll(members, i -> i + "m".repeat(20_000));
        for (String key : new String[] {"a", "b"}) {
            List<String> words = new ArrayList<>(List.of("SADD", key));
            words.addAll(List.of(members));
            assertThat(execute(words.toArray(String[]::new))).isEqualTo(":40");
        }
        int i = 0;
        while (execute("SUNIONSTORE copy" + i + " a").startsWith(":")) {
            i++;
        }
        String full = "-OOM command not allowed when used memory > 'maxmemory'.";
        assertThat(execute("SUNIONSTORE a a b copy0")).isIn(":40", full);
        assertThat(execute("SUNIONSTORE copy" + i + " a b")).isEqualTo(full);
        assertThat(execute("EXISTS copy" + i)).isEqualTo(":0");
        assertThat(execute("SCARD a")).isEqualTo(":40");
        assertThat(execute("SCARD b")).isEqualTo(":40");
        assertThat(execute("SMOVE", "a", "b", members[3])).isEqualTo(":1");
        assertThat(execute("SCARD a")).isEqualTo(":39");
        assertThat(execute("SPOP b 3")).startsWith("*3");
        assertThat(execute("SCARD b")).isEqualTo(":37");
    }
}

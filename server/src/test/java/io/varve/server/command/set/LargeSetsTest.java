package io.varve.server.command.set;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The conversion of a set to a tree, and the differences afterwards. Confined to the test's thread. */
class LargeSetsTest extends HarnessTest {
    private static String names(String prefix, int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> prefix + i).collect(Collectors.joining(" "));
    }

    private static Set<String> model(String prefix, int from, int to) {
        return new TreeSet<>(Arrays.asList(names(prefix, from, to).split(" ")));
    }

    private Set<String> elements(String... command) {
        String reply = server.run(command);
        assertThat(reply).startsWith("*");
        return SetCommandsTest.elements(reply);
    }

    private Set<String> members(String key) {
        return elements("SMEMBERS", key);
    }

    private void encodingIs(String key, String expected) {
        assertThat(execute("OBJECT ENCODING " + key)).endsWith(" " + expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SADD s m128", "SADD s m0 m128 m7 m128", "SMOVE other s m128"})
    void aSetBecomesATreeWithOneMemberMoreThanIsPacked(String command) {
        execute("SADD other m128 x");
        execute("SADD s " + names("m", 0, 128));
        execute("EXPIRE s 100");
        expect("SADD s m5 m6", ":0");
        assertThat(isTree("s")).isFalse();
        encodingIs("s", "listpack");
        expect(command, ":1");
        assertThat(isTree("s")).isTrue();
        assertThat(members("s")).isEqualTo(model("m", 0, 129));
        expect("TTL s", ":100");
        encodingIs("s", "hashtable");
        expect("SREM s m5 m5 missing m7", ":2");
        encodingIs("s", "hashtable");
        expect("SCARD s", ":127");
        execute("SREM s " + names("m", 0, 129));
        expect("EXISTS s", ":0");
        expect("SADD s again", ":1");
        encodingIs("s", "listpack");
        assertThat(isTree("s")).isFalse();
    }

    @Test
    void integersStayPackedLonger() {
        execute("SADD s " + names("", 0, 512));
        assertThat(isTree("s")).isFalse();
        encodingIs("s", "intset");
        expect("COPY s t", ":1");
        expect("SADD s 512", ":1");
        assertThat(isTree("s")).isTrue();
        encodingIs("s", "hashtable");
        assertThat(members("s")).isEqualTo(model("", 0, 513));
        expect("SADD t 5 x 6", ":1");
        assertThat(isTree("t")).isTrue();
        encodingIs("t", "hashtable");
        expect("SISMEMBER t 511", ":1");
        expect("SISMEMBER t 0511", ":0");
        execute("SADD u " + names("", 0, 100));
        expect("SADD u x", ":1");
        assertThat(isTree("u")).isFalse();
        encodingIs("u", "listpack");
    }

    @Test
    void aSetBecomesATreeWithMoreBytesThanArePacked() {
        String half = "h".repeat(4080);
        expect("SADD s " + half + " i" + half, ":2");
        assertThat(isTree("s")).isFalse();
        expect("SADD s " + "c".repeat(100), ":1");
        assertThat(isTree("s")).isTrue();
        assertThat(members("s")).isEqualTo(Set.of(half, "i" + half, "c".repeat(100)));
        expect("SADD one " + half + half + half, ":1");
        assertThat(isTree("one")).isFalse();
        expect("SADD one x", ":1");
        assertThat(isTree("one")).isTrue();
    }

    /** As that of a packed set with the same past. */
    @Test
    void theReportedEncodingFollowsItsOwnLimits() {
        expect("CONFIG SET packed-max-entries 2 set-max-intset-entries 0 set-max-listpack-entries 5"
                + " set-max-listpack-value 3", "+OK");
        execute("SADD s 1 2 3");
        assertThat(isTree("s")).isTrue();
        encodingIs("s", "hashtable");
        execute("SADD t x y z 1");
        assertThat(isTree("t")).isTrue();
        encodingIs("t", "listpack");
        expect("COPY t u", ":1");
        expect("SADD t 2 3", ":2");
        encodingIs("t", "hashtable");
        expect("SADD u 1234", ":1");
        encodingIs("u", "hashtable");
        expect("CONFIG SET set-max-intset-entries 3", "+OK");
        execute("SADD v 1 2 3");
        assertThat(isTree("v")).isFalse();
        execute("SADD v x");
        assertThat(isTree("v")).isTrue();
        encodingIs("v", "listpack");
        execute("SADD w 1 2 3");
        execute("SADD w 4");
        encodingIs("w", "hashtable");
        execute("SADD x 1234 2 y");
        encodingIs("x", "hashtable");
        assertThat(execute("DEBUG OBJECT t")).contains("encoding:hashtable");
    }

    @Test
    void fewRemainingMembersReportTheirNewEncoding() {
        execute("SADD s x " + names("", 0, 3000));
        expect("SREM s x", ":1");
        assertThat(elements("SPOP", "s", "2400")).hasSize(2400);
        encodingIs("s", "hashtable");
        execute("SADD s " + names("", 0, 3000));
        Set<String> popped = elements("SPOP", "s", "2500");
        encodingIs("s", "intset");
        Set<String> left = members("s");
        assertThat(left).hasSize(500).doesNotContainAnyElementsOf(popped);
        expect("SADD s " + names("", 10_000, 10_012), ":12");
        encodingIs("s", "intset");
        expect("SADD s 20000", ":1");
        encodingIs("s", "hashtable");
        expect("SCARD s", ":513");
        execute("SADD t x " + names("", 0, 1000));
        server.run("SPOP", "t", "910");
        expect("SADD t y", ":1");
        encodingIs("t", "listpack");
    }

    @Test
    void membersMoveBetweenSets() {
        for (String to : new String[] {"a", "b", "c", "d", "e"}) {
            execute("SADD from " + names("m", 0, 300) + " " + names("", 0, 300));
            for (int i = 0; i < 300; i++) {
                expect("SMOVE from " + to + " m" + i, ":1");
                expect("SMOVE from " + to + " " + i, ":1");
                expect("SMOVE from " + to + " " + i, ":0");
            }
            expect("EXISTS from", ":0");
            Set<String> all = model("m", 0, 300);
            all.addAll(model("", 0, 300));
            assertThat(members(to)).isEqualTo(all);
        }
        expect("SMOVE a b 7", ":1");
        expect("SCARD a", ":599");
        expect("SCARD b", ":600");
        expect("SMOVE a a m7", ":1");
        expect("SMISMEMBER a m7 7 m8", "*3 :1 :0 :1");
    }

    @Test
    void randomMembersOfATree() {
        execute("SADD s " + names("m", 0, 5000));
        assertThat(elements("SRANDMEMBER", "s", "2000")).hasSize(2000);
        assertThat(elements("SRANDMEMBER", "s", "9999")).isEqualTo(model("m", 0, 5000));
        assertThat(execute("SRANDMEMBER s")).matches("\\$\\d m\\d+");
        assertThat(server.run("SRANDMEMBER", "s", "-20000").split("\r\n")).hasSize(40_001);
        Set<String> left = model("m", 0, 5000);
        for (int count : new int[] {1, 10, 1000, 3000, 900}) {
            Set<String> popped = elements("SPOP", "s", Integer.toString(count));
            assertThat(popped).hasSize(count).isSubsetOf(left);
            left.removeAll(popped);
            assertThat(members("s")).isEqualTo(left);
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
        assertThat(elements("SPOP", "s", "100")).isEqualTo(left);
        expect("EXISTS s", ":0");
    }

    @Test
    void aScanFindsWhatStaysWhileTheSetGrowsIntoATree() {
        execute("SADD s " + names("", 0, 512));
        assertThat(server.run("SSCAN s 0 COUNT 10")).startsWith("*2\r\n$1\r\n0\r\n*512\r\n");
        execute("SADD s " + names("m", 0, 1000));
        Set<String> seen = new TreeSet<>();
        String cursor = "0";
        int calls = 0;
        do {
            String[] lines = server.run("SSCAN", "s", cursor, "COUNT", "10").split("\r\n");
            cursor = lines[2];
            assertThat(Integer.parseInt(lines[3].substring(1))).isLessThan(20);
            for (int i = 5; i < lines.length; i += 2) {
                seen.add(lines[i]);
            }
            execute("SREM s m" + 2 * calls);
            execute("SADD s new" + calls);
            calls++;
        } while (!cursor.equals("0"));
        assertThat(calls).isBetween(100, 200);
        assertThat(seen).containsAll(model("", 0, 512));
        for (int i = 1; i < 1000; i += 2) {
            assertThat(seen).contains("m" + i);
        }
    }

    // --- several sets

    /** The members lie under the key that is written; sets of all layouts, few and many. */
    @ParameterizedTest
    @ValueSource(strings = {"tree tree2", "tree integers", "packed tree", "integers packed tree tree2",
            "tree integers packed numbers tree2 missing", "tree tree", "tree packed packed packed packed packed packed",
            "integers few few few few few few few", "tree", "missing tree", "target tree packed", "target target",
            "target few few few few few few few packed", "packed target", "few integers target"})
    void operationsOfAllLayouts(String sources) {
        List<String> keys = List.of(sources.split(" "));
        for (String operation : new String[] {"SUNION", "SINTER", "SDIFF"}) {
            server.run("FLUSHALL");
            execute("SADD tree " + names("m", 0, 1000) + " " + names("", 0, 300));
            execute("SADD tree2 " + names("m", 500, 2000));
            execute("SADD integers " + names("", 100, 500));
            execute("SADD numbers " + names("", 450, 460) + " -5 9223372036854775807");
            execute("SADD packed m1 m2 m700 5 450 none");
            execute("SADD few 7 m7");
            execute("SADD target " + names("m", 0, 300) + " " + names("", 5, 50));
            expect("EXPIRE target 100", ":1");
            Set<String> expected = expected(operation, keys);
            List<String> read = new ArrayList<>(List.of(operation));
            read.addAll(keys);
            assertThat(elements(read.toArray(String[]::new))).isEqualTo(expected);
            expect(operation + "STORE target " + sources, ":" + expected.size());
            assertThat(members("target")).isEqualTo(expected);
            expect("TTL target", expected.isEmpty() ? ":-2" : ":-1");
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
    }

    private Set<String> expected(String operation, List<String> keys) {
        Set<String> expected = members(keys.getFirst());
        for (String key : keys.subList(1, keys.size())) {
            switch (operation) {
                case "SUNION" -> expected.addAll(members(key));
                case "SINTER" -> expected.retainAll(members(key));
                default -> expected.removeAll(members(key));
            }
        }
        return expected;
    }

    @Test
    void theIntersectionIsCounted() {
        execute("SADD a " + names("m", 0, 2000));
        execute("SADD b " + names("m", 1500, 4000));
        expect("SINTERCARD 2 a b", ":500");
        expect("SINTERCARD 2 a b LIMIT 77", ":77");
        expect("SINTERCARD 1 a", ":2000");
        expect("ZINTERCARD 2 a b", ":500");
        expect("ZUNIONSTORE z 2 a b", ":4000");
        expect("ZSCORE z m1600", "$1 2");
    }

    /** Redis reports this of a set that it has made of all members of the first by removing those of the others. */
    @Test
    void theRestOfALargeSetReportsHashtable() {
        execute("SADD many " + names("", 0, 600));
        execute("SADD some " + names("", 0, 100));
        execute("SADD one 1");
        expect("SDIFFSTORE d many some", ":500");
        encodingIs("d", "intset");
        expect("SDIFFSTORE d many some one", ":500");
        encodingIs("d", "hashtable");
        assertThat(members("d")).isEqualTo(model("", 100, 600));
        expect("SDIFFSTORE d many some missing missing missing", ":500");
        encodingIs("d", "intset");
        execute("SADD text 1 2 3 x");
        execute("SADD x x");
        expect("SDIFFSTORE d text x x x x x", ":3");
        encodingIs("d", "listpack");
        expect("SDIFFSTORE d text x", ":3");
        encodingIs("d", "intset");
        expect("CONFIG SET set-max-listpack-entries 0", "+OK");
        expect("SDIFFSTORE d text x x x x x", ":3");
        encodingIs("d", "hashtable");
        assertThat(members("d")).containsExactly("1", "2", "3");
    }

    @Test
    void aTreeTakesWhatItsEntriesTake() {
        for (int i = 0; i < 20_000; i += 5000) {
            execute("SADD s " + names("member", i, i + 5000));
        }
        long usage = Long.parseLong(execute("MEMORY USAGE s").substring(1));
        // 11 bytes of a member, its length and a hash of 4.
        assertThat(usage).isBetween(20_000 * 15L, 20_000 * 30L);
        expect("SUNIONSTORE t s", ":20000");
        assertThat(Long.parseLong(execute("MEMORY USAGE t").substring(1))).isBetween(20_000 * 15L, 20_000 * 30L);
        expect("RENAME t u", "+OK");
        expect("MOVE u 1", ":1");
        expect("EXISTS u", ":0");
        expect("PEXPIRE s 10", ":1");
        server.sleep(11);
        expect("SCARD s", ":0");
    }

    @Test
    void aTransactionSeesATree() {
        execute("SADD s " + names("m", 0, 129));
        expect("WATCH s", "+OK");
        expect("SADD s m5", ":0");
        expect("MULTI", "+OK");
        expect("SADD s a b", "+QUEUED");
        expect("SUNIONSTORE t s", "+QUEUED");
        expect("EXEC", "*2 :2 :131");
        expect("WATCH s t", "+OK");
        expect("SREM t m1", ":1");
        expect("MULTI", "+OK");
        expect("SCARD s", "+QUEUED");
        expect("EXEC", "*-1");
    }

    /** A refused addition of many members has changed nothing, and a removal needs no memory. */
    @Test
    void aRefusalAddsNothing() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            full.run("SADD packed 1 2");
            full.run(("SADD tree " + names("m", 0, 300)).split(" "));
            String piece = "p".repeat(30_000);
            fill(full, piece);
            String[] many = new String[22];
            many[0] = "SADD";
            for (String set : new String[] {"packed", "tree", "new"}) {
                many[1] = set;
                many[2] = "short";
                for (int i = 3; i < many.length; i++) {
                    many[i] = i + piece;
                }
                assertThat(full.run(many)).as(set).startsWith("-OOM");
            }
            assertThat(full.run("SMEMBERS packed")).isEqualTo("*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
            assertThat(full.run("SCARD tree")).isEqualTo(":300\r\n");
            assertThat(full.run("SISMEMBER tree short")).isEqualTo(":0\r\n");
            assertThat(full.run("EXISTS new")).isEqualTo(":0\r\n");
            assertThat(full.run("SPOP tree 50")).startsWith("*50\r\n");
            for (int i = 0; i < 300; i++) {
                assertThat(full.run("SREM", "tree", "m" + i)).startsWith(":");
            }
            assertThat(full.run("EXISTS tree")).isEqualTo(":0\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
        }
    }
}

package io.varve.server.command.hash;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The conversion of a hash to a tree, and the differences afterwards. Confined to the test's thread. */
class LargeHashesTest extends HarnessTest {
    private static String pairs(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "f" + i + " " + i).collect(Collectors.joining(" "));
    }

    private static Map<String, String> model(int from, int to) {
        Map<String, String> model = new TreeMap<>();
        IntStream.range(from, to).forEach(i -> model.put("f" + i, Integer.toString(i)));
        return model;
    }

    private Map<String, String> all(String key) {
        String[] lines = server.run("HGETALL", key).split("\r\n");
        Map<String, String> all = new TreeMap<>();
        for (int i = 2; i < lines.length; i += 4) {
            assertThat(all.put(lines[i], lines[i + 2])).as("%s twice", lines[i]).isNull();
        }
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"HSET h f128 128", "HSET h f0 0 f128 128", "HMSET h f5 5 f128 128 f7 7",
            "HSETNX h f128 128",
            "HINCRBY h f128 128", "HINCRBYFLOAT h f128 128"})
    void aHashBecomesATreeWithOneFieldMoreThanIsPacked(String command) {
        expect("CONFIG SET hash-max-listpack-entries 128", "+OK");
        execute("HSET h " + pairs(0, 128));
        execute("EXPIRE h 100");
        assertThat(isTree("h")).isFalse();
        expect("OBJECT ENCODING h", "$8 listpack");
        execute("HSET h f0 0 f127 127");
        assertThat(isTree("h")).isFalse();
        execute(command);
        assertThat(isTree("h")).isTrue();
        assertThat(all("h")).isEqualTo(model(0, 129));
        expect("TTL h", ":100");
        expect("OBJECT ENCODING h", "$9 hashtable");
        expect("HDEL h f5 f5 missing f7", ":2");
        expect("OBJECT ENCODING h", "$9 hashtable");
        expect("HLEN h", ":127");
        for (int i = 0; i < 129; i++) {
            execute("HDEL h f" + i);
        }
        expect("EXISTS h", ":0");
        expect("HSET h again 1", ":1");
        expect("OBJECT ENCODING h", "$8 listpack");
        assertThat(isTree("h")).isFalse();
    }

    @Test
    void aHashBecomesATreeWithMoreBytesThanArePacked() {
        String half = "h".repeat(4070);
        expect("HSET h a " + half + " b " + half, ":2");
        assertThat(isTree("h")).isFalse();
        expect("HSET h a " + half + "c".repeat(100), ":0");
        assertThat(isTree("h")).isTrue();
        expect("HSTRLEN h a", ":4170");
        expect("HGET h b", "$4070 " + half);
        expect("HSET one f " + half + half + half, ":1");
        assertThat(isTree("one")).isFalse();
        expect("HSET one f " + half + half + half + half, ":0");
        assertThat(isTree("one")).isFalse();
        expect("HSET one g 1", ":1");
        assertThat(isTree("one")).isTrue();
        assertThat(all("one")).isEqualTo(Map.of("f", half + half + half + half, "g", "1"));
    }

    @Test
    void theReportedEncodingFollowsItsOwnLimits() {
        expect("CONFIG SET hash-max-listpack-entries 300 hash-max-listpack-value 10", "+OK");
        execute("HSET h " + pairs(0, 300));
        assertThat(isTree("h")).isTrue();
        expect("OBJECT ENCODING h", "$8 listpack");
        expect("COPY h g", ":1");
        expect("COPY h i", ":1");
        expect("HSET h f300 300", ":1");
        expect("OBJECT ENCODING h", "$9 hashtable");
        expect("HSET g f1 01234567890", ":0");
        expect("OBJECT ENCODING g", "$9 hashtable");
        expect("HSET i f1 0 01234567890 0", ":1");
        expect("OBJECT ENCODING i", "$9 hashtable");
        assertThat(execute("DEBUG OBJECT i")).contains("encoding:hashtable");
        expect("HDEL h f300", ":1");
        expect("OBJECT ENCODING h", "$9 hashtable");
    }

    @Test
    void numbersCountInATree() {
        execute("HSET h " + pairs(0, 1000));
        expect("HINCRBY h f7 -10", ":-3");
        expect("HINCRBYFLOAT h f8 0.5", "$3 8.5");
        expect("HINCRBY h f8 1", "-ERR hash value is not an integer");
        expect("HINCRBY h f9 9223372036854775807", "-ERR increment or decrement would overflow");
        expect("HSETNX h f7 1", ":0");
        expect("HMGET h f7 f8 f9 none", "*4 $2 -3 $3 8.5 $1 9 $-1");
        expect("HSTRLEN h f999", ":3");
        expect("HEXISTS h f1000", ":0");
        expect("HLEN h", ":1000");
    }

    /** The order is any, but the same for all. */
    @Test
    void fieldsAndValuesComeInOneOrder() {
        execute("HSET h " + pairs(0, 3000));
        String all = execute("HGETALL h").replaceAll("\\*\\d+ |\\$\\d+ ", "");
        String[] fields = execute("HKEYS h").replaceAll("\\*\\d+ |\\$\\d+ ", "").split(" ");
        String[] values = execute("HVALS h").replaceAll("\\*\\d+ |\\$\\d+ ", "").split(" ");
        assertThat(fields).hasSize(3000);
        assertThat(IntStream.range(0, 3000).mapToObj(i -> fields[i] + " " + values[i])
                .collect(Collectors.joining(" "))).isEqualTo(all);
    }

    @Test
    void aScanFindsWhatStaysWhileTheHashGrowsAndShrinks() {
        execute("HSET h " + pairs(0, 128));
        String cursor = "0";
        Map<String, String> seen = new TreeMap<>();
        int calls = 0;
        do {
            String[] lines = server.run("HSCAN", "h", cursor, "COUNT", "10").split("\r\n");
            cursor = lines[2];
            int words = Integer.parseInt(lines[3].substring(1));
            assertThat(words / 2).isBetween(1, calls == 0 ? 128 : 30);
            for (int i = 0; i < words; i += 2) {
                seen.put(lines[5 + 2 * i], lines[7 + 2 * i]);
            }
            if (calls == 0) {
                // All of a packed hash comes at once; it is a tree from here on.
                assertThat(cursor).isEqualTo("0");
                execute("HSET h " + pairs(128, 1000));
                cursor = server.run("HSCAN", "h", "0", "COUNT", "1").split("\r\n")[2];
                assertThat(cursor).isNotEqualTo("0");
                seen.clear();
                cursor = "0";
                calls = 1;
                continue;
            }
            execute("HDEL h f" + 2 * calls);
            execute("HSET h new" + calls + " 1");
            calls++;
        } while (!cursor.equals("0") || calls == 1);
        assertThat(calls).isBetween(50, 120);
        for (int i = 0; i < 1000; i++) {
            if (i % 2 == 1 || i > 2 * calls) {
                assertThat(seen).containsEntry("f" + i, Integer.toString(i));
            }
        }
    }

    @Test
    void randomFieldsOfATree() {
        execute("HSET h " + pairs(0, 5000));
        String[] lines = server.run("HRANDFIELD", "h", "2000", "WITHVALUES").split("\r\n");
        assertThat(lines[0]).isEqualTo("*4000");
        Map<String, String> picked = new TreeMap<>();
        for (int i = 2; i < lines.length; i += 4) {
            assertThat(lines[i]).isEqualTo("f" + lines[i + 2]);
            picked.put(lines[i], lines[i + 2]);
        }
        assertThat(picked).hasSize(2000);
        assertThat(server.run("HRANDFIELD h 9999").split("\r\n")).hasSize(10_001);
        assertThat(server.run("HRANDFIELD h")).matches("\\$\\d\\r\\nf\\d+\\r\\n");
        server.run("HELLO 3");
        assertThat(execute("HRANDFIELD h -1 WITHVALUES")).matches("\\*1 \\*2 \\$\\d f(\\d+) \\$\\d \\1");
        assertThat(execute("HGETALL h")).startsWith("%5000 $");
    }

    @Test
    void aTreeTakesWhatItsEntriesTake() {
        execute("HSET h " + pairs(0, 20_000));
        long usage = Long.parseLong(execute("MEMORY USAGE h").substring(1));
        // 6 bytes of a field, 5 of a value, their two lengths and a hash of 4.
        assertThat(usage).isBetween(20_000 * 17L, 20_000 * 34L);
        assertThat(execute("DEBUG OBJECT h")).contains("encoding:hashtable serializedlength:");
    }

    @Test
    void aTransactionSeesATree() {
        execute("HSET h " + pairs(0, 129));
        expect("WATCH h", "+OK");
        expect("HSET h f1 2", ":0");
        expect("MULTI", "+OK");
        expect("HGET h f1", "+QUEUED");
        expect("EXEC", "*-1");
        expect("MULTI", "+OK");
        expect("HSET h f1 1 f200 200", "+QUEUED");
        expect("HLEN h", "+QUEUED");
        expect("EXEC", "*2 :1 :130");
    }

    /** A refused write of many fields has changed nothing, and a deletion needs no memory. */
    @Test
    void aRefusalAddsNothing() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            full.run("HSET packed a 1 b 2");
            full.run(("HSET tree " + pairs(0, 300)).split(" "));
            String piece = "p".repeat(30_000);
            fill(full, piece);
            String[] many = new String[44];
            many[0] = "HSET";
            for (String hash : new String[] {"packed", "tree", "new"}) {
                many[1] = hash;
                many[2] = "f1";
                many[3] = "changed";
                for (int i = 4; i < many.length; i += 2) {
                    many[i] = "n" + i;
                    many[i + 1] = piece;
                }
                assertThat(full.run(many)).as(hash).startsWith("-OOM");
            }
            assertThat(full.run("HGETALL packed")).isEqualTo("*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n");
            assertThat(full.run("HLEN tree")).isEqualTo(":300\r\n");
            assertThat(full.run("HGET tree f1")).isEqualTo("$1\r\n1\r\n");
            assertThat(full.run("EXISTS new")).isEqualTo(":0\r\n");
            for (int i = 0; i < 300; i++) {
                assertThat(full.run("HDEL", "tree", "f" + i)).isEqualTo(":1\r\n");
            }
            assertThat(full.run("EXISTS tree")).isEqualTo(":0\r\n");
            assertThat(full.cache().checkIntegrity()).isEmpty();
        }
    }
}

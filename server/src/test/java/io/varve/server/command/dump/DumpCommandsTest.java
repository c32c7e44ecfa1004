package io.varve.server.command.dump;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.rdb.Payloads;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** DUMP and RESTORE, without a network. Confined to the test's thread. */
class DumpCommandsTest {
    private static final String PAYLOAD = Payloads.payload(0, Payloads.texts("value"));
    private static final String BAD_DATA = "-ERR Bad data format";
    private static final String BAD_FOOTER = "-ERR DUMP payload version or checksum are wrong";

    private CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    private void restart(ServerConfig config) {
        server.close();
        server = new CommandHarness(config);
    }

    private String line(String... command) {
        return server.run(command).replace("\r\n", " ").strip();
    }

    private String line(String command) {
        return line(command.split(" "));
    }

    private String dump(String key) {
        String reply = server.run("DUMP", key);
        assertThat(reply).startsWith("$");
        String payload = reply.substring(reply.indexOf('\n') + 1, reply.length() - 2);
        assertThat(reply).startsWith("$" + payload.length() + "\r\n");
        return payload;
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"SET k value; GET k", "SET k -123; GET k", "SET k 3000000000; GET k",
            "RPUSH k a 1 -70000 ''; LRANGE k 0 -1", "SADD k 3 1 2; SMEMBERS k", "SADD k 70000 -1; SMEMBERS k",
            "SADD k a b 7; SMEMBERS k", "HSET k f v g 12; HGETALL k",
            "ZADD k 1 a -inf b 2.5 c 100000 d; ZRANGE k 0 -1 WITHSCORES"})
    void dumpedValuesAreRestored(String make, String look) {
        assertThat(line(make.replace("''", ""))).doesNotStartWith("-");
        String expected = server.run(look.split(" "));
        String encoding = line("OBJECT ENCODING k");
        String payload = dump("k");
        assertThat(payload.substring(payload.length() - 10, payload.length() - 8)).isEqualTo("\n\0");
        assertThat(line("DEL k")).isEqualTo(":1");
        assertThat(line("RESTORE", "k", "0", payload)).isEqualTo("+OK");
        assertThat(server.run(look.split(" "))).isEqualTo(expected);
        assertThat(line("OBJECT ENCODING k")).isEqualTo(encoding);
        assertThat(dump("k")).isEqualTo(payload);
        assertThat(line("TTL k")).isEqualTo(":-1");
    }

    @Test
    void streamsAreRestoredAndCopied() {
        makeStreams();
        for (String key : List.of("packed", "tree")) {
            String info = line("XINFO STREAM " + key + " FULL");
            String digest = line("DEBUG DIGEST-VALUE " + key);
            assertThat(digest).matches("\\*1 \\+[0-9a-f]{40}");
            String payload = dump(key);
            assertThat(line("COPY", key, "copy")).isEqualTo(":1");
            assertThat(line("XINFO STREAM copy FULL")).isEqualTo(info);
            assertThat(line("DEBUG DIGEST-VALUE copy")).isEqualTo(digest);
            assertThat(line("RESTORE", "restored", "0", payload)).isEqualTo("+OK");
            assertThat(withoutActive(line("XINFO STREAM restored FULL"))).isEqualTo(withoutActive(info));
            assertThat(line("DEBUG DIGEST-VALUE restored")).isEqualTo(digest);
            assertThat(dump("restored")).isEqualTo(payload);
            assertThat(line("XADD restored 10-0 a b")).isEqualTo("$4 10-0");
            assertThat(line("XADD copy 10-0 a b")).isEqualTo("$4 10-0");
            assertThat(withoutActive(line("XINFO STREAM restored FULL")))
                    .isEqualTo(withoutActive(line("XINFO STREAM copy FULL")));
            assertThat(line("XINFO STREAM " + key + " FULL")).isEqualTo(info);
            assertThat(line("DEL copy restored")).isEqualTo(":2");
        }
    }

    /** The active time is not part of type 19. */
    private static String withoutActive(String info) {
        return info.replaceAll("active-time :-?\\d+", "");
    }

    @Test
    void emptyStreamsAreRestored() {
        line("XADD k 5-5 f v");
        line("XDEL k 5-5");
        String info = line("XINFO STREAM k FULL");
        String payload = dump("k");
        assertThat(line("RESTORE", "k", "0", payload, "REPLACE")).isEqualTo("+OK");
        assertThat(line("XINFO STREAM k FULL")).isEqualTo(info);
        line("XGROUP CREATE k g $");
        info = line("XINFO STREAM k FULL");
        payload = dump("k");
        assertThat(line("RESTORE", "k", "0", payload, "REPLACE")).isEqualTo("+OK");
        assertThat(line("XINFO STREAM k FULL")).isEqualTo(info);
    }

    /** XSETID can go back behind a deleted entry, so that IDs in a block do not ascend. */
    @Test
    void streamsWithIdsBehindDeletedOnesAreRestored() {
        line("XADD k 5 f v");
        line("XADD k 10 f v");
        line("XDEL k 10");
        assertThat(line("XSETID k 7-0")).isEqualTo("+OK");
        assertThat(line("XADD k 8 f v")).isEqualTo("$3 8-0");
        assertThat(line("XRANGE k 9 +")).isEqualTo("*0");
        assertThat(line("XRANGE k 8 9")).startsWith("*1 *2 $3 8-0");
        assertThat(line("XREVRANGE k 9 -")).startsWith("*2 *2 $3 8-0");
        assertThat(line("XREVRANGE k 7 -")).startsWith("*1 *2 $3 5-0");
        String info = line("XINFO STREAM k FULL");
        assertThat(line("RESTORE", "k", "0", dump("k"), "REPLACE")).isEqualTo("+OK");
        assertThat(line("XINFO STREAM k FULL")).isEqualTo(info);
    }

    /** Collections of thousands of elements, some of them long. */
    @ParameterizedTest
    @CsvSource({"RPUSH,LRANGE k 0 -1", "SADD,SMEMBERS k", "ZADD,ZRANGE k 0 -1 WITHSCORES", "HSET,HGETALL k"})
    void largeCollectionsAreRestored(String command, String look) {
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 3000; i += 100) {
            List<String> words = new ArrayList<>(List.of(command, "k"));
            for (int j = i; j < i + 100; j++) {
                String element = j % 3 == 0 ? Integer.toString(j * 1_000_003) : "element" + j + "x".repeat(j % 97);
                switch (command) {
                    case "ZADD" -> words.addAll(List.of(Double.toString(random.nextInt(1000) / 8.0), element));
                    case "HSET" -> words.addAll(List.of(element, "v".repeat(j % 50)));
                    default -> words.add(element);
                }
            }
            assertThat(line(words.toArray(String[]::new))).startsWith(":");
        }
        String expected = server.run(look.split(" "));
        String encoding = line("OBJECT ENCODING k");
        String payload = dump("k");
        assertThat(line("RESTORE", "k", "0", payload, "REPLACE")).isEqualTo("+OK");
        assertThat(server.run(look.split(" "))).isEqualTo(expected);
        assertThat(line("OBJECT ENCODING k")).isEqualTo(encoding);
    }

    @Test
    void anExistingKeyIsReplacedOnlyWithReplace() {
        line("RPUSH k a b");
        assertThat(line("RESTORE", "k", "0", PAYLOAD)).isEqualTo("-BUSYKEY Target key name already exists.");
        assertThat(line("RESTORE", "k", "0", "corrupt")).isEqualTo("-BUSYKEY Target key name already exists.");
        assertThat(line("RESTORE", "k", "0", "corrupt", "REPLACE")).isEqualTo(BAD_FOOTER);
        assertThat(line("LLEN k")).isEqualTo(":2");
        assertThat(line("RESTORE", "k", "0", PAYLOAD, "replace")).isEqualTo("+OK");
        assertThat(line("GET k")).isEqualTo("$5 value");
        assertThat(line("DUMP none")).isEqualTo("$-1");
    }

    @Test
    void aTtlIsRelativeWithoutAbsttl() {
        assertThat(line("RESTORE", "k", "5000", PAYLOAD)).isEqualTo("+OK");
        assertThat(line("PTTL k")).isEqualTo(":5000");
        assertThat(line("RESTORE", "k", Long.toString(server.now() + 7000), PAYLOAD, "ABSTTL", "REPLACE"))
                .isEqualTo("+OK");
        assertThat(line("PTTL k")).isEqualTo(":7000");
        assertThat(line("RESTORE", "k", "0", PAYLOAD, "ABSTTL", "REPLACE")).isEqualTo("+OK");
        assertThat(line("PTTL k")).isEqualTo(":-1");
        assertThat(line("RESTORE", "past", "1", PAYLOAD, "ABSTTL")).isEqualTo("+OK");
        assertThat(line("RESTORE", "k", "1", PAYLOAD, "ABSTTL", "REPLACE")).isEqualTo("+OK");
        assertThat(line("EXISTS past k")).isEqualTo(":0");
        String large = Payloads.payload(1, Payloads.length(300) + Payloads.texts("e").repeat(300));
        assertThat(line("RESTORE", "tree", "5000", large)).isEqualTo("+OK");
        assertThat(line("PTTL tree")).isEqualTo(":5000");
        server.sleep(5001);
        assertThat(line("EXISTS tree")).isEqualTo(":0");
    }

    @Test
    void idleTimeAndFrequencyAreTakenOverAsThePolicyKeepsThem() {
        assertThat(line("RESTORE", "k", "0", PAYLOAD, "IDLETIME", "1000")).isEqualTo("+OK");
        assertThat(line("OBJECT IDLETIME k")).isEqualTo(":1000");
        assertThat(line("RESTORE", "f", "0", PAYLOAD, "FREQ", "80")).isEqualTo("+OK");
        assertThat(line("OBJECT IDLETIME f")).isEqualTo(":0");
        restart(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4").with("maxmemory-policy",
                "allkeys-lfu"));
        assertThat(line("RESTORE", "f", "0", PAYLOAD, "FREQ", "80")).isEqualTo("+OK");
        assertThat(line("OBJECT FREQ f")).isEqualTo(":80");
        assertThat(line("RESTORE", "k", "0", PAYLOAD, "IDLETIME", "1000")).isEqualTo("+OK");
        assertThat(line("OBJECT FREQ k")).isEqualTo(":5");
        restart(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4").with("maxmemory-policy",
                "allkeys-hyperbolic"));
        assertThat(line("RESTORE", "f", "0", PAYLOAD, "FREQ", "80")).isEqualTo("+OK");
        assertThat(line("OBJECT FREQ f")).startsWith("-ERR An LFU maxmemory policy is not selected");
        assertThat(line("RESTORE", "k", "0", PAYLOAD, "IDLETIME", "1000")).isEqualTo("+OK");
        assertThat(line("OBJECT IDLETIME k")).startsWith("-ERR The maxmemory policy keeps neither idle times")
                .contains("CONFIG SET maxmemory-policy");
    }

    @ParameterizedTest
    @CsvSource({"0 IDLETIME 1 FREQ 1,-ERR syntax error", "0 FREQ 1 IDLETIME 1,-ERR syntax error",
            "0 IDLETIME,-ERR syntax error", "0 FREQ,-ERR syntax error", "0 foo,-ERR syntax error",
            "0 IDLETIME -1,'-ERR Invalid IDLETIME value, must be >= 0'",
            "0 FREQ 256,'-ERR Invalid FREQ value, must be >= 0 and <= 255'",
            "0 FREQ x,-ERR value is not an integer or out of range", "-1,'-ERR Invalid TTL value, must be >= 0'",
            "x,-ERR value is not an integer or out of range"})
    void optionsThatMakeNoSenseAreRefused(String timeAndOptions, String expected) {
        String[] words = timeAndOptions.split(" ");
        List<String> command = new ArrayList<>(List.of("RESTORE", "k", words[0], PAYLOAD));
        command.addAll(List.of(words).subList(1, words.length));
        assertThat(line(command.toArray(String[]::new))).isEqualTo(expected);
        assertThat(line("EXISTS k")).isEqualTo(":0");
    }

    @Test
    void invalidPayloadsAreRefusedWithoutEffect() {
        String[] bad = {Payloads.payload(0, ""), Payloads.payload(1, "\0"), Payloads.payload(2, "\0"),
                Payloads.payload(4, "\0"),
                Payloads.payload(18, "\0"), Payloads.payload(15, Payloads.texts("stream")),
                Payloads.payload(7, "module"),
                // The consumer has none of the pending entries, or another one.
                Payloads.payload(19, without(Payloads.stream(19), 17) + "\0"),
                Payloads.payload(19, without(Payloads.stream(19), 1) + "\u0001"),
                // The length says one more.
                Payloads.payload(19, Payloads.stream(19).replace("\u00ff\u0001\u0007", "\u00ff\u0002\u0007")),
                // The last ID is less than that of the entry.
                Payloads.payload(19, Payloads.stream(19).replace("\u00ff\u0001\u0007", "\u00ff\u0001\u0005")),
                Payloads.payload(2, Payloads.length(2) + Payloads.texts("a", "a")),
                Payloads.payload(4, Payloads.length(2) + Payloads.texts("f", "1", "f", "2")),
                Payloads.payload(17, Payloads.listpack("m", "1", "m", "2")),
                Payloads.payload(17, Payloads.listpack("m", "nan")),
                Payloads.payload(17, Payloads.listpack("m", "x")),
                Payloads.payload(16, Payloads.listpack("f", "v", "g")),
                Payloads.payload(11, Payloads.integers(2, 5, 5))};
        for (String payload : bad) {
            assertThat(line("RESTORE", "k", "0", payload)).isEqualTo(BAD_DATA);
            assertThat(line("EXISTS k")).isEqualTo(":0");
        }
        assertThat(line("RESTORE", "k", "0", Payloads.withFooter("\0" + Payloads.texts("v"), 13)))
                .isEqualTo(BAD_FOOTER);
        assertThat(line("RESTORE", "k", "0", PAYLOAD.substring(2))).isEqualTo(BAD_FOOTER);
        assertThat(line("RESTORE", "k", "0", PAYLOAD.substring(0, PAYLOAD.length() - 8) + "\0".repeat(8)))
                .isEqualTo(BAD_FOOTER);
    }

    private static String without(String value, int bytes) {
        return value.substring(0, value.length() - bytes);
    }

    /** Random changes of what was dumped, with a checksum that is right. */
    @Test
    void corruptPayloadsRestoreAllOrNothing() {
        line("SET string " + "abc".repeat(50));
        line("RPUSH list a b 17 -5000 " + "x".repeat(100) + " " + "y".repeat(9000) + " end");
        line("SADD integers 1 500 70000");
        line("SADD set a b 3 " + "m".repeat(70));
        line("HSET hash f v g 1 h 70000");
        line("HSET large f " + "v".repeat(70) + " g 1");
        line("ZADD zset 1 a 2.5 b -inf c 100000 d");
        line("ZADD skiplist 1 " + "m".repeat(70) + " 2.5 b");
        makeStreams();
        List<String> payloads = new ArrayList<>(List.of(Payloads.payload(15, Payloads.stream(15)),
                Payloads.payload(19, Payloads.stream(19)), Payloads.payload(21, Payloads.stream(21))));
        for (String key : List.of("string", "list", "integers", "set", "hash", "large", "zset", "skiplist", "packed",
                "tree")) {
            payloads.add(dump(key));
        }
        payloads.add(Payloads.payload(10, Payloads.ziplist("a", "12", "-1000", "x".repeat(300))));
        payloads.add(Payloads.payload(12, Payloads.ziplist("a", "1", "b", "2.5")));
        payloads.add(Payloads.payload(13, Payloads.ziplist("a", "1", "b", "2.5")));
        payloads.add(Payloads.payload(9, Payloads.zipmap("a", "1", "b", "2.5")));
        payloads.add(Payloads.payload(0, "\u00c3\u0009\u0017\u0002abc\u0080\u0002\u00e0\u0005\u0000"));
        long seed = TestBudget.seed("varve.fuzz.seed");
        SplittableRandom random = new SplittableRandom(seed);
        int restored = 0;
        long rounds = TestBudget.of("varve.fuzz.payloads", 20_000, 500_000);
        for (long round = 0; round < rounds; round++) {
            String payload = payloads.get(random.nextInt(payloads.size()));
            String changed = Payloads.withFooter(changed(payload.substring(0, payload.length() - 10), random), 10);
            String reply = line("RESTORE", "k", "0", changed, "REPLACE");
            if (reply.equals("+OK")) {
                restored++;
                if (line("EXISTS k").equals(":0")) {
                    // A hash whose fields have all expired.
                    assertThat((int) changed.charAt(0)).isBetween(22, 25);
                    continue;
                }
                String again = dump("k");
                walk("k");
                assertThat(line("RESTORE", "other", "0", again)).isEqualTo("+OK");
                assertThat(dump("other")).isEqualTo(again);
                assertThat(line("DEL k other")).isEqualTo(":2");
            } else {
                assertThat(reply).as("seed %d", seed).isEqualTo(BAD_DATA);
                assertThat(line("EXISTS k")).isEqualTo(":0");
            }
        }
        assertThat(restored).isPositive();
    }

    private void makeStreams() {
        for (int i = 1; i <= 6; i++) {
            line("XADD packed " + i + "-1 f " + i + " g v" + i);
        }
        line("XADD packed 9-9 other 70000");
        line("XDEL packed 2-1 3-1");
        line("COPY packed tree");
        for (String group : List.of("a", "b")) {
            line("XGROUP CREATE tree " + group + " 1-0");
            line("XREADGROUP GROUP " + group + " x COUNT 2 STREAMS tree >");
            line("XREADGROUP GROUP " + group + " y COUNT 1 STREAMS tree >");
            line("XGROUP CREATECONSUMER tree " + group + " z");
        }
    }

    /** Reads a stream, if it is one, forwards and backwards. */
    private void walk(String key) {
        if (line("TYPE " + key).equals("+stream")) {
            long length = Long.parseLong(line("XLEN " + key).substring(1));
            assertThat(line("XRANGE " + key + " - +")).startsWith("*" + length);
            assertThat(line("XREVRANGE " + key + " + -")).startsWith("*" + length);
            assertThat(line("XINFO STREAM " + key + " FULL")).startsWith("*18");
        }
    }

    private static String changed(String body, SplittableRandom random) {
        StringBuilder changed = new StringBuilder(body);
        for (int i = random.nextInt(3); i >= 0 && !changed.isEmpty(); i--) {
            int at = random.nextInt(Math.min(changed.length(), random.nextBoolean() ? 40 : Integer.MAX_VALUE));
            switch (random.nextInt(6)) {
                case 0 -> changed.deleteCharAt(at);
                case 1 -> changed.insert(at, (char) random.nextInt(256));
                case 2 -> changed.setLength(at);
                case 3 -> changed.setCharAt(0, (char) random.nextInt(22));
                default -> changed.setCharAt(at, (char) random.nextInt(256));
            }
        }
        return changed.toString();
    }
}

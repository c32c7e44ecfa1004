package io.varve.server.command.varve;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** VARVE.CLASS, VARVE.MRC of a class, and penalties in INFO. Confined to the test's thread. */
class PenaltyCommandsTest extends HarnessTest {
    private static final String NOT_TRACKED = "-ERR penalties are not tracked: enable tracking with CONFIG SET penalty-tracking yes\r\n";
    private static final String OK = "+OK\r\n";
    private static final Pattern FIELD = Pattern.compile("(penalty_\\w+):([^\r]*)\r");
    private static final int FIELDS = 9;

    PenaltyCommandsTest() {
        super(new CommandHarness(config()));
    }

    private static ServerConfig config() {
        return ServerConfig.defaults().with("maxmemory", "16mb").with("shards", "4").with("maxmemory-policy",
                "allkeys-lru");
    }

    private void reopen(ServerConfig config) {
        server.close();
        server = new CommandHarness(config);
    }

    private void track() {
        assertThat(server.run("config", "set", "penalty-tracking", "yes")).isEqualTo(OK);
    }

    private int classOf(String name) {
        CacheSession session = server.cache().newSession();
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
            long address = arena.allocate(bytes.length).address();
            Memory.copy(bytes, 0, address, bytes.length);
            Key key = new Key();
            Item item = new Item();
            session.now(server.now());
            session.bind(key, 0, address, bytes.length);
            session.lock(key);
            try {
                assertThat(session.peek(key, item)).as(name).isTrue();
                return session.penaltyClass(item);
            } finally {
                session.unlock(key);
            }
        }
    }

    /** A read that misses, and the write that fills it after so long. */
    private void fill(String key, long millis) {
        assertThat(server.run("get", key)).isEqualTo("$-1\r\n");
        server.sleep(millis);
        assertThat(server.run("set", key, "value")).isEqualTo(OK);
    }

    /** The words of VARVE.CLASS LIST in RESP2, of each class those of its fields in turn. */
    private List<List<String>> list() {
        String reply = server.run("varve.class", "list");
        assertThat(reply).startsWith("*");
        List<List<String>> classes = new ArrayList<>();
        String[] lines = reply.split("\r\n");
        for (int i = 1; i < lines.length;) {
            assertThat(lines[i++]).isEqualTo("*" + 2 * FIELDS);
            List<String> words = new ArrayList<>();
            while (words.size() < 2 * FIELDS) {
                String line = lines[i++];
                words.add(line.startsWith(":") ? line.substring(1) : line.equals("$-1") ? "nil" : lines[i++]);
            }
            classes.add(words);
        }
        return classes;
    }

    private String events(int penaltyClass, String field) {
        List<String> words = list().get(penaltyClass);
        return words.get(words.indexOf(field) + 1);
    }

    private long number(int penaltyClass, String field) {
        return Long.parseLong(events(penaltyClass, field));
    }

    private String info(String name) {
        for (Matcher matcher = FIELD.matcher(server.run("info", "varve")); matcher.find();) {
            if (matcher.group(1).equals(name)) {
                return matcher.group(2);
            }
        }
        return "none";
    }

    // --- commands that write what they do not find

    /** They look and write at once: that is no fill that took no time. */
    @ParameterizedTest
    @ValueSource(strings = {"getset key value", "set key value get", "bitfield key set u8 0 200", "pfadd key element"})
    void aCommandThatWritesWhatItDoesNotFindMeasuresNothing(String command) {
        track();
        server.run(command.split(" "));
        assertThat(classOf("key")).isZero();
        assertThat(info("penalty_measured")).isEqualTo("0");
        server.run("del", "key");
        fill("key", 30);
        assertThat(info("penalty_measured")).as("one that reads does").isEqualTo("1");
        assertThat(server.run("getex", "another", "ex", "60")).isEqualTo("$-1\r\n");
        server.sleep(30);
        server.run("set", "another", "value", "ex", "60");
        assertThat(info("penalty_measured")).as("and one that changes what it finds").isEqualTo("2");
    }

    /** The value is made under another name, and then named. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1000})
    void aFillByRenameIsMeasured(int elements) {
        track();
        for (int i = 0; i < 10; i++) {
            String key = "key" + i;
            assertThat(server.run("lrange", key, "0", "-1")).isEqualTo("*0\r\n");
            server.sleep(30);
            List<String> push = new ArrayList<>(List.of("rpush", "tmp" + i));
            for (int element = 0; element < elements; element++) {
                push.add("element " + element);
            }
            server.run(push.toArray(String[]::new));
            server.run("rename", "tmp" + i, key);
            assertThat(info("penalty_measured")).isEqualTo(Integer.toString(i + 1));
            assertThat(classOf(key)).as("of a miss that cost 30 ms").isEqualTo(new PenaltyRanges(16).classOf(30_000));
        }
        assertThat(list().stream().mapToLong(words -> Long.parseLong(words.get(words.indexOf("misses") + 1))).sum())
                .isEqualTo(10);
        assertThat(server.cache().checkIntegrity()).isEmpty();
    }

    // --- another key

    /** For each type, packed and large, in the target's shard and in another. */
    @ParameterizedTest
    @ValueSource(strings = {"set %s value", "hset %s field value", "sadd %s member", "zadd %s 1 member",
            "rpush %s element",
            "large %s"})
    void renamedKeysKeepTheirClass(String make) {
        track();
        for (int i = 0; i < 10; i++) {
            String name = "from" + i;
            String[] words = String.format(make, name).split(" ");
            if (words[0].equals("large")) {
                List<String> fields = new ArrayList<>(List.of("hset", name));
                for (int field = 0; field < 1000; field++) {
                    fields.addAll(List.of("field" + field, "value"));
                }
                server.run(fields.toArray(String[]::new));
            } else {
                server.run(words);
            }
            assertThat(server.run("varve.class", "set", name, "7")).isEqualTo(OK);
            server.run("varve.class", "default", "2");
            server.run("set", "renamed" + i, "there before");
            assertThat(server.run("copy", name, "copied" + i)).isEqualTo(":1\r\n");
            assertThat(server.run("rename", name, "renamed" + i)).isEqualTo(OK);
            server.run("varve.class", "default", "auto");
            assertThat(classOf("copied" + i)).as("copied").isEqualTo(7);
            assertThat(classOf("renamed" + i)).as("renamed").isEqualTo(7);
            server.run("del", "copied" + i);
            assertThat(number(7, "bytes")).isPositive();
            server.run("del", "renamed" + i);
            assertThat(number(2, "bytes")).as("and all that belongs to it").isZero();
        }
        assertThat(server.cache().checkIntegrity()).isEmpty();
    }

    /** Packed and large, in the target's shard and in another. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1000})
    void aNewKeyHasTheClassOfItsClient(int elements) {
        track();
        for (int i = 0; i < 10; i++) {
            List<String> push = new ArrayList<>(List.of("rpush", "tmp" + i));
            for (int element = 0; element < elements; element++) {
                push.add("element " + element);
            }
            server.run(push.toArray(String[]::new));
            assertThat(classOf("tmp" + i)).isZero();
            server.run("varve.class", "default", "5");
            assertThat(server.run("rename", "tmp" + i, "key" + i)).isEqualTo(OK);
            server.run("varve.class", "default", "auto");
            assertThat(classOf("key" + i)).isEqualTo(5);
        }
        assertThat(server.cache().checkIntegrity()).isEmpty();
    }

    /**
     * Nothing is known of the first class's items: where the client says a class, that is theirs, and not that of what
     * they replace.
     */
    @Test
    void aNameThatIsTakenOverTakesTheClientsClass() {
        track();
        for (int i = 0; i < 10; i++) {
            server.run("set", "target" + i, "there before");
            assertThat(server.run("varve.class", "set", "target" + i, "9")).isEqualTo(OK);
            server.run("set", "tmp" + i, "value");
            server.run("varve.class", "default", "0");
            assertThat(server.run("rename", "tmp" + i, "target" + i)).isEqualTo(OK);
            assertThat(classOf("target" + i)).isZero();
            server.run("varve.class", "default", "auto");
        }
    }

    // --- without tracking, and from then on

    @ParameterizedTest
    @ValueSource(strings = {"varve.class list", "varve.class set key 3", "varve.class set nosuch 3",
            "varve.class set key many", "varve.class default 3", "varve.class default auto",
            "varve.class default many"})
    void withoutTrackingTheErrorNamesTheSetting(String command) {
        server.run("set", "key", "value");
        assertThat(server.run(command)).isEqualTo(NOT_TRACKED);
        assertThat(info("penalty_tracking")).isEqualTo("0");
        assertThat(info("penalty_classes")).isEqualTo("none");
        track();
        assertThat(server.run(command)).isNotEqualTo(NOT_TRACKED);
        server.run("config", "set", "penalty-tracking", "no");
        assertThat(server.run(command)).isEqualTo(NOT_TRACKED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-penalty", "allkeys-hyperbolic"})
    void aPolicyThatWeighsPenaltiesTracksThem(String policy) {
        assertThat(server.run("config", "set", "maxmemory-policy", policy)).isEqualTo(OK);
        assertThat(server.run("config", "get", "maxmemory-policy")).contains(policy);
        server.run("set", "key", "value");
        assertThat(server.run("varve.class", "set", "key", "3")).isEqualTo(OK);
        assertThat(server.run("varve.class", "default", "3")).isEqualTo(OK);
        assertThat(list()).hasSize(16);
        assertThat(info("penalty_tracking")).isEqualTo("1");
        server.run("config", "set", "maxmemory-policy", "allkeys-lru");
        assertThat(server.run("varve.class", "list")).isEqualTo(NOT_TRACKED);
    }

    @Test
    void itsPolicyKeepsAClock() {
        server.run("config", "set", "maxmemory-policy", "allkeys-penalty");
        server.run("set", "key", "value");
        server.sleep(7000);
        assertThat(server.run("object", "idletime", "key")).isEqualTo(":7\r\n");
        assertThat(server.run("object", "freq", "key")).startsWith("-ERR An LFU maxmemory policy is not selected");
    }

    // --- errors

    @ParameterizedTest
    @CsvSource(delimiter = '>', quoteCharacter = '"', value = {
            "varve.class>ERR wrong number of arguments for 'varve.class' command",
            "varve.class set>ERR wrong number of arguments for 'varve.class|set' command",
            "varve.class set key>ERR wrong number of arguments for 'varve.class|set' command",
            "varve.class set key 3 4>ERR wrong number of arguments for 'varve.class|set' command",
            "varve.class default>ERR wrong number of arguments for 'varve.class|default' command",
            "varve.class list all>ERR wrong number of arguments for 'varve.class|list' command",
            "varve.class get key>ERR unknown subcommand 'get'. Try VARVE.CLASS HELP.",
            "varve.class set key many>ERR value is not an integer or out of range",
            "varve.class set key 1.5>ERR value is not an integer or out of range",
            "varve.class set key auto>ERR value is not an integer or out of range",
            "varve.class set key 16>ERR CLASS is out of range, expected 0 to 15",
            "varve.class set key -1>ERR CLASS is out of range, expected 0 to 15",
            "varve.class set nosuch 16>ERR CLASS is out of range, expected 0 to 15",
            "varve.class set nosuch 3>ERR no such key",
            "varve.class default automatic>ERR value is not an integer or out of range",
            "varve.class default 16>ERR CLASS is out of range, expected 0 to 15 or AUTO",
            "varve.class default -1>ERR CLASS is out of range, expected 0 to 15 or AUTO"})
    void badInputIsRefusedAndNothingChanged(String command, String error) {
        track();
        server.run("set", "key", "value");
        server.run("varve.class", "set", "key", "5");
        assertThat(server.run("varve.class", "default", "7")).isEqualTo(OK);
        assertThat(server.run(command)).isEqualTo("-" + error + "\r\n");
        assertThat(classOf("key")).isEqualTo(5);
        server.run("set", "another", "value");
        assertThat(classOf("another")).isEqualTo(7);
    }

    @Test
    void thereAreAsManyClassesAsTheServerWasStartedWith() {
        track();
        assertThat(server.run("config", "set", "penalty-classes", "4"))
                .isEqualTo(
                        "-ERR CONFIG SET failed (possibly related to argument 'penalty-classes') - can't set immutable"
                                + " config\r\n");
        assertThat(list()).hasSize(16);
        reopen(config().with("penalty-tracking", "yes").with("penalty-classes", "4"));
        server.run("set", "key", "value");
        assertThat(server.run("varve.class set key 4"))
                .isEqualTo("-ERR CLASS is out of range, expected 0 to 3\r\n");
        assertThat(server.run("varve.class set key 3")).isEqualTo(OK);
        assertThat(list()).hasSize(4);
        assertThat(info("penalty_classes")).isEqualTo("4");
        reopen(config().with("penalty-tracking", "yes").with("penalty-classes", "1"));
        assertThat(server.run("varve.class default 1"))
                .isEqualTo("-ERR CLASS is out of range, expected 0 or AUTO\r\n");
        assertThat(list()).hasSize(1);
    }

    @Test
    void aFloorThatIsTooLargeIsRefused() {
        assertThat(server.run("config", "set", "penalty-tracking", "yes", "penalty-floor", "4")).startsWith("-ERR ")
                .contains("penalty-floor");
        assertThat(server.run("config", "get", "penalty-*").replace("\r\n", " "))
                .isEqualTo("*6 $15 penalty-classes $2 16 $13 penalty-floor $1 0 $16 penalty-tracking $2 no ");
        assertThat(server.run("config", "set", "penalty-floor", "3")).isEqualTo(OK);
        assertThat(server.cache().config().penalties().floorPercent()).isEqualTo(3);
    }

    // --- hints

    @Test
    void aHintChangesOnlyTheClassOfItsKey() {
        track();
        server.run("set", "key", "value", "ex", "1000");
        assertThat(classOf("key")).isZero();
        server.sleep(5000);
        server.run("watch", "key");
        String counts = server.run("info", "stats").replaceAll("(?s).*(keyspace_hits:\\d+\r\nkeyspace_misses:\\d+).*",
                "$1");
        assertThat(server.runByAnother("varve.class", "set", "key", "15")).isEqualTo(OK);
        assertThat(server.runByAnother("varve.class", "set", "nosuch", "15")).isEqualTo("-ERR no such key\r\n");
        assertThat(server.run("info", "stats")).contains(counts);
        assertThat(classOf("key")).isEqualTo(15);
        assertThat(server.run("object", "idletime", "key")).isEqualTo(":5\r\n");
        assertThat(server.run("ttl", "key")).isEqualTo(":995\r\n");
        server.run("multi");
        assertThat(server.run("get", "key")).isEqualTo("+QUEUED\r\n");
        assertThat(server.run("exec")).as("what is watched has not changed").isEqualTo("*1\r\n$5\r\nvalue\r\n");
        server.sleep(1_000_000);
        assertThat(server.run("varve.class", "set", "key", "3")).as("its time is over")
                .isEqualTo("-ERR no such key\r\n");
    }

    @Test
    void aHintIsForItsDatabase() {
        track();
        server.run("set", "key", "value");
        server.run("select", "1");
        assertThat(server.run("varve.class", "set", "key", "3")).isEqualTo("-ERR no such key\r\n");
        server.run("set", "key", "value");
        assertThat(server.run("varve.class", "set", "key", "3")).isEqualTo(OK);
        assertThat(classOf("key")).as("in database 0").isZero();
    }

    @Test
    void collectionsTakeHintsToo() {
        track();
        server.run("rpush", "list", "a");
        server.run("hset", "hash", "f", "v");
        for (int i = 0; i < 2000; i++) {
            server.run("sadd", "set", "member:" + i);
        }
        for (String key : List.of("list", "hash", "set")) {
            assertThat(server.run("varve.class", "set", key, "9")).isEqualTo(OK);
            assertThat(classOf(key)).as(key).isEqualTo(9);
        }
        assertThat(server.run("scard", "set")).isEqualTo(":2000\r\n");
    }

    // --- a connection's class

    @Test
    void aConnectionsClassIsThatOfWhatItWritesAndOfNothingElse() {
        track();
        assertThat(server.run("varve.class", "default", "11")).isEqualTo(OK);
        server.run("set", "mine", "value");
        assertThat(server.runByAnother("set", "other", "value")).isEqualTo(OK);
        server.run("set", "mine too", "value");
        assertThat(classOf("mine")).isEqualTo(11);
        assertThat(classOf("other")).isZero();
        assertThat(classOf("mine too")).isEqualTo(11);
        assertThat(server.run("varve.class", "default", "Auto")).isEqualTo(OK);
        server.run("set", "automatic", "value");
        assertThat(classOf("automatic")).isZero();
        assertThat(classOf("mine")).isEqualTo(11);
    }

    @Test
    void anothersClassIsNotMine() {
        track();
        assertThat(server.runByAnother("varve.class", "default", "11")).isEqualTo(OK);
        server.run("set", "key", "value");
        assertThat(classOf("key")).isZero();
    }

    @Test
    void withinABatchItHoldsFromThereOn() {
        track();
        server.begin();
        server.add("set", "before", "value");
        server.add("varve.class", "default", "2");
        server.add("set", "after", "value");
        server.add("varve.class", "default", "auto");
        server.add("set", "later", "value");
        server.execute();
        server.dropReply();
        assertThat(classOf("before")).isZero();
        assertThat(classOf("after")).isEqualTo(2);
        assertThat(classOf("later")).isZero();
    }

    @Test
    void resetEndsIt() {
        track();
        server.run("varve.class", "default", "11");
        server.begin();
        server.add("reset");
        server.add("set", "key", "value");
        server.execute();
        server.dropReply();
        assertThat(classOf("key")).isZero();
        server.run("set", "key too", "value");
        assertThat(classOf("key too")).isZero();
    }

    @Test
    void aTransactionQueuesThem() {
        track();
        server.run("set", "hinted", "value");
        server.run("multi");
        assertThat(server.run("varve.class", "default", "4")).isEqualTo("+QUEUED\r\n");
        server.run("set", "key", "value");
        assertThat(server.run("varve.class", "set", "hinted", "6")).isEqualTo("+QUEUED\r\n");
        assertThat(server.run("varve.class", "set", "hinted", "16")).isEqualTo("+QUEUED\r\n");
        assertThat(server.run("varve.class", "list")).isEqualTo("+QUEUED\r\n");
        assertThat(classOf("hinted")).isZero();
        assertThat(server.run("exec"))
                .startsWith(
                        "*5\r\n+OK\r\n+OK\r\n+OK\r\n-ERR CLASS is out of range, expected 0 to 15\r\n*16\r\n*18\r\n");
        assertThat(classOf("key")).isEqualTo(4);
        assertThat(classOf("hinted")).isEqualTo(6);
        server.run("set", "after", "value");
        assertThat(classOf("after")).isEqualTo(4);
    }

    // --- reports

    @Test
    void theListIsOfMapsInTheirOrder() {
        track();
        String text = "(\\$\\d+\r\n)";
        StringBuilder two = new StringBuilder();
        StringBuilder three = new StringBuilder();
        for (String[] field : new String[][] {{"class", ":\\d+", ":\\d+"},
                {"range", "\\$\\d+\r\n[^\r]+", "\\$\\d+\r\n[^\r]+"},
                {"penalty-us", "\\$-1", "_"}, {"accesses", ":0", ":0"}, {"reads", ":0", ":0"}, {"misses", ":0", ":0"},
                {"bytes", ":0", ":0"}, {"share", "\\$1\r\n0", ",0"}, {"suggested-share", "\\$-1", "_"}}) {
            two.append(text).append(field[0]).append("\r\n").append(field[1]).append("\r\n");
            three.append(text).append(field[0]).append("\r\n").append(field[2]).append("\r\n");
        }
        assertThat(server.run("varve.class", "list")).matches("\\*16\r\n(\\*18\r\n" + two + "){16}");
        server.run("hello", "3");
        assertThat(server.run("varve.class", "list")).matches("\\*16\r\n(%9\r\n" + three + "){16}");
        // µ in UTF-8, as the harness reads bytes.
        assertThat(server.run("varve.class", "list"))
                .contains("$5\r\nrange\r\n$12\r\nbelow 10 \u00c2\u00b5s\r\n")
                .contains("$5\r\nrange\r\n$13\r\n70 to 150 \u00c2\u00b5s\r\n")
                .contains("$5\r\nrange\r\n$14\r\nfrom 327.67 ms\r\n");
    }

    @Test
    void missPenaltiesAreMeasured() {
        track();
        for (int i = 0; i < 50; i++) {
            fill("quick:" + i, 5);
            fill("slow:" + i, 200);
            fill("slow too:" + i, 300);
            server.run("get", "slow:" + i);
        }
        // 2.55 to 5.11 ms, 163.83 to 327.67 ms.
        assertThat(classOf("quick:7")).isEqualTo(8);
        assertThat(classOf("slow:7")).isEqualTo(14);
        assertThat(events(8, "range")).isEqualTo("2.55 to 5.11 ms");
        assertThat(number(8, "bytes")).isPositive();
        assertThat(number(14, "bytes")).isGreaterThan(3 * number(8, "bytes") / 2);
        assertThat(number(8, "bytes") + number(14, "bytes"))
                .isEqualTo(list().stream().mapToLong(words -> Long.parseLong(words.get(13))).sum());
        double shares = list().stream().mapToDouble(words -> Double.parseDouble(words.get(15))).sum();
        assertThat(shares).isBetween(0.9999, 1.0001);
        assertThat(number(14, "accesses")).isGreaterThanOrEqualTo(150);
        assertThat(number(14, "reads")).isGreaterThanOrEqualTo(50);
        assertThat(Long.parseLong(info("penalty_measured"))).isEqualTo(150);
    }

    @Test
    void curvesAreOfClasses() {
        track();
        server.run("config", "set", "mrc-tracking", "yes");
        assertThat(server.run("varve.mrc", "class", "16"))
                .isEqualTo("-ERR CLASS is out of range, expected 0 to 15\r\n");
        assertThat(server.run("varve.mrc", "class", "15")).as("nothing was read of it").isEqualTo("*0\r\n");
        server.run("varve.class", "default", "15");
        for (int i = 0; i < 1000; i++) {
            server.run("set", "dear:" + i, "x".repeat(1000));
        }
        server.run("varve.class", "default", "2");
        for (int i = 0; i < 1000; i++) {
            server.run("set", "cheap:" + i, "x");
        }
        for (int round = 0; round < 15; round++) {
            for (int i = 0; i < 1000; i++) {
                server.run("get", "dear:" + i);
                server.run("get", "cheap:" + i);
            }
        }
        assertThat(server.run("varve.mrc", "class", "15", "points", "3")).startsWith("*3\r\n*2\r\n:");
        assertThat(server.run("varve.mrc", "class", "2", "points", "3")).startsWith("*3\r\n*2\r\n:");
        assertThat(server.run("varve.mrc", "class", "7")).isEqualTo("*0\r\n");
        assertThat(number(15, "reads")).isEqualTo(15_000);
        assertThat(number(2, "reads")).isEqualTo(15_000);
        assertThat(number(15, "bytes")).isGreaterThan(10 * number(2, "bytes"));
    }

    @Test
    void infoReportsThePenalties() {
        track();
        assertThat(server.run("info", "varve").replace("\r\n", " "))
                .matches(".* penalty_tracking:1 penalty_classes:16 penalty_measured:0 penalty_remembered_keys:0"
                        + " penalty_bytes:\\d+ penalty_divisions:0 penalty_curves_us:0\\.0 penalty_division_us:0\\.0 .*");
        fill("key", 5);
        assertThat(info("penalty_measured")).isEqualTo("1");
        assertThat(Long.parseLong(info("penalty_bytes"))).isPositive();
    }

    @Test
    void helpNamesAllThatThereIs() {
        assertThat(server.run("varve.class", "help"))
                .startsWith("*9\r\n+VARVE.CLASS <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n")
                .contains("+DEFAULT <class>|AUTO\r\n", "+LIST\r\n", "+SET <key> <class>\r\n");
    }

    // --- permissions and metadata

    @Test
    void commandGetkeysFindsTheKeyOfAHint() {
        assertThat(server.run("command", "getkeys", "varve.class", "set", "key", "3"))
                .isEqualTo("*1\r\n$3\r\nkey\r\n");
        assertThat(server.run("command", "docs", "varve.class")).contains("varve.class|default",
                "varve.class|help", "varve.class|list", "varve.class|set");
    }

    @Test
    void usersNeedTheRightToWriteToTheKey() {
        String set = "varve.class set key 3";
        assertThat(mayRun("%R~* +@all", set))
                .isEqualTo("$51\r\nUser one has no permissions to access the 'key' key\r\n");
        assertThat(mayRun("%RW~k* +@write", set)).isEqualTo(OK);
        assertThat(mayRun("~* +@all -@write", set)).contains("'varve.class|set' command");
        assertThat(mayRun("~* +@all -@dangerous", "varve.class list")).contains("'varve.class|list' command");
        assertThat(mayRun("~* +@connection", "varve.class default auto")).isEqualTo(OK);
        assertThat(mayRun("~* +varve.class|list", "varve.class list")).isEqualTo(OK);
        assertThat(mayRun("~* +varve.class|list", "varve.class default auto"))
                .contains("'varve.class|default' command");
    }

    private String mayRun(String rules, String command) {
        assertThat(server.run("acl setuser one reset " + rules)).isEqualTo(OK);
        return server.run("acl dryrun one " + command);
    }
}

package io.varve.server.command.hash;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** HSETEX, HGETEX and HGETDEL as a Valkey 9.1 answers them. Confined to the test's thread. */
class TimedFieldsTest extends FieldTimesHarness {
    private static final String WRONG_COUNT = "-ERR numfields should be greater than 0 and match the provided number of"
            + " fields";
    private static final Pattern EVENT = Pattern.compile("__keyevent@0__:(\\w+)");

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void hsetex_setsValuesAndTimes(int count) {
        make("h", count);
        expect("HSETEX h EX 100 FIELDS 2 f1 a new b", ":1");
        expect("HTTL h FIELDS 3 f1 new f2", "*3 :100 :100 :-1");
        expect("HMGET h f1 new", "*2 $1 a $1 b");
        expect("HSETEX h KEEPTTL FIELDS 2 f1 c f3 d", ":1");
        expect("HTTL h FIELDS 2 f1 f3", "*2 :100 :-1");
        expect("HSETEX h FIELDS 2 f1 e f1 g", ":1");
        expect("HTTL h FIELDS 1 f1", "*1 :-1");
        expect("HGET h f1", "$1 g");
        expect("HSETEX h px 5000 pxat " + (server.now() + 9) + " fields 1 f1 x", "-ERR syntax error");
        expect("HSETEX h pxat " + (server.now() + 9000) + " fields 1 f1 x", ":1");
        expect("HPTTL h FIELDS 1 f1", "*1 :9000");
        expect("HLEN h", ":" + (count + 1));
        server.sleep(9001);
        expect("HLEN h", ":" + count);
        expect("HSETEX h KEEPTTL FIELDS 1 f1 again", ":1");
        expect("HPTTL h FIELDS 1 f1", "*1 :-1");
        assertThat(server.cache().checkIntegrity()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 1000})
    void hsetex_makesAHash(int count) {
        execute("HSETEX h PX 5000 FIELDS " + count + " " + pairs(0, count));
        expect("HLEN h", ":" + count);
        expect("HPTTL h FIELDS 1 f0", "*1 :5000");
        expect("TTL h", ":-1");
        expect("OBJECT ENCODING h", count == 1000 ? "$9 hashtable" : "$10 listpackex");
        expect("HSETEX long PX 5000 FIELDS 2 f " + "x".repeat(100) + " f y", ":1");
        expect("OBJECT ENCODING long", "$9 hashtable");
        expect("HGETALL long", "*2 $1 f $1 y");
        server.sleep(5001);
        expect("EXISTS h long", ":0");
        expect("HSETEX h FIELDS 1 f v", ":1");
        expect("OBJECT ENCODING h", "$8 listpack");
    }

    @Test
    void hsetex_conditions() {
        expect("HSETEX h XX FIELDS 1 a 1", ":0");
        expect("HSETEX h FXX FIELDS 1 a 1", ":0");
        expect("EXISTS h", ":0");
        expect("HSETEX h NX FNX FIELDS 2 a 1 b 2", ":1");
        expect("HSETEX h NX FIELDS 1 c 3", ":0");
        expect("HSETEX h FNX FIELDS 2 c 3 a 4", ":0");
        expect("HSETEX h FXX FIELDS 2 a 3 c 4", ":0");
        expect("HSETEX h XX FXX EX 9 FIELDS 2 a 3 b 4", ":1");
        expect("HGETALL h", "*4 $1 a $1 3 $1 b $1 4");
        expect("HPEXPIRE h 5 FIELDS 1 a", "*1 :1");
        server.sleep(6);
        expect("HSETEX h FXX FIELDS 1 a 5", ":0");
        expect("HSETEX h FNX FIELDS 1 a 5", ":1");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void aTimeInThePast_removesFields(int count) {
        make("h", count);
        expect("HSETEX h EX 0 FIELDS 2 f1 x new f2", ":1");
        expect("HSETEX h EXAT 1 FIELDS 1 other x", ":1");
        expect("HGETEX h PXAT 1 FIELDS 3 f2 none f2", "*3 $1 2 $-1 $-1");
        expect("HLEN h", ":" + (count - 2));
        expect("HSETEX none PX 0 FIELDS 1 a 1", ":1");
        expect("EXISTS none", ":0");
        execute("HGETEX h EX 0 FIELDS " + count + " " + fields(0, count));
        expect("EXISTS h", ":0");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void hgetex_readsAndSetsTimes(int count) {
        make("h", count);
        expect("HGETEX h FIELDS 2 f1 none", "*2 $1 1 $-1");
        expect("HGETEX h EX 100 FIELDS 3 f1 f1 f2", "*3 $1 1 $1 1 $1 2");
        expect("HGETEX h FIELDS 1 f1", "*1 $1 1");
        expect("HTTL h FIELDS 3 f1 f2 f3", "*3 :100 :100 :-1");
        expect("HGETEX h persist FIELDS 2 f1 f3", "*2 $1 1 $1 3");
        expect("HTTL h FIELDS 2 f1 f2", "*2 :-1 :100");
        expect("HGETEX none EX 10 FIELDS 1 f", "*1 $-1");
        expect("EXISTS none", ":0");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void hgetdel_readsAndRemoves(int count) {
        make("h", count);
        expect("HGETDEL h FIELDS 4 f1 none f1 f2", "*4 $1 1 $-1 $-1 $1 2");
        expect("HLEN h", ":" + (count - 2));
        execute("HSET h big " + "v".repeat(300_000));
        assertThat(execute("HGETDEL h fields 3 big f3 big")).isEqualTo("*3 $300000 " + "v".repeat(300_000)
                + " $1 3 $-1");
        execute("HGETDEL h FIELDS " + count + " " + fields(0, count));
        expect("EXISTS h", ":0");
        expect("HGETDEL h FIELDS 2 f1 f2", "*2 $-1 $-1");
    }

    @Test
    void errors() {
        execute("SET s v");
        String syntax = "-ERR syntax error";
        String noInteger = "-ERR value is not an integer or out of range";
        String wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        expect("HSETEX h FIELDS 1 f", "-ERR wrong number of arguments for 'hsetex' command");
        expect("HGETEX h FIELDS 1", "-ERR wrong number of arguments for 'hgetex' command");
        expect("HGETDEL h FIELDS 1", "-ERR wrong number of arguments for 'hgetdel' command");
        for (String count : List.of("0", "-1", "2", "9223372036854775807")) {
            expect("HSETEX h FIELDS " + count + " f v", WRONG_COUNT);
            expect("HGETEX h FIELDS " + count + " f", WRONG_COUNT);
            expect("HGETDEL h FIELDS " + count + " f", WRONG_COUNT);
        }
        expect("HSETEX h FIELDS 1 f v g", WRONG_COUNT);
        expect("HSETEX h FIELD 1 f v", WRONG_COUNT);
        expect("HGETEX h FIELD 1 f", WRONG_COUNT);
        expect("HGETDEL h FIELD 1 f", syntax);
        expect("HGETDEL s FIELD 0 f", syntax);
        expect("HSETEX h FIELDS x f v", noInteger);
        expect("HGETDEL s FIELDS x f", noInteger);
        for (String options : List.of("NX XX", "FNX FXX", "EX 1 PX 1", "EX 1 KEEPTTL", "KEEPTTL PX 1", "PERSIST", "GT",
                "EX", "EX 1 1")) {
            expect("HSETEX h " + options + " FIELDS 1 f v", syntax);
        }
        for (String options : List.of("NX", "FXX", "KEEPTTL", "PERSIST EX 1", "EX 1 PERSIST", "EXAT")) {
            expect("HGETEX h " + options + " FIELDS 1 f", syntax);
        }
        for (String time : List.of("EX -1", "PX 9223372036854775807", "EX 9223372036854775807",
                "PXAT 70368744177664")) {
            expect("HSETEX h " + time + " FIELDS 1 f v", "-ERR invalid expire time in 'hsetex' command");
            expect("HGETEX h " + time + " FIELDS 1 f", "-ERR invalid expire time in 'hgetex' command");
        }
        expect("HSETEX h EX x FIELDS 1 f v", noInteger);
        expect("HSETEX s EX x FIELDS 1 f v", wrongType);
        expect("HGETEX s FIELDS 1 f", wrongType);
        expect("HGETDEL s FIELDS 1 f", wrongType);
        expect("EXISTS h", ":0");
    }

    @Test
    void events() {
        execute("HELLO 3");
        execute("CONFIG SET notify-keyspace-events Ehg");
        execute("PSUBSCRIBE __key*");
        assertThat(eventsOf("HSETEX h EX 9 FIELDS 1 a 1")).containsExactly("hset", "hexpire");
        assertThat(eventsOf("HSETEX h KEEPTTL FIELDS 1 a 1")).containsExactly("hset");
        assertThat(eventsOf("HSETEX h FNX FIELDS 1 a 1")).isEmpty();
        assertThat(eventsOf("HGETEX h FIELDS 1 a")).isEmpty();
        assertThat(eventsOf("HGETEX h EX 9 FIELDS 2 a none")).containsExactly("hexpire");
        assertThat(eventsOf("HGETEX h PERSIST FIELDS 1 a")).containsExactly("hpersist");
        assertThat(eventsOf("HGETEX h PERSIST FIELDS 1 a")).isEmpty();
        assertThat(eventsOf("HGETEX h EX 9 FIELDS 1 none")).isEmpty();
        assertThat(eventsOf("HSETEX h EX 0 FIELDS 1 b 1")).containsExactly("hset", "hdel");
        assertThat(eventsOf("HGETEX h EX 0 FIELDS 1 none")).isEmpty();
        assertThat(eventsOf("HGETEX h EX 0 FIELDS 1 a")).containsExactly("hdel", "del");
        assertThat(eventsOf("HSET h a 1 b 2")).containsExactly("hset");
        assertThat(eventsOf("HGETDEL h FIELDS 1 none")).isEmpty();
        assertThat(eventsOf("HGETDEL h FIELDS 1 a")).containsExactly("hdel");
        assertThat(eventsOf("HGETDEL h FIELDS 2 b a")).containsExactly("hdel", "del");
    }

    /** There is memory for some of the fields, but not for all of them with their times. */
    @Test
    void aRefusalChangesNothing() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness full = new CommandHarness(config)) {
            full.run("HSET packed a 1 b 2");
            full.run(("HSET tree " + pairs(0, 300)).split(" "));
            full.run(("HSET tight " + pairs(0, 128)).split(" "));
            String piece = "p".repeat(30_000);
            fill(full, piece);
            full.run("DEL fill0");
            List<String> many = new ArrayList<>(List.of("HSETEX", "", "EX", "100", "FIELDS", "40"));
            for (int i = 0; i < 40; i++) {
                many.addAll(List.of("f" + i, piece));
            }
            for (String hash : List.of("packed", "tree", "tight", "new")) {
                String before = full.run("HGETALL " + hash) + full.run("OBJECT ENCODING " + hash);
                many.set(1, hash);
                assertThat(full.run(many.toArray(String[]::new))).as(hash).startsWith("-OOM");
                assertThat(full.run("HGETALL " + hash) + full.run("OBJECT ENCODING " + hash)).isEqualTo(before);
                assertThat(full.cache().checkIntegrity()).isEmpty();
            }
            assertThat(full.run("EXISTS new")).isEqualTo(":0\r\n");
            assertThat(full.run("INFO keyspace")).doesNotContain("subexpiry");
            assertThat(full.run("HGETDEL packed FIELDS 2 a b")).isEqualTo("*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
        }
    }

    private List<String> eventsOf(String command) {
        List<String> events = new ArrayList<>();
        for (String each : List.of(command, "PING")) {
            for (Matcher next = EVENT.matcher(server.run(each.split(" "))); next.find();) {
                events.add(next.group(1));
            }
        }
        return events;
    }
}

package io.varve.server.command.hash;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Expiry times of fields as documented for Redis 7.4, in small and large hashes. Confined to the test's thread. */
class HashFieldTimesTest extends FieldTimesHarness {
    private static final Pattern MESSAGE = Pattern
            .compile(">[34]\r\n(?:\\$\\d+\r\n[^\r]*\r\n){1,2}\\$\\d+\r\n([^\r]*)\r\n\\$\\d+\r\n([^\r]*)\r\n");

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void timesAreSetReadAndRemoved(int count) {
        make("h", count);
        long now = server.now();
        expect("HEXPIRE h 10 FIELDS 3 f1 missing f2", "*3 :1 :-2 :1");
        expect("HTTL h FIELDS 4 f1 f2 f3 missing", "*4 :10 :10 :-1 :-2");
        expect("HPTTL h FIELDS 1 f1", "*1 :10000");
        expect("HEXPIRETIME h FIELDS 2 f1 f3", "*2 :" + (now + 10_000) / 1000 + " :-1");
        expect("HPEXPIRETIME h FIELDS 1 f1", "*1 :" + (now + 10_000));
        server.sleep(1);
        expect("HTTL h FIELDS 1 f1", "*1 :10");
        expect("HPEXPIREAT h " + (now + 5000) + " FIELDS 1 f3", "*1 :1");
        expect("HEXPIREAT h " + (now / 1000 + 60) + " FIELDS 2 f4 f4", "*2 :1 :1");
        expect("HPERSIST h FIELDS 3 f1 f0 missing", "*3 :1 :-1 :-2");
        expect("HPERSIST h FIELDS 1 f1", "*1 :-1");
        server.sleep(9999);
        expect("HGET h f3", "$-1");
        expect("HGET h f2", "$1 2");
        expect("HLEN h", ":" + (count - 1));
        server.sleep(1);
        expect("HGET h f2", "$-1");
        expect("HTTL h FIELDS 2 f2 f1", "*2 :-2 :-1");
        expect("HLEN h", ":" + (count - 2));
        expect("HEXISTS h f2", ":0");
        expect("HSTRLEN h f2", ":0");
        expect("HMGET h f2 f3 f1", "*3 $-1 $-1 $1 1");
        expect("HDEL h f2", ":0");
        expect("HSETNX h f2 new", ":1");
        expect("HPTTL h FIELDS 1 f2", "*1 :-1");
        expect("TTL h", ":-1");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void conditionsDecide(int count) {
        make("h", count);
        expect("HEXPIRE h 100 XX FIELDS 1 f1", "*1 :0");
        expect("HEXPIRE h 100 GT FIELDS 1 f1", "*1 :0");
        expect("HEXPIRE h 100 NX FIELDS 2 f1 f1", "*2 :1 :0");
        expect("HEXPIRE h 100 LT FIELDS 2 f2 f1", "*2 :1 :0");
        expect("HEXPIRE h 100 gt FIELDS 1 f1", "*1 :0");
        expect("HEXPIRE h 101 GT FIELDS 2 f1 missing", "*2 :1 :-2");
        expect("HEXPIRE h 50 Lt fields 1 f1", "*1 :1");
        expect("HEXPIRE h 51 XX FIELDS 1 f1", "*1 :1");
        expect("HTTL h FIELDS 1 f1", "*1 :51");
        expect("HEXPIRE h 0 GT FIELDS 1 f1", "*1 :0");
        expect("HEXPIRE h 0 FIELDS 3 f1 f1 missing", "*3 :2 :-2 :-2");
        expect("HPEXPIREAT h 1 FIELDS 1 f2", "*1 :2");
        expect("HLEN h", ":" + (count - 2));
    }

    @Test
    void aHashWithoutFieldsIsDeleted() {
        make("h", 3);
        expect("HPEXPIRE h 0 FIELDS 3 f0 f1 f2", "*3 :2 :2 :2");
        expect("EXISTS h", ":0");
        make("h", 1000);
        for (int i = 0; i < 1000; i += 250) {
            execute("HEXPIREAT h 0 FIELDS 250 " + fields(i, i + 250));
        }
        expect("EXISTS h", ":0");
        expect("DBSIZE", ":0");
        make("h", 3);
        execute("HPEXPIRE h 10 FIELDS 3 f0 f1 f2");
        server.sleep(10);
        expect("EXISTS h", ":1");
        server.sleep(1);
        expect("TYPE h", "+none");
        expect("DBSIZE", ":0");
        expect("SET h string", "+OK");
        expect("HTTL h FIELDS 1 f", "-WRONGTYPE Operation against a key holding the wrong kind of value");
    }

    /** Each naming is replied to, although only the first changes anything. */
    @Test
    void aFieldThatIsNamedManyTimesIsRepliedToAsOften() {
        execute("HSET h f " + "v".repeat(9000));
        assertThat(execute("HPEXPIRE h 100000 FIELDS 20000" + " f".repeat(20_000)))
                .isEqualTo("*20000" + " :1".repeat(20_000));
        assertThat(execute("HPERSIST h FIELDS 3 f f f")).isEqualTo("*3 :1 :-1 :-1");
        expect("HSTRLEN h f", ":9000");
    }

    @Test
    void errorsAreThoseOfRedis() {
        expect("HEXPIRE none 10 FIELDS 2 a b", "*2 :-2 :-2");
        expect("HTTL none FIELDS 1 a", "*1 :-2");
        expect("HPERSIST none FIELDS 1 a", "*1 :-2");
        expect("EXISTS none", ":0");
        execute("HSET h a 1 b 2");
        String missing = "-ERR Mandatory argument FIELDS is missing or not at the right position";
        String notGreater = "-ERR Parameter `numFields` should be greater than 0";
        String notPositive = "-ERR Number of fields must be a positive integer";
        String mismatch = "-ERR The `numfields` parameter must match the number of arguments";
        expect("HEXPIRE h 10 a 1 a", missing);
        expect("HEXPIRE h 10 NX XX FIELDS 1 a", missing);
        expect("HEXPIRE h 10 1 FIELDS a", missing);
        expect("HEXPIRE h 10 FIELDS 0 a", notGreater);
        expect("HEXPIRE h 10 FIELDS x a", notGreater);
        expect("HEXPIRE h 10 FIELDS 2 a", mismatch);
        expect("HEXPIRE h 10 NX FIELDS 1 a b", mismatch);
        expect("HEXPIRE h 10 FIELDS 1", "-ERR wrong number of arguments for 'hexpire' command");
        expect("HTTL h a 1 a", missing);
        expect("HTTL h FIELDS 0 a", notPositive);
        expect("HTTL h FIELDS x a", notPositive);
        expect("HTTL h FIELDS 1 a b", mismatch);
        expect("HTTL h FIELDS 1", "-ERR wrong number of arguments for 'httl' command");
        expect("HPERSIST h a 1 a", missing);
        expect("HPERSIST h FIELDS -1 a", notPositive);
        expect("HPERSIST h FIELDS 3 a", mismatch);
        expect("HEXPIRE h x FIELDS 1 a", "-ERR value is not an integer or out of range");
        expect("HEXPIRE h -1 FIELDS 1 a", "-ERR invalid expire time, must be >= 0");
        expect("HEXPIRE h 70368744178 FIELDS 1 a", "-ERR invalid expire time in 'hexpire' command");
        expect("HPEXPIRE h 70368744177663 FIELDS 1 a", "-ERR invalid expire time in 'hpexpire' command");
        expect("HPEXPIREAT h 70368744177664 FIELDS 1 a", "-ERR invalid expire time in 'hpexpireat' command");
        expect("HPEXPIREAT h 70368744177663 FIELDS 1 a", "*1 :1");
        expect("HPEXPIRETIME h FIELDS 1 a", "*1 :70368744177663");
        expect("HEXPIREAT h 9223372036854775807 FIELDS 1 a", "-ERR invalid expire time in 'hexpireat' command");
        expect("SET s v", "+OK");
        String wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        expect("HEXPIRE s x y z 1 a", wrongType);
        expect("HTTL s x y 1 a", wrongType);
        expect("HPERSIST s x y 1 a", wrongType);
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void theWritingCommandDecidesWhetherAFieldKeepsItsTtl(int count) {
        make("h", count);
        expireSome("h", 0, 4, 5000);
        execute("HINCRBY h f1 10");
        execute("HINCRBYFLOAT h f2 0.5");
        execute("HSET h f0 x f4 y");
        execute("HSETNX h f3 not");
        expect("HPTTL h FIELDS 5 f0 f1 f2 f3 f4", "*5 :-1 :5000 :5000 :5000 :-1");
        expect("HMGET h f1 f2 f3", "*3 $2 11 $3 2.5 $1 3");
        execute("HSET h f1 " + "long".repeat(500) + " f3 z");
        expect("HPTTL h FIELDS 3 f1 f2 f3", "*3 :-1 :5000 :-1");
        server.sleep(6000);
        expect("HLEN h", ":" + (count - 1));
        expect("HINCRBY h f2 1", ":1");
        expect("HPTTL h FIELDS 1 f2", "*1 :-1");
    }

    @Test
    void theEncodingReflectsFieldTimes() {
        execute("CONFIG SET hash-max-listpack-entries 10");
        make("h", 5);
        expect("OBJECT ENCODING h", "$8 listpack");
        execute("HEXPIRE h 10 FIELDS 1 missing");
        expect("OBJECT ENCODING h", "$8 listpack");
        execute("HEXPIRE h 10 FIELDS 1 f1");
        expect("OBJECT ENCODING h", "$10 listpackex");
        execute("COPY h g");
        expect("OBJECT ENCODING g", "$10 listpackex");
        execute("HSET h " + pairs(5, 11));
        expect("OBJECT ENCODING h", "$9 hashtable");
        expect("HTTL h FIELDS 2 f1 f2", "*2 :10 :-1");
        execute("RENAME h i");
        expect("OBJECT ENCODING i", "$9 hashtable");
        expect("HTTL i FIELDS 2 f1 f2", "*2 :10 :-1");
        make("i", 200);
        expect("HTTL i FIELDS 2 f1 f2", "*2 :-1 :-1");
        expect("HTTL g FIELDS 1 f1", "*1 :10");
        String small = execute("MEMORY USAGE g");
        execute("HEXPIRE g 10 FIELDS 4 f0 f2 f3 f4");
        assertThat(Integer.parseInt(execute("MEMORY USAGE g").substring(1)))
                .isGreaterThan(Integer.parseInt(small.substring(1)));
    }

    /** Times make a hash longer: it becomes a tree with the last of them, and has all. */
    @Test
    void aHashBecomesATreeByItsTimes() {
        execute("CONFIG SET packed-max-bytes 1000");
        make("h", 100);
        execute("PEXPIRE h 90000");
        execute("HPEXPIRE h 3000 FIELDS 2 f3 f5");
        server.sleep(3001);
        execute("HPEXPIRE h 7000 FIELDS 50 " + fields(0, 50));
        execute("HPEXPIRE h 9000 NX FIELDS 100 " + fields(0, 100));
        expect("HPTTL h FIELDS 5 f0 f3 f5 f49 f50", "*5 :7000 :-2 :-2 :7000 :9000");
        expect("HLEN h", ":98");
        expect("PTTL h", ":86999");
        expect("PERSIST h", ":1");
        expect("PEXPIRE h 8000", ":1");
        server.sleep(7001);
        expect("HLEN h", ":50");
        server.sleep(1000);
        expect("EXISTS h", ":0");
    }

    @Test
    void manyThatAreDueAreNotSeenWhileTheyAreThere() {
        make("h", 20_000);
        expireSome("h", 0, 19_990, 50);
        expect("HLEN h", ":20000");
        server.sleep(51);
        expect("HLEN h", ":10");
        assertThat(execute("HGETALL h")).startsWith("*20 ").contains("f19990").doesNotContain("f19989");
        assertThat(execute("HRANDFIELD h")).contains("f1999");
        assertThat(execute("HRANDFIELD h 20")).startsWith("*10 ");
        assertThat(execute("HRANDFIELD h -20")).startsWith("*20 ").doesNotContain("f1998");
        expect("EXISTS h", ":1");
        expect("RENAME h g", "+OK");
        expect("HLEN g", ":10");
        expect("COPY g h", ":1");
        expect("HSET g f7 back", ":1");
        expect("HLEN g", ":11");
        expireSome("h", 19_990, 20_000, 50);
        server.sleep(51);
        expect("EXISTS h", ":0");
        expect("DBSIZE", ":1");
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.sleep(2000);
        for (int i = 0; i < 30; i++) {
            server.cache().maintain();
            server.sleep(100);
        }
        expect("HLEN g", ":11");
        assertThat(Integer.parseInt(execute("MEMORY USAGE g").substring(1))).isLessThan(20_000);
    }

    @Test
    void sortReadsOnlyUnexpiredFields() {
        execute("RPUSH list 1 2 3");
        execute("HSET h1 by 3 get one");
        execute("HSET h2 by 2 get two");
        execute("HSET h3 by 1 get three");
        expect("SORT list BY h*->by GET h*->get", "*3 $5 three $3 two $3 one");
        execute("HPEXPIRE h3 10 FIELDS 2 by get");
        execute("HPEXPIRE h2 10 FIELDS 1 get");
        server.sleep(11);
        expect("SORT list BY h*->by GET h*->get", "*3 $-1 $-1 $3 one");
    }

    // --- notifications

    private List<String> listening(String... commands) {
        List<String> reported = new ArrayList<>();
        for (String command : commands) {
            for (Matcher next = MESSAGE.matcher(server.run(command.split(" "))); next.find();) {
                reported.add(next.group(1).replace("__keyevent@0__:", "") + " " + next.group(2));
            }
        }
        return reported;
    }

    private List<String> later(long millis) {
        List<String> reported = new ArrayList<>();
        for (long left = millis; left > 0; left -= 100) {
            server.sleep(Math.min(left, 100));
            server.cache().maintain();
            reported.addAll(listening("PING"));
        }
        return reported;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void fieldChangesEmitEvents(int count) {
        make("h", count);
        execute("HELLO 3");
        execute("CONFIG SET notify-keyspace-events Ehgx");
        execute("PSUBSCRIBE __key*");
        assertThat(listening("HEXPIRE h 1 FIELDS 2 f1 f2", "HEXPIRE h 1 XX FIELDS 1 f3", "HPERSIST h FIELDS 1 f2",
                "HPERSIST h FIELDS 1 f2", "HEXPIRE h 0 FIELDS 1 f2", "HEXPIRE none 0 FIELDS 1 f2", "PING"))
                .containsExactly("hexpire h", "hpersist h", "hdel h");
        assertThat(later(1000)).isEmpty();
        assertThat(later(1100)).as("within one time bucket and a cycle").containsExactly("hexpired h");
        for (int i = 0; i < count; i += 200) {
            int end = Math.min(count, i + 200);
            listening("HPEXPIRE h 100 FIELDS " + (end - i) + " " + fields(i, end), "PING");
        }
        assertThat(later(2100)).containsExactly("hexpired h", "del h");
        execute("HSET h f 1");
        listening("HPEXPIRE h 100 FIELDS 1 f", "PING");
        server.sleep(101);
        assertThat(listening("HGET h f", "PING")).containsExactly("hexpired h", "del h");
        execute("HSET h f 1");
        assertThat(listening("HPEXPIRE h 0 FIELDS 1 f", "PING")).endsWith("hdel h", "del h");
        execute("HSET h f 1 g 1");
        listening("HPEXPIRE h 2000 FIELDS 1 f", "PEXPIRE h 100", "PING");
        assertThat(later(3000)).containsExactly("expired h");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void removingTheLastFieldEmitsEventsOfHiddenFields(int count) {
        make("h", count);
        make("g", 5);
        execute("HPEXPIRE h 100 FIELDS 2 f1 f2");
        execute("HPEXPIRE g 100 FIELDS 4 " + fields(1, 5));
        execute("HELLO 3");
        execute("CONFIG SET notify-keyspace-events Ehgx");
        execute("PSUBSCRIBE __key*");
        server.sleep(101);
        List<String> reported = new ArrayList<>();
        for (int i = 0; i < count; i += 200) {
            reported.addAll(listening("HDEL h " + fields(i, Math.min(count, i + 200)), "PING"));
        }
        assertThat(reported).endsWith("hdel h", "hexpired h", "del h").containsOnlyOnce("hexpired h");
        assertThat(listening("HPEXPIRE g 0 FIELDS 1 f0", "PING")).containsExactly("hdel g", "hexpired g", "del g");
        assertThat(later(2000)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void anExpiredFieldFailsExecOfAWatchedHash(int count) {
        make("h", count);
        execute("HPEXPIRE h 50 FIELDS 1 f1");
        expect("WATCH h", "+OK");
        server.sleep(50);
        expect("MULTI", "+OK");
        execute("HLEN h");
        expect("EXEC", "*1 :" + count);
        expect("WATCH h", "+OK");
        server.sleep(1);
        expect("MULTI", "+OK");
        execute("HLEN h");
        expect("EXEC", "*-1");
        expect("WATCH h", "+OK");
        server.sleep(1000);
        expect("MULTI", "+OK");
        execute("HLEN h");
        expect("EXEC", "*1 :" + (count - 1));
        execute("WATCH h");
        execute("HEXPIRE h 100 FIELDS 1 f2");
        execute("MULTI");
        execute("HLEN h");
        expect("EXEC", "*-1");
        execute("WATCH h");
        execute("HPERSIST h FIELDS 1 f2");
        execute("MULTI");
        execute("HLEN h");
        expect("EXEC", "*-1");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void anExpiredFieldInvalidatesACachedHash(int count) {
        make("h", count);
        execute("HPEXPIRE h 50 FIELDS 1 f1");
        execute("HELLO 3");
        expect("CLIENT TRACKING on", "+OK");
        expect("HGET h f1", "$1 1");
        String reported = "";
        for (int i = 0; i < 13; i++) {
            server.sleep(100);
            server.cache().maintain();
            reported += execute("PING");
        }
        assertThat(reported).contains("invalidate *1 $1 h");
    }

    // --- payloads

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void aPayloadHasTimes(int count) {
        make("h", count);
        String untimed = payload("h");
        assertThat(untimed.charAt(untimed.length() - 10)).isEqualTo((char) 10);
        execute("HPEXPIRE h 5000 FIELDS 2 f1 f2");
        execute("HPEXPIRE h 7000 FIELDS 1 f3");
        String timed = payload("h");
        assertThat(timed.charAt(0)).isEqualTo((char) 24);
        assertThat(timed.charAt(timed.length() - 10)).isEqualTo((char) 12);
        assertThat(server.run("RESTORE", "g", "100000", timed)).isEqualTo("+OK\r\n");
        expect("HPTTL g FIELDS 4 f0 f1 f2 f3", "*4 :-1 :5000 :5000 :7000");
        expect("HLEN g", ":" + count);
        expect("PTTL g", ":100000");
        execute("HPERSIST h FIELDS 3 f1 f2 f3");
        String again = payload("h");
        assertThat(again.charAt(again.length() - 10)).isEqualTo((char) 10);
        server.sleep(5001);
        assertThat(server.run("RESTORE", "g", "0", timed, "REPLACE")).isEqualTo("+OK\r\n");
        expect("HLEN g", ":" + (count - 2));
        expect("PTTL g", ":-1");
        expect("HPTTL g FIELDS 2 f1 f3", "*2 :-2 :1999");
        assertThat(execute("INFO stats")).contains("expired_subkeys:0 ");
        for (int i = 0; i < 40; i++) {
            server.sleep(100);
            server.cache().maintain();
        }
        assertThat(execute("INFO stats")).contains("expired_subkeys:3 ");
    }

    /**
     * A field that gets a past time does not expire but is deleted, with one event for it, and one for the key if it
     * was the last.
     */
    @ParameterizedTest
    @CsvSource({"5, HEXPIRE h 0", "1000, HEXPIRE h 0", "5, HPEXPIREAT h 1", "1000, HPEXPIREAT h 1"})
    void aPastExpiryTimeEmitsADeletion(int count, String command) {
        make("h", count);
        execute("HELLO 3");
        execute("CONFIG SET notify-keyspace-events Ehgx");
        execute("PSUBSCRIBE __key*");
        assertThat(listening(command + " FIELDS 3 f1 f2 f1", command + " XX FIELDS 1 f3",
                command + " FIELDS 1 missing", "PING")).containsExactly("hdel h");
        List<String> reported = new ArrayList<>();
        for (int i = 0; i < count; i += 500) {
            int end = Math.min(count, i + 500);
            reported.addAll(listening(command + " FIELDS " + (end - i) + " " + fields(i, end), "PING"));
        }
        assertThat(reported).endsWith("hdel h", "del h").containsOnlyOnce("del h");
        expect("EXISTS h", ":0");
        assertThat(execute("INFO stats")).contains("expired_subkeys:0 ");
    }

    @Test
    void aPayloadOfExpiredFieldsRestoresNothing() {
        make("h", 3);
        execute("HPEXPIRE h 50 FIELDS 3 f0 f1 f2");
        String payload = payload("h");
        server.sleep(100);
        expect("DUMP h", "$-1");
        assertThat(server.run("RESTORE", "g", "0", payload, "IDLETIME", "5")).isEqualTo("+OK\r\n");
        expect("EXISTS g", ":0");
        expect("DBSIZE", ":0");
    }
}

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
        asks("HEXPIRE h 10 FIELDS 3 f1 missing f2", "*3 :1 :-2 :1");
        asks("HTTL h FIELDS 4 f1 f2 f3 missing", "*4 :10 :10 :-1 :-2");
        asks("HPTTL h FIELDS 1 f1", "*1 :10000");
        asks("HEXPIRETIME h FIELDS 2 f1 f3", "*2 :" + (now + 10_000) / 1000 + " :-1");
        asks("HPEXPIRETIME h FIELDS 1 f1", "*1 :" + (now + 10_000));
        server.sleep(1);
        asks("HTTL h FIELDS 1 f1", "*1 :10");
        asks("HPEXPIREAT h " + (now + 5000) + " FIELDS 1 f3", "*1 :1");
        asks("HEXPIREAT h " + (now / 1000 + 60) + " FIELDS 2 f4 f4", "*2 :1 :1");
        asks("HPERSIST h FIELDS 3 f1 f0 missing", "*3 :1 :-1 :-2");
        asks("HPERSIST h FIELDS 1 f1", "*1 :-1");
        server.sleep(9999);
        asks("HGET h f3", "$-1");
        asks("HGET h f2", "$1 2");
        asks("HLEN h", ":" + (count - 1));
        server.sleep(1);
        asks("HGET h f2", "$-1");
        asks("HTTL h FIELDS 2 f2 f1", "*2 :-2 :-1");
        asks("HLEN h", ":" + (count - 2));
        asks("HEXISTS h f2", ":0");
        asks("HSTRLEN h f2", ":0");
        asks("HMGET h f2 f3 f1", "*3 $-1 $-1 $1 1");
        asks("HDEL h f2", ":0");
        asks("HSETNX h f2 new", ":1");
        asks("HPTTL h FIELDS 1 f2", "*1 :-1");
        asks("TTL h", ":-1");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void conditionsDecide(int count) {
        make("h", count);
        asks("HEXPIRE h 100 XX FIELDS 1 f1", "*1 :0");
        asks("HEXPIRE h 100 GT FIELDS 1 f1", "*1 :0");
        asks("HEXPIRE h 100 NX FIELDS 2 f1 f1", "*2 :1 :0");
        asks("HEXPIRE h 100 LT FIELDS 2 f2 f1", "*2 :1 :0");
        asks("HEXPIRE h 100 gt FIELDS 1 f1", "*1 :0");
        asks("HEXPIRE h 101 GT FIELDS 2 f1 missing", "*2 :1 :-2");
        asks("HEXPIRE h 50 Lt fields 1 f1", "*1 :1");
        asks("HEXPIRE h 51 XX FIELDS 1 f1", "*1 :1");
        asks("HTTL h FIELDS 1 f1", "*1 :51");
        asks("HEXPIRE h 0 GT FIELDS 1 f1", "*1 :0");
        asks("HEXPIRE h 0 FIELDS 3 f1 f1 missing", "*3 :2 :-2 :-2");
        asks("HPEXPIREAT h 1 FIELDS 1 f2", "*1 :2");
        asks("HLEN h", ":" + (count - 2));
    }

    @Test
    void aHashWithoutFieldsIsDeleted() {
        make("h", 3);
        asks("HPEXPIRE h 0 FIELDS 3 f0 f1 f2", "*3 :2 :2 :2");
        asks("EXISTS h", ":0");
        make("h", 1000);
        for (int i = 0; i < 1000; i += 250) {
            ask("HEXPIREAT h 0 FIELDS 250 " + fields(i, i + 250));
        }
        asks("EXISTS h", ":0");
        asks("DBSIZE", ":0");
        make("h", 3);
        ask("HPEXPIRE h 10 FIELDS 3 f0 f1 f2");
        server.sleep(10);
        asks("EXISTS h", ":1");
        server.sleep(1);
        asks("TYPE h", "+none");
        asks("DBSIZE", ":0");
        asks("SET h string", "+OK");
        asks("HTTL h FIELDS 1 f", "-WRONGTYPE Operation against a key holding the wrong kind of value");
    }

    /** Each naming is replied to, although only the first changes anything. */
    @Test
    void aFieldThatIsNamedManyTimesIsRepliedToAsOften() {
        ask("HSET h f " + "v".repeat(9000));
        assertThat(ask("HPEXPIRE h 100000 FIELDS 20000" + " f".repeat(20_000)))
                .isEqualTo("*20000" + " :1".repeat(20_000));
        assertThat(ask("HPERSIST h FIELDS 3 f f f")).isEqualTo("*3 :1 :-1 :-1");
        asks("HSTRLEN h f", ":9000");
    }

    @Test
    void errorsAreThoseOfRedis() {
        asks("HEXPIRE none 10 FIELDS 2 a b", "*2 :-2 :-2");
        asks("HTTL none FIELDS 1 a", "*1 :-2");
        asks("HPERSIST none FIELDS 1 a", "*1 :-2");
        asks("EXISTS none", ":0");
        ask("HSET h a 1 b 2");
        String missing = "-ERR Mandatory argument FIELDS is missing or not at the right position";
        String notGreater = "-ERR Parameter `numFields` should be greater than 0";
        String notPositive = "-ERR Number of fields must be a positive integer";
        String mismatch = "-ERR The `numfields` parameter must match the number of arguments";
        asks("HEXPIRE h 10 a 1 a", missing);
        asks("HEXPIRE h 10 NX XX FIELDS 1 a", missing);
        asks("HEXPIRE h 10 1 FIELDS a", missing);
        asks("HEXPIRE h 10 FIELDS 0 a", notGreater);
        asks("HEXPIRE h 10 FIELDS x a", notGreater);
        asks("HEXPIRE h 10 FIELDS 2 a", mismatch);
        asks("HEXPIRE h 10 NX FIELDS 1 a b", mismatch);
        asks("HEXPIRE h 10 FIELDS 1", "-ERR wrong number of arguments for 'hexpire' command");
        asks("HTTL h a 1 a", missing);
        asks("HTTL h FIELDS 0 a", notPositive);
        asks("HTTL h FIELDS x a", notPositive);
        asks("HTTL h FIELDS 1 a b", mismatch);
        asks("HTTL h FIELDS 1", "-ERR wrong number of arguments for 'httl' command");
        asks("HPERSIST h a 1 a", missing);
        asks("HPERSIST h FIELDS -1 a", notPositive);
        asks("HPERSIST h FIELDS 3 a", mismatch);
        asks("HEXPIRE h x FIELDS 1 a", "-ERR value is not an integer or out of range");
        asks("HEXPIRE h -1 FIELDS 1 a", "-ERR invalid expire time, must be >= 0");
        asks("HEXPIRE h 70368744178 FIELDS 1 a", "-ERR invalid expire time in 'hexpire' command");
        asks("HPEXPIRE h 70368744177663 FIELDS 1 a", "-ERR invalid expire time in 'hpexpire' command");
        asks("HPEXPIREAT h 70368744177664 FIELDS 1 a", "-ERR invalid expire time in 'hpexpireat' command");
        asks("HPEXPIREAT h 70368744177663 FIELDS 1 a", "*1 :1");
        asks("HPEXPIRETIME h FIELDS 1 a", "*1 :70368744177663");
        asks("HEXPIREAT h 9223372036854775807 FIELDS 1 a", "-ERR invalid expire time in 'hexpireat' command");
        asks("SET s v", "+OK");
        String wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        asks("HEXPIRE s x y z 1 a", wrongType);
        asks("HTTL s x y 1 a", wrongType);
        asks("HPERSIST s x y 1 a", wrongType);
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void theWritingCommandDecidesWhetherAFieldKeepsItsTtl(int count) {
        make("h", count);
        expireSome("h", 0, 4, 5000);
        ask("HINCRBY h f1 10");
        ask("HINCRBYFLOAT h f2 0.5");
        ask("HSET h f0 x f4 y");
        ask("HSETNX h f3 not");
        asks("HPTTL h FIELDS 5 f0 f1 f2 f3 f4", "*5 :-1 :5000 :5000 :5000 :-1");
        asks("HMGET h f1 f2 f3", "*3 $2 11 $3 2.5 $1 3");
        ask("HSET h f1 " + "long".repeat(500) + " f3 z");
        asks("HPTTL h FIELDS 3 f1 f2 f3", "*3 :-1 :5000 :-1");
        server.sleep(6000);
        asks("HLEN h", ":" + (count - 1));
        asks("HINCRBY h f2 1", ":1");
        asks("HPTTL h FIELDS 1 f2", "*1 :-1");
    }

    @Test
    void theEncodingReflectsFieldTimes() {
        ask("CONFIG SET hash-max-listpack-entries 10");
        make("h", 5);
        asks("OBJECT ENCODING h", "$8 listpack");
        ask("HEXPIRE h 10 FIELDS 1 missing");
        asks("OBJECT ENCODING h", "$8 listpack");
        ask("HEXPIRE h 10 FIELDS 1 f1");
        asks("OBJECT ENCODING h", "$10 listpackex");
        ask("COPY h g");
        asks("OBJECT ENCODING g", "$10 listpackex");
        ask("HSET h " + pairs(5, 11));
        asks("OBJECT ENCODING h", "$9 hashtable");
        asks("HTTL h FIELDS 2 f1 f2", "*2 :10 :-1");
        ask("RENAME h i");
        asks("OBJECT ENCODING i", "$9 hashtable");
        asks("HTTL i FIELDS 2 f1 f2", "*2 :10 :-1");
        make("i", 200);
        asks("HTTL i FIELDS 2 f1 f2", "*2 :-1 :-1");
        asks("HTTL g FIELDS 1 f1", "*1 :10");
        String small = ask("MEMORY USAGE g");
        ask("HEXPIRE g 10 FIELDS 4 f0 f2 f3 f4");
        assertThat(Integer.parseInt(ask("MEMORY USAGE g").substring(1)))
                .isGreaterThan(Integer.parseInt(small.substring(1)));
    }

    /** Times make a hash longer: it becomes a tree with the last of them, and has all. */
    @Test
    void aHashBecomesATreeByItsTimes() {
        ask("CONFIG SET packed-max-bytes 1000");
        make("h", 100);
        ask("PEXPIRE h 90000");
        ask("HPEXPIRE h 3000 FIELDS 2 f3 f5");
        server.sleep(3001);
        ask("HPEXPIRE h 7000 FIELDS 50 " + fields(0, 50));
        ask("HPEXPIRE h 9000 NX FIELDS 100 " + fields(0, 100));
        asks("HPTTL h FIELDS 5 f0 f3 f5 f49 f50", "*5 :7000 :-2 :-2 :7000 :9000");
        asks("HLEN h", ":98");
        asks("PTTL h", ":86999");
        asks("PERSIST h", ":1");
        asks("PEXPIRE h 8000", ":1");
        server.sleep(7001);
        asks("HLEN h", ":50");
        server.sleep(1000);
        asks("EXISTS h", ":0");
    }

    @Test
    void manyThatAreDueAreNotSeenWhileTheyAreThere() {
        make("h", 20_000);
        expireSome("h", 0, 19_990, 50);
        asks("HLEN h", ":20000");
        server.sleep(51);
        asks("HLEN h", ":10");
        assertThat(ask("HGETALL h")).startsWith("*20 ").contains("f19990").doesNotContain("f19989");
        assertThat(ask("HRANDFIELD h")).contains("f1999");
        assertThat(ask("HRANDFIELD h 20")).startsWith("*10 ");
        assertThat(ask("HRANDFIELD h -20")).startsWith("*20 ").doesNotContain("f1998");
        asks("EXISTS h", ":1");
        asks("RENAME h g", "+OK");
        asks("HLEN g", ":10");
        asks("COPY g h", ":1");
        asks("HSET g f7 back", ":1");
        asks("HLEN g", ":11");
        expireSome("h", 19_990, 20_000, 50);
        server.sleep(51);
        asks("EXISTS h", ":0");
        asks("DBSIZE", ":1");
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.sleep(2000);
        for (int i = 0; i < 30; i++) {
            server.cache().maintain();
            server.sleep(100);
        }
        asks("HLEN g", ":11");
        assertThat(Integer.parseInt(ask("MEMORY USAGE g").substring(1))).isLessThan(20_000);
    }

    @Test
    void sortReadsOnlyUnexpiredFields() {
        ask("RPUSH list 1 2 3");
        ask("HSET h1 by 3 get one");
        ask("HSET h2 by 2 get two");
        ask("HSET h3 by 1 get three");
        asks("SORT list BY h*->by GET h*->get", "*3 $5 three $3 two $3 one");
        ask("HPEXPIRE h3 10 FIELDS 2 by get");
        ask("HPEXPIRE h2 10 FIELDS 1 get");
        server.sleep(11);
        asks("SORT list BY h*->by GET h*->get", "*3 $-1 $-1 $3 one");
    }

    // --- who is told

    private List<String> listening(String... commands) {
        List<String> told = new ArrayList<>();
        for (String command : commands) {
            for (Matcher next = MESSAGE.matcher(server.run(command.split(" "))); next.find();) {
                told.add(next.group(1).replace("__keyevent@0__:", "") + " " + next.group(2));
            }
        }
        return told;
    }

    private List<String> later(long millis) {
        List<String> told = new ArrayList<>();
        for (long left = millis; left > 0; left -= 100) {
            server.sleep(Math.min(left, 100));
            server.cache().maintain();
            told.addAll(listening("PING"));
        }
        return told;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void fieldChangesEmitEvents(int count) {
        make("h", count);
        ask("HELLO 3");
        ask("CONFIG SET notify-keyspace-events Ehgx");
        ask("PSUBSCRIBE __key*");
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
        ask("HSET h f 1");
        listening("HPEXPIRE h 100 FIELDS 1 f", "PING");
        server.sleep(101);
        assertThat(listening("HGET h f", "PING")).containsExactly("hexpired h", "del h");
        ask("HSET h f 1");
        assertThat(listening("HPEXPIRE h 0 FIELDS 1 f", "PING")).endsWith("hdel h", "del h");
        ask("HSET h f 1 g 1");
        listening("HPEXPIRE h 2000 FIELDS 1 f", "PEXPIRE h 100", "PING");
        assertThat(later(3000)).containsExactly("expired h");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void removingTheLastFieldEmitsEventsOfHiddenFields(int count) {
        make("h", count);
        make("g", 5);
        ask("HPEXPIRE h 100 FIELDS 2 f1 f2");
        ask("HPEXPIRE g 100 FIELDS 4 " + fields(1, 5));
        ask("HELLO 3");
        ask("CONFIG SET notify-keyspace-events Ehgx");
        ask("PSUBSCRIBE __key*");
        server.sleep(101);
        List<String> told = new ArrayList<>();
        for (int i = 0; i < count; i += 200) {
            told.addAll(listening("HDEL h " + fields(i, Math.min(count, i + 200)), "PING"));
        }
        assertThat(told).endsWith("hdel h", "hexpired h", "del h").containsOnlyOnce("hexpired h");
        assertThat(listening("HPEXPIRE g 0 FIELDS 1 f0", "PING")).containsExactly("hdel g", "hexpired g", "del g");
        assertThat(later(2000)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void anExpiredFieldFailsExecOfAWatchedHash(int count) {
        make("h", count);
        ask("HPEXPIRE h 50 FIELDS 1 f1");
        asks("WATCH h", "+OK");
        server.sleep(50);
        asks("MULTI", "+OK");
        ask("HLEN h");
        asks("EXEC", "*1 :" + count);
        asks("WATCH h", "+OK");
        server.sleep(1);
        asks("MULTI", "+OK");
        ask("HLEN h");
        asks("EXEC", "*-1");
        asks("WATCH h", "+OK");
        server.sleep(1000);
        asks("MULTI", "+OK");
        ask("HLEN h");
        asks("EXEC", "*1 :" + (count - 1));
        ask("WATCH h");
        ask("HEXPIRE h 100 FIELDS 1 f2");
        ask("MULTI");
        ask("HLEN h");
        asks("EXEC", "*-1");
        ask("WATCH h");
        ask("HPERSIST h FIELDS 1 f2");
        ask("MULTI");
        ask("HLEN h");
        asks("EXEC", "*-1");
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void anExpiredFieldInvalidatesACachedHash(int count) {
        make("h", count);
        ask("HPEXPIRE h 50 FIELDS 1 f1");
        ask("HELLO 3");
        asks("CLIENT TRACKING on", "+OK");
        asks("HGET h f1", "$1 1");
        String told = "";
        for (int i = 0; i < 13; i++) {
            server.sleep(100);
            server.cache().maintain();
            told += ask("PING");
        }
        assertThat(told).contains("invalidate *1 $1 h");
    }

    // --- payloads

    @ParameterizedTest
    @ValueSource(ints = {5, 1000})
    void aPayloadHasTimes(int count) {
        make("h", count);
        String untimed = payload("h");
        assertThat(untimed.charAt(untimed.length() - 10)).isEqualTo((char) 10);
        ask("HPEXPIRE h 5000 FIELDS 2 f1 f2");
        ask("HPEXPIRE h 7000 FIELDS 1 f3");
        String timed = payload("h");
        assertThat(timed.charAt(0)).isEqualTo((char) 24);
        assertThat(timed.charAt(timed.length() - 10)).isEqualTo((char) 12);
        assertThat(server.run("RESTORE", "g", "100000", timed)).isEqualTo("+OK\r\n");
        asks("HPTTL g FIELDS 4 f0 f1 f2 f3", "*4 :-1 :5000 :5000 :7000");
        asks("HLEN g", ":" + count);
        asks("PTTL g", ":100000");
        ask("HPERSIST h FIELDS 3 f1 f2 f3");
        String again = payload("h");
        assertThat(again.charAt(again.length() - 10)).isEqualTo((char) 10);
        server.sleep(5001);
        assertThat(server.run("RESTORE", "g", "0", timed, "REPLACE")).isEqualTo("+OK\r\n");
        asks("HLEN g", ":" + (count - 2));
        asks("PTTL g", ":-1");
        asks("HPTTL g FIELDS 2 f1 f3", "*2 :-2 :1999");
        assertThat(ask("INFO stats")).contains("expired_subkeys:0 ");
        for (int i = 0; i < 40; i++) {
            server.sleep(100);
            server.cache().maintain();
        }
        assertThat(ask("INFO stats")).contains("expired_subkeys:3 ");
    }

    /**
     * What was past already when it was given is no field that expired: it was deleted, and that is told, once, and of
     * the key behind it.
     */
    @ParameterizedTest
    @CsvSource({"5, HEXPIRE h 0", "1000, HEXPIRE h 0", "5, HPEXPIREAT h 1", "1000, HPEXPIREAT h 1"})
    void aPastExpiryTimeEmitsADeletion(int count, String command) {
        make("h", count);
        ask("HELLO 3");
        ask("CONFIG SET notify-keyspace-events Ehgx");
        ask("PSUBSCRIBE __key*");
        assertThat(listening(command + " FIELDS 3 f1 f2 f1", command + " XX FIELDS 1 f3",
                command + " FIELDS 1 missing", "PING")).containsExactly("hdel h");
        List<String> told = new ArrayList<>();
        for (int i = 0; i < count; i += 500) {
            int end = Math.min(count, i + 500);
            told.addAll(listening(command + " FIELDS " + (end - i) + " " + fields(i, end), "PING"));
        }
        assertThat(told).endsWith("hdel h", "del h").containsOnlyOnce("del h");
        asks("EXISTS h", ":0");
        assertThat(ask("INFO stats")).contains("expired_subkeys:0 ");
    }

    @Test
    void aPayloadOfExpiredFieldsRestoresNothing() {
        make("h", 3);
        ask("HPEXPIRE h 50 FIELDS 3 f0 f1 f2");
        String payload = payload("h");
        server.sleep(100);
        asks("DUMP h", "$-1");
        assertThat(server.run("RESTORE", "g", "0", payload, "IDLETIME", "5")).isEqualTo("+OK\r\n");
        asks("EXISTS g", ":0");
        asks("DBSIZE", ":0");
    }
}

package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends the limits of 64-bit integers, and values around and beyond them, as every integer argument of every command:
 * Varve and a real Redis must reply alike. Confined to the test's thread.
 */
class IntegerArgumentsDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String MIN = "-9223372036854775808";
    private static final String KEYS = " keys:";
    private static final String MIN_PLUS_1 = "-9223372036854775807";

    private static final List<String> VALUES = List.of(MIN, MIN_PLUS_1, "-4611686018427387904", "-2147483649",
            "-2147483648", "-2", "-1",
            "0", "1", "2", "2147483646", "2147483647", "2147483648", "4294967295", "4294967296", "4611686018427387904",
            "9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
            "18446744073709551615", "18446744073709551616", "100000000000000000000000", "-100000000000000000000000", "",
            " 1", "1 ", "+1", "-0", "00", "01", "1.0", "1e3", "0x10", "a", "-");

    private static final List<String> SETUP = List.of("FLUSHALL", "SET s foobar", "SET n 10", "RPUSH l a b a c a",
            "HSET h f 5", "SADD one 7", "ZADD z 1 m", "ZADD zz 1 a 2 b 3 c", "GEOADD g 13.361389 38.115556 Palermo",
            "MSET a ohmytext b mynewtext");

    private static final List<String> READS = List.of("GET s", "GET n", "LRANGE l 0 -1", "HGETALL h", "SMEMBERS one",
            "ZRANGE z 0 -1 WITHSCORES", "ZRANGE zz 0 -1", "EXISTS g a b t s n l", "TTL missing");

    /** A {@code #} is the integer. */
    private static final List<String> STRINGS = List.of("INCRBY n #", "DECRBY n #", "INCRBY s #", "DECRBY missing #",
            "APPEND n #", "SETRANGE s # x", "SETRANGE missing # x", "SETRANGE missing #", "GETRANGE s # 3",
            "GETRANGE s 1 #",
            "GETRANGE s # #", "GETRANGE missing # #", "SUBSTR s # -1", "SUBSTR s 0 #", "SETEX k # v", "PSETEX k # v",
            "SET k v EX #",
            "SET k v PX #", "SET k v EXAT #", "SET k v PXAT #", "SET s v EX # GET", "GETEX s EX #", "GETEX s PX #",
            "GETEX s EXAT #", "GETEX s PXAT #", "GETEX missing EX #", "LCS a b IDX MINMATCHLEN #",
            "SETBIT s 3 #", "GETBIT s #", "GETBIT missing #", "BITCOUNT s # 3", "BITCOUNT s 1 #", "BITCOUNT s # #",
            "BITCOUNT s # 20 BIT", "BITCOUNT s 2 # BIT", "BITCOUNT missing # #", "BITPOS s 1 #", "BITPOS s 0 # 3",
            "BITPOS s 1 1 #",
            "BITPOS s 1 # # BIT", "BITPOS s #", "BITPOS missing 0 #", "BITFIELD s SET i64 0 #",
            "BITFIELD n SET u63 0 #",
            "BITFIELD n SET i8 0 #", "BITFIELD n INCRBY i64 0 #", "BITFIELD n OVERFLOW SAT INCRBY i64 0 #",
            "BITFIELD n OVERFLOW FAIL INCRBY u63 0 #", "BITFIELD n OVERFLOW SAT INCRBY u8 0 #",
            "BITFIELD n OVERFLOW SAT INCRBY i5 0 #", "BITFIELD n OVERFLOW WRAP INCRBY u8 0 #",
            "BITFIELD n OVERFLOW FAIL INCRBY i7 3 #", "BITFIELD n OVERFLOW FAIL SET u8 0 #",
            "BITFIELD n OVERFLOW SAT SET i8 0 #",
            "BITFIELD s GET u8 #", "BITFIELD s GET u8 \\#", "BITFIELD_RO s GET i64 #", "BITFIELD s GET u#",
            "BITFIELD s GET i# 0",
            "BITFIELD s GET u# 0", "BITFIELD missing GET u8 #");

    private static final List<String> LISTS = List.of("LPOS l a RANK #", "LPOS l a COUNT #", "LPOS l a MAXLEN #",
            "LPOS l a RANK # COUNT 0", "LPOS l a RANK # MAXLEN #", "LPOS missing a RANK #",
            "LPOS missing a RANK # COUNT 2",
            "LREM l # a", "LREM missing # a", "LSET l # v", "LSET missing # v", "LINDEX l #", "LINDEX missing #",
            "LRANGE l # 3",
            "LRANGE l 1 #", "LRANGE l # #", "LTRIM l # 3", "LTRIM l 1 #", "LTRIM l # #", "LPOP l #", "RPOP l #",
            "LPOP missing #", "LMPOP # l LEFT", "LMPOP 1 l LEFT COUNT #", "LMPOP 2 l missing RIGHT COUNT #",
            "BLMPOP 1 # l LEFT",
            "BLMPOP 1 1 l LEFT COUNT #", "BLPOP l #", "BRPOP l #", "BLMOVE l l LEFT RIGHT #", "BRPOPLPUSH l l #",
            "SORT l ALPHA LIMIT # 2", "SORT l ALPHA LIMIT 1 #", "SORT l ALPHA LIMIT # #", "SORT_RO l LIMIT 0 # ALPHA",
            "SORT missing LIMIT # #");

    private static final List<String> OTHERS = List.of("HINCRBY h f #", "HINCRBY h x #", "HINCRBY missing f #",
            "HRANDFIELD h #", "HRANDFIELD h # WITHVALUES", "HRANDFIELD missing #", "HRANDFIELD missing # WITHVALUES",
            "HSCAN h #", "HSCAN h 0 COUNT #", "SSCAN one #", "SSCAN one 0 COUNT #", "ZSCAN z #", "ZSCAN z 0 COUNT #",
            "SCAN 0 COUNT #", "SSCAN missing #", "SPOP one #", "SPOP missing #", "SRANDMEMBER one #",
            "SRANDMEMBER missing #", "SINTERCARD # one", "SINTERCARD 1 one LIMIT #", "SINTERCARD 2 one one LIMIT #",
            "ZRANDMEMBER z #", "ZRANDMEMBER z # WITHSCORES", "ZRANDMEMBER missing #", "ZPOPMIN zz #", "ZPOPMAX zz #",
            "ZPOPMIN missing #", "ZRANGE zz # 1", "ZRANGE zz 1 #", "ZRANGE zz # # REV", "ZREVRANGE zz # 1",
            "ZREVRANGE zz 1 #",
            "ZRANGE zz -inf +inf BYSCORE LIMIT # 2", "ZRANGE zz -inf +inf BYSCORE LIMIT 1 #",
            "ZRANGE zz - + BYLEX LIMIT # #", "ZRANGEBYSCORE zz -inf +inf LIMIT # 2",
            "ZRANGEBYSCORE zz -inf +inf LIMIT 1 #",
            "ZREVRANGEBYSCORE zz +inf -inf LIMIT # #", "ZRANGEBYLEX zz - + LIMIT # 1",
            "ZREVRANGEBYLEX zz + - LIMIT 0 #",
            "ZRANGESTORE t zz # 1", "ZRANGESTORE t zz 0 #", "ZRANGESTORE t zz -inf +inf BYSCORE LIMIT # #",
            "ZREMRANGEBYRANK zz # 1", "ZREMRANGEBYRANK zz 1 #", "ZREMRANGEBYRANK missing # #", "ZMPOP # zz MIN",
            "ZMPOP 1 zz MAX COUNT #", "BZMPOP 1 # zz MIN", "BZMPOP 1 1 zz MIN COUNT #", "BZPOPMIN zz #",
            "ZINTERCARD # z",
            "ZINTERCARD 1 zz LIMIT #", "ZDIFF # z", "ZUNION # zz", "ZINTER # zz", "ZDIFFSTORE t # zz",
            "ZUNIONSTORE t # zz",
            "ZINTERSTORE t # zz", "GEOSEARCH g FROMLONLAT 13 38 BYRADIUS 200 km COUNT #",
            "GEOSEARCH g FROMLONLAT 13 38 BYRADIUS 200 km COUNT # ANY",
            "GEOSEARCHSTORE t g FROMLONLAT 13 38 BYRADIUS 200 km COUNT #",
            "GEORADIUS g 13 38 200 km COUNT #", "GEORADIUSBYMEMBER g Palermo 200 km COUNT #",
            "GEORADIUS_RO g 13 38 200 km COUNT #");

    private static final List<String> KEYS_AND_SERVER = List.of("EXPIRE s #", "PEXPIRE s #", "EXPIREAT s #",
            "PEXPIREAT s #", "EXPIRE missing #", "PEXPIREAT missing #", "EXPIRE s # GT", "EXPIRE s # LT",
            "EXPIRE s # NX",
            "PEXPIREAT s # XX", "SELECT #", "MOVE s #", "COPY s t DB #", "SWAPDB # 0", "SWAPDB 0 #", "RESTORE t # x",
            "RESTORE t 0 x IDLETIME #", "RESTORE t 0 x FREQ #", "RESTORE t # x ABSTTL", "WAIT 0 #", "WAIT # 1",
            "SLOWLOG GET #", "ACL GENPASS #", "ACL LOG #", "HELLO #", "MEMORY USAGE l SAMPLES #", "CLIENT UNBLOCK 99#",
            "CLIENT KILL ID 99#", "CLIENT KILL ID -#", "CLIENT LIST ID 99#", "CLIENT TRACKING ON REDIRECT 99#",
            "OBJECT FREQ s #", "INCR #", "SETNX t #",
            "LATENCY GRAPH #", "LATENCY HISTORY #");

    /** Commands that Redis would answer for ever: picks with repetition, as many as the count says. */
    private static final Set<String> WITHOUT_END = Set.of("HRANDFIELD h #", "SRANDMEMBER one #", "ZRANDMEMBER z #",
            "HRANDFIELD h # WITHVALUES", "ZRANDMEMBER z # WITHSCORES");

    private static final String NOT_NEGATABLE = "-\"ERR value is out of range, value must between"
            + " -9223372036854775807 and 9223372036854775807\"";

    /**
     * Commands for which 7.4 differs from 7.0.15 at the minimum integer: LREM and LPOS refuse numbers that they cannot
     * negate.
     */
    private static final Set<String> NEGATED_LATER = Set.of("LPOS l a RANK #", "LPOS l a RANK # COUNT 0",
            "LPOS l a RANK # MAXLEN #", "LPOS missing a RANK #", "LPOS missing a RANK # COUNT 2", "LREM l # a",
            "LREM missing # a");

    @Test
    void everyIntegerIsReadAsRedisReadsIt() throws IOException, InterruptedException {
        List<String> differences = new ArrayList<>();
        List<String> templates = new ArrayList<>(STRINGS);
        templates.addAll(LISTS);
        templates.addAll(OTHERS);
        templates.addAll(KEYS_AND_SERVER);
        try (ReferenceRedis reference = ReferenceRedis.start();
                VarveServer varve = start();
                RawClient theirs = new RawClient(reference.port());
                RawClient ours = new RawClient(varve.port())) {
            for (RawClient client : List.of(theirs, ours)) {
                assertThat(client.call("CONFIG", "SET", "slowlog-log-slower-than", "-1").text()).isEqualTo("OK");
            }
            for (String template : templates) {
                for (String value : VALUES) {
                    if (isWithoutEnd(template, value)) {
                        continue;
                    }
                    String expected = later(template, value, execute(theirs, template, value));
                    String answer = execute(ours, template, value);
                    if (!answer.equals(expected)) {
                        differences.add(template + " with \"" + value + "\":\n   Redis " + expected + "\n   Varve "
                                + answer);
                    }
                }
            }
        }
        assertThat(differences).isEmpty();
    }

    private static VarveServer start() throws IOException {
        return servers.start("maxmemory 256mb");
    }

    /** Redis does not refuse these and cannot end them: a count of picks that no reply can hold is an error. */
    @Test
    void picksThatNoReplyCanHoldAreRefused() throws IOException {
        try (VarveServer varve = start(); RawClient client = new RawClient(varve.port())) {
            for (String command : SETUP) {
                client.call(command.split(" "));
            }
            for (String template : WITHOUT_END) {
                for (String count : List.of(MIN_PLUS_1, "-4611686018427387904", "-4611686018427387903",
                        "-2147483648")) {
                    assertThat(client.call(template.replace("#", count).split(" ")).text()).as(template)
                            .isEqualTo("ERR value is out of range");
                    assertThat(client.call("PING").text()).isEqualTo("PONG");
                }
            }
        }
    }

    /** The reply of 7.4, derived from that of 7.0.15. */
    private static String later(String template, String value, String answer) {
        String reads = answer.substring(answer.indexOf(KEYS));
        if (value.equals(MIN) && NEGATED_LATER.contains(template)) {
            // LREM of 7.0.15 has removed them all.
            return NOT_NEGATABLE + reads.replace("*[$\"b\", $\"c\"]", "*[$\"a\", $\"b\", $\"a\", $\"c\", $\"a\"]");
        }
        return template.equals("WAIT 0 #") && value.startsWith("922337203685477580") && !value.endsWith("8")
                ? "-\"ERR timeout is out of range\"" + reads
                : answer;
    }

    private static boolean isWithoutEnd(String template, String value) {
        return WITHOUT_END.contains(template) && value.matches("-[1-9]\\d{9,18}") && !value.equals(MIN);
    }

    /** The reply, and what is in the keys then. */
    private static String execute(RawClient client, String template, String value) throws IOException {
        client.queue("SELECT", "0");
        SETUP.forEach(command -> queue(client, command.split(" ")));
        client.flush();
        for (int i = 0; i <= SETUP.size(); i++) {
            assertThat(client.read().isError()).as("setup of %s", template).isFalse();
        }
        String[] words = template.split(" ");
        for (int i = 0; i < words.length; i++) {
            words[i] = words[i].equals("\\#") ? "#" + value : words[i].replace("#", value);
        }
        queue(client, words);
        queue(client, "CLIENT", "TRACKING", "OFF");
        queue(client, "HELLO", "2");
        queue(client, "SELECT", "0");
        READS.forEach(command -> queue(client, command.split(" ")));
        client.flush();
        String reply = comparable(template, client.read());
        client.read();
        client.read();
        client.read();
        StringBuilder text = new StringBuilder(reply).append(KEYS);
        for (int i = 0; i < READS.size(); i++) {
            text.append(' ').append(client.read());
        }
        return text.toString();
    }

    /** Without what differs from server to server: cursors, sizes, versions, what is drawn at random. */
    private static String comparable(String template, RawReply reply) {
        String command = template.substring(0, template.indexOf(' '));
        return switch (command) {
            case "SCAN", "HELLO", "MEMORY" -> reply.isError() ? reply.toString() : "" + reply.kind();
            case "ACL" -> reply.isError() ? reply.toString() : "" + reply.text().length();
            default -> reply.toString();
        };
    }

    private static void queue(RawClient client, String... words) {
        try {
            client.queue(words);
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }
}

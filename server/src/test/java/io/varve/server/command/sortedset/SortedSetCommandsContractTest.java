package io.varve.server.command.sortedset;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Sorted set commands, compared with recorded replies of a real Redis. Confined to the test's thread. */
abstract class SortedSetCommandsContractTest extends HarnessTest {
    private final int maxBytes;

    /** @param maxBytes what a set of three members takes at most */
    SortedSetCommandsContractTest(CommandHarness server, int maxBytes) {
        super(server);
        this.maxBytes = maxBytes;
    }

    @Test
    void membersAreAnsweredInTheirOrder() {
        assertThat(execute("ZADD z 2 b 1 a 3 c 2 aa")).isEqualTo(":4");
        assertThat(execute("ZRANGE z 0 -1")).isEqualTo("*4 $1 a $2 aa $1 b $1 c");
        assertThat(execute("ZRANGE z 1 2 WITHSCORES")).isEqualTo("*4 $2 aa $1 2 $1 b $1 2");
        assertThat(execute("ZRANGE z 0 1 REV")).isEqualTo("*2 $1 c $1 b");
        assertThat(execute("ZREVRANGE z 0 0 WITHSCORES")).isEqualTo("*2 $1 c $1 3");
        assertThat(execute("ZRANGE z (1 +inf BYSCORE LIMIT 1 1")).isEqualTo("*1 $1 b");
        assertThat(execute("ZRANGE z 3 (2 BYSCORE REV")).isEqualTo("*1 $1 c");
        assertThat(execute("ZRANGEBYSCORE z -inf 2 WITHSCORES LIMIT 0 1")).isEqualTo("*2 $1 a $1 1");
        assertThat(execute("ZREVRANGEBYSCORE z 2 -inf LIMIT 1 -1")).isEqualTo("*2 $2 aa $1 a");
        assertThat(execute("ZCOUNT z (1 3")).isEqualTo(":3");
        assertThat(execute("ZRANK z b")).isEqualTo(":2");
        assertThat(execute("ZREVRANK z b")).isEqualTo(":1");
        assertThat(execute("ZRANK z none")).isEqualTo("$-1");
        assertThat(execute("ZRANK z b WITHSCORE")).isEqualTo("*2 :2 $1 2");
        assertThat(execute("ZREVRANK z c WITHSCORE")).isEqualTo("*2 :0 $1 3");
        assertThat(execute("ZRANK z none WITHSCORE")).isEqualTo("*-1");
        assertThat(execute("ZRANK z b foo")).isEqualTo("-ERR syntax error");
        assertThat(execute("ZRANK z b WITHSCORE 1")).isEqualTo("-ERR wrong number of arguments for 'zrank' command");
        assertThat(execute("TYPE z")).isEqualTo("+zset");
    }

    @Test
    void resp3HasDoublesAndPairs() {
        server.run("HELLO 3");
        assertThat(execute("ZADD z 1.5 a inf b -inf c")).isEqualTo(":3");
        assertThat(execute("ZSCORE z a")).isEqualTo(",1.5");
        assertThat(execute("ZMSCORE z b none c")).isEqualTo("*3 ,inf _ ,-inf");
        assertThat(execute("ZRANGE z 0 -1 WITHSCORES")).isEqualTo("*3 *2 $1 c ,-inf *2 $1 a ,1.5 *2 $1 b ,inf");
        assertThat(execute("ZINCRBY z 1 a")).isEqualTo(",2.5");
        assertThat(execute("ZADD z XX INCR 1 none")).isEqualTo("_");
        assertThat(execute("ZRANDMEMBER z 5 WITHSCORES")).isEqualTo("*3 *2 $1 c ,-inf *2 $1 a ,2.5 *2 $1 b ,inf");
        assertThat(execute("ZSCAN z 0")).startsWith("*2 $1 0 *6 ").contains(" $1 c $4 -inf", " $1 a $3 2.5",
                " $1 b $3 inf");
        assertThat(execute("ZUNION 1 z WITHSCORES")).isEqualTo("*3 *2 $1 c ,-inf *2 $1 a ,2.5 *2 $1 b ,inf");
        assertThat(execute("ZPOPMIN z")).isEqualTo("*2 $1 c ,-inf");
        assertThat(execute("ZMPOP 2 none z MAX")).isEqualTo("*2 $1 z *1 *2 $1 b ,inf");
        assertThat(execute("ZPOPMAX z 5")).isEqualTo("*1 *2 $1 a ,2.5");
        assertThat(execute("ZPOPMAX z")).isEqualTo("*0");
        assertThat(execute("ZMPOP 1 z MAX")).isEqualTo("_");
        assertThat(execute("ZRANK z a WITHSCORE")).isEqualTo("_");
        assertThat(execute("EXISTS z")).isEqualTo(":0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ZADD z NX 5 a 2 b|:1", "ZADD z XX CH 5 a 2 b|:1", "ZADD z GT CH 0 a|:0",
            "ZADD z GT CH 2 a|:1", "ZADD z LT CH 2 a|:0", "ZADD z LT CH 0 a 3 new|:2", "ZADD z XX LT 0 new|:0",
            "ZADD z INCR 2 a|$1 3", "ZADD z NX INCR 2 a|$-1", "ZADD z GT INCR -2 a|$-1", "ZADD z CH 1 a|:0",
            "ZADD z CH 2 x 3 x|:2", "ZADD none XX 1 a|:0", "ZADD none XX INCR 1 a|$-1",
            "ZADD z NX XX 1 a|-ERR XX and NX options at the same time are not compatible",
            "ZADD z GT LT 1 a|-ERR GT, LT, and/or NX options at the same time are not compatible",
            "ZADD z NX GT 1 a|-ERR GT, LT, and/or NX options at the same time are not compatible",
            "ZADD z INCR 1 a 2 b|-ERR INCR option supports a single increment-element pair",
            "ZADD z 1 a 2|-ERR syntax error", "ZADD z NX CH|-ERR syntax error",
            "ZADD z 1 a x b|-ERR value is not a valid float",
            "ZINCRBY z nx a|-ERR syntax error",
            "ZADD s 1 a|-WRONGTYPE Operation against a key holding the wrong kind of value"})
    void addingHasOptions(String command, String reply) {
        server.run("ZADD z 1 a");
        server.run("SET s v");
        assertThat(execute(command)).isEqualTo(reply);
    }

    @Test
    void aSumThatIsNoNumberIsRefused() {
        server.run("ZADD z inf a");
        assertThat(execute("ZINCRBY z -inf a")).isEqualTo("-ERR resulting score is not a number (NaN)");
        assertThat(execute("ZSCORE z a")).isEqualTo("$3 inf");
    }

    @Test
    void refusedCommandsChangeNothing() {
        server.run("ZADD z 1 a");
        assertThat(execute("ZADD z 2 a nan b")).isEqualTo("-ERR value is not a valid float");
        assertThat(execute("ZRANGE z 0 -1 WITHSCORES")).isEqualTo("*2 $1 a $1 1");
    }

    @Test
    void zerosHaveASignOnlyInASkiplist() {
        server.run("ZADD z -0 a");
        assertThat(execute("ZSCORE z a")).isEqualTo("$1 0");
        server.run("CONFIG SET zset-max-listpack-entries 0");
        server.run("ZADD y -0 a");
        assertThat(execute("ZSCORE y a")).isEqualTo("$2 -0");
        assertThat(execute("ZADD y CH 0 a")).isEqualTo(":0");
    }

    @Test
    void membersAreRemoved() {
        server.run("ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g");
        assertThat(execute("ZREM z b none b")).isEqualTo(":1");
        assertThat(execute("ZREMRANGEBYRANK z 0 0")).isEqualTo(":1");
        assertThat(execute("ZREMRANGEBYSCORE z (3 4")).isEqualTo(":1");
        assertThat(execute("ZRANGE z 0 -1")).isEqualTo("*4 $1 c $1 e $1 f $1 g");
        assertThat(execute("ZREMRANGEBYSCORE z 8 9")).isEqualTo(":0");
        assertThat(execute("ZREMRANGEBYLEX none - +")).isEqualTo(":0");
        assertThat(execute("ZREMRANGEBYRANK z -1 -1")).isEqualTo(":1");
        assertThat(execute("ZREM z c e f")).isEqualTo(":3");
        assertThat(execute("EXISTS z")).isEqualTo(":0");
        assertThat(execute("ZCARD z")).isEqualTo(":0");
    }

    @Test
    void membersOfOneScoreAreARangeToo() {
        server.run("ZADD z 0 a 0 b 0 c 0 d");
        assertThat(execute("ZRANGEBYLEX z (a [c")).isEqualTo("*2 $1 b $1 c");
        assertThat(execute("ZREVRANGEBYLEX z + (b LIMIT 1 5")).isEqualTo("*1 $1 c");
        assertThat(execute("ZRANGE z [b + BYLEX LIMIT 0 1")).isEqualTo("*1 $1 b");
        assertThat(execute("ZLEXCOUNT z - +")).isEqualTo(":4");
        assertThat(execute("ZLEXCOUNT z + -")).isEqualTo(":0");
        assertThat(execute("ZLEXCOUNT z a b")).isEqualTo("-ERR min or max not valid string range item");
        assertThat(execute("ZREMRANGEBYLEX z (a (d")).isEqualTo(":2");
        assertThat(execute("ZRANGE z 0 -1")).isEqualTo("*2 $1 a $1 d");
    }

    @Test
    void endsArePopped() {
        server.run("ZADD z 1 a 2 b 3 c 4 d");
        assertThat(execute("ZPOPMIN z")).isEqualTo("*2 $1 a $1 1");
        assertThat(execute("ZPOPMAX z 2")).isEqualTo("*4 $1 d $1 4 $1 c $1 3");
        assertThat(execute("ZPOPMIN z 0")).isEqualTo("*0");
        assertThat(execute("ZPOPMIN z -1")).isEqualTo("-ERR value is out of range, must be positive");
        assertThat(execute("ZMPOP 2 none z MIN COUNT 10")).isEqualTo("*2 $1 z *1 *2 $1 b $1 2");
        assertThat(execute("ZMPOP 2 none z MIN")).isEqualTo("*-1");
        assertThat(execute("ZMPOP 0 z MIN")).isEqualTo("-ERR numkeys should be greater than 0");
        assertThat(execute("ZMPOP 2 z MIN")).isEqualTo("-ERR syntax error");
        assertThat(execute("ZMPOP 1 z MIN COUNT 0")).isEqualTo("-ERR count should be greater than 0");
        assertThat(execute("ZMPOP 1 z MIN COUNT 1 COUNT 1")).isEqualTo("-ERR syntax error");
        assertThat(execute("EXISTS z")).isEqualTo(":0");
    }

    /**
     * Asked of Redis 7.0.15; found by a random command. What is stored begins as a listpack there, and one member is
     * too long for that.
     */
    @ParameterizedTest
    @CsvSource({"128,0 -1,0 -0 -0", "128,0 -1 REV,-0 -0 0", "128,-inf +inf BYSCORE,0 -0 -0",
            "128,+inf -inf BYSCORE REV,-0 -0 0", "128,- + BYLEX LIMIT 0 5,0 -0 -0", "3,0 -1,0 -0 -0",
            "2,0 -1,-0 -0 -0", "2,0 -1 REV,-0 -0 -0", "2,-inf +inf BYSCORE,0 -0 -0", "1,+inf -inf BYSCORE REV,-0 -0 0",
            "1,- + BYLEX,0 -0 -0", "0,- + BYLEX,-0 -0 -0"})
    void zeroKeepsItsSignWhereWhatIsStoredIsNoListpack(int entries, String range, String scores) {
        String longest = "m".repeat(65);
        server.run("ZADD z -0 " + longest);
        server.run("ZADD z -0 a -0 zz");
        assertThat(execute("ZMSCORE z a " + longest + " zz")).isEqualTo("*3 $2 -0 $2 -0 $2 -0");
        server.run("CONFIG SET zset-max-listpack-entries " + entries);
        assertThat(execute("ZRANGESTORE d z " + range)).isEqualTo(":3");
        assertThat(execute("ZMSCORE d a " + longest + " zz").replaceAll("[*$]\\d+ ?", "").strip()).isEqualTo(scores);
    }

    @Test
    void setsAreUnitedAndCut() {
        server.run("ZADD x 1 a 2 b 3 c");
        server.run("ZADD y 10 b 20 c 30 d");
        assertThat(execute("ZUNION 2 x y WITHSCORES")).isEqualTo("*8 $1 a $1 1 $1 b $2 12 $1 c $2 23 $1 d $2 30");
        assertThat(execute("ZINTER 2 x y WEIGHTS 10 1 AGGREGATE MAX WITHSCORES")).isEqualTo("*4 $1 b $2 20 $1 c $2 30");
        assertThat(execute("ZDIFF 2 x y WITHSCORES")).isEqualTo("*2 $1 a $1 1");
        assertThat(execute("ZINTERCARD 2 x y LIMIT 1")).isEqualTo(":1");
        assertThat(execute("ZINTERCARD 2 x y")).isEqualTo(":2");
        assertThat(execute("ZUNIONSTORE x 2 x y AGGREGATE MIN")).isEqualTo(":4");
        assertThat(execute("ZRANGE x 0 -1 WITHSCORES")).isEqualTo("*8 $1 a $1 1 $1 b $1 2 $1 c $1 3 $1 d $2 30");
        assertThat(execute("ZINTERSTORE y 2 y none")).isEqualTo(":0");
        assertThat(execute("EXISTS y")).isEqualTo(":0");
        server.run("SET y v EX 100");
        assertThat(execute("ZDIFFSTORE y 2 x none")).isEqualTo(":4");
        assertThat(execute("TTL y")).isEqualTo(":-1");
        assertThat(execute("ZRANGESTORE y y 1 2")).isEqualTo(":2");
        assertThat(execute("ZRANGE y 0 -1 WITHSCORES")).isEqualTo("*4 $1 b $1 2 $1 c $1 3");
        assertThat(execute("ZRANGESTORE y none 0 -1")).isEqualTo(":0");
        assertThat(execute("EXISTS y")).isEqualTo(":0");
        server.run("SET s v");
        assertThat(execute("ZUNION 2 none s")).startsWith("-WRONGTYPE");
        assertThat(execute("ZUNIONSTORE d 3 x y")).isEqualTo("-ERR syntax error");
        assertThat(execute("ZDIFF 1 x WEIGHTS 1")).isEqualTo("-ERR syntax error");
    }

    /** Each of their members counts one. */
    @Test
    void setsAreOperandsToo() {
        server.run("ZADD z 2 -7 3 b");
        server.run("SADD integers 5 -7 123456789012");
        server.run("SADD words b c");
        assertThat(execute("ZUNION 3 integers z words WITHSCORES"))
                .isEqualTo("*10 $12 123456789012 $1 1 $1 5 $1 1 $1 c $1 1 $2 -7 $1 3 $1 b $1 4");
        assertThat(execute("ZINTER 2 z integers WEIGHTS 1 10 WITHSCORES")).isEqualTo("*2 $2 -7 $2 12");
        assertThat(execute("ZINTER 2 words z AGGREGATE MIN WITHSCORES")).isEqualTo("*2 $1 b $1 1");
        assertThat(execute("ZDIFF 2 integers z")).isEqualTo("*2 $12 123456789012 $1 5");
        assertThat(execute("ZINTERCARD 3 integers z words")).isEqualTo(":0");
        assertThat(execute("ZUNIONSTORE integers 2 integers integers WEIGHTS 1 2")).isEqualTo(":3");
        assertThat(execute("TYPE integers")).isEqualTo("+zset");
        assertThat(execute("ZRANGE integers 0 -1 WITHSCORES"))
                .isEqualTo("*6 $2 -7 $1 3 $12 123456789012 $1 3 $1 5 $1 3");
        for (int i = 0; i < 2000; i += 100) {
            StringBuilder integers = new StringBuilder("SADD many");
            StringBuilder scored = new StringBuilder("ZADD scored");
            for (int j = i; j < i + 100; j++) {
                integers.append(' ').append(j);
                scored.append(" 0.5 ").append(2 * j);
            }
            assertThat(execute(integers.toString())).isEqualTo(":100");
            assertThat(execute(scored.toString())).isEqualTo(":100");
        }
        assertThat(execute("ZUNIONSTORE u 2 many scored")).isEqualTo(":3000");
        assertThat(execute("ZINTERCARD 2 many scored")).isEqualTo(":1000");
        assertThat(execute("ZSCORE u 1998")).isEqualTo("$3 1.5");
        assertThat(execute("ZSCORE u 1999")).isEqualTo("$1 1");
        assertThat(execute("ZDIFFSTORE d 2 many u")).isEqualTo(":0");
        server.run("HSET h f v");
        assertThat(execute("ZUNION 2 integers h")).startsWith("-WRONGTYPE");
    }

    /** From opposite infinities, and from zero times infinity. */
    @Test
    void nanScoresBecomeZero() {
        server.run("ZADD x inf a");
        server.run("ZADD y -inf a");
        assertThat(execute("ZUNION 2 x y WITHSCORES")).isEqualTo("*2 $1 a $1 0");
        assertThat(execute("ZINTER 2 x y WEIGHTS 0 0 WITHSCORES")).isEqualTo("*2 $1 a $1 0");
    }

    @Test
    void theEncodingIsThatOfRedis() {
        server.run("ZADD z 1 a");
        assertThat(execute("OBJECT ENCODING z")).isEqualTo("$8 listpack");
        server.run("ZADD z 1 " + "m".repeat(65));
        assertThat(execute("OBJECT ENCODING z")).isEqualTo("$8 skiplist");
        server.run("ZREM z " + "m".repeat(65));
        assertThat(execute("OBJECT ENCODING z")).isEqualTo("$8 skiplist");
        assertThat(execute("ZUNIONSTORE y 1 z")).isEqualTo(":1");
        assertThat(execute("OBJECT ENCODING y")).isEqualTo("$8 listpack");
        for (int i = 0; i < 129; i++) {
            server.run("ZADD many " + i + " m" + i);
            assertThat(execute("OBJECT ENCODING many")).isEqualTo(i < 128 ? "$8 listpack" : "$8 skiplist");
        }
        assertThat(execute("COPY many copy")).isEqualTo(":1");
        assertThat(execute("OBJECT ENCODING copy")).isEqualTo("$8 skiplist");
        assertThat(execute("ZCARD copy")).isEqualTo(":129");
        assertThat(execute("CONFIG GET zset-max-ziplist-value")).isEqualTo("*2 $22 zset-max-ziplist-value $2 64");
    }

    @Test
    void theGenericCommandsKnowSortedSets() {
        server.run("ZADD z 1 a 2 b");
        assertThat(execute("RENAME z y")).isEqualTo("+OK");
        assertThat(execute("MOVE y 1")).isEqualTo(":1");
        server.run("SELECT 1");
        assertThat(execute("EXPIRE y 100")).isEqualTo(":1");
        assertThat(execute("ZADD y 3 c")).isEqualTo(":1");
        assertThat(execute("TTL y")).isEqualTo(":100");
        assertThat(execute("SCAN 0 TYPE zset")).isEqualTo("*2 $1 0 *1 $1 y");
        assertThat(Integer.parseInt(execute("MEMORY USAGE y").substring(1))).isBetween(10, maxBytes);
        server.sleep(101_000);
        assertThat(execute("ZCARD y")).isEqualTo(":0");
    }

    /** Sets whose members are more than what is always there for a command to note. */
    @Test
    void largeSetsComeToWhatSmallOnesDo() {
        int members = 3000;
        for (int i = 0; i < members; i += 500) {
            StringBuilder one = new StringBuilder("ZADD x");
            StringBuilder other = new StringBuilder("ZADD y");
            for (int j = i; j < i + 500; j++) {
                one.append(' ').append(j * 7 % members).append(" member").append(j);
                other.append(" 1 member").append(2 * j);
            }
            assertThat(execute(one.toString())).isEqualTo(":500");
            assertThat(execute(other.toString())).isEqualTo(":500");
        }
        assertThat(execute("ZUNIONSTORE u 2 x y")).isEqualTo(":4500");
        assertThat(execute("ZINTERSTORE i 2 x y WEIGHTS 1 0")).isEqualTo(":1500");
        assertThat(execute("ZDIFFSTORE d 2 x y")).isEqualTo(":1500");
        assertThat(execute("ZINTERCARD 2 i d")).isEqualTo(":0");
        assertThat(execute("ZUNIONSTORE id 2 i d")).isEqualTo(":3000");
        assertThat(execute("ZDIFFSTORE none 2 id x")).isEqualTo(":0");
        assertThat(server.run("ZRANGE id 0 -1 WITHSCORES")).isEqualTo(server.run("ZRANGE x 0 -1 WITHSCORES"));
        assertThat(execute("ZRANK x member3")).isEqualTo(":21");
        assertThat(execute("ZREMRANGEBYRANK x 10 -11")).isEqualTo(":2980");
        assertThat(execute("ZCARD x")).isEqualTo(":20");
    }

    @Test
    void aRefusedStoreChangesNothing() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness small = new CommandHarness(config)) {
            String member = "m".repeat(4000);
            int members = 0;
            while (small.run("ZADD", "z", Integer.toString(members), member + members).equals(":1\r\n")) {
                members++;
            }
            assertThat(members).isGreaterThan(100);
            small.run("ZREMRANGEBYRANK", "z", "0", "0");
            small.run("ZADD d 1 a");
            String refused = small.run("ZUNIONSTORE", "d", "1", "z");
            assertThat(refused).startsWith("-OOM");
            assertThat(small.run("ZRANGE d 0 -1")).isEqualTo("*1\r\n$1\r\na\r\n");
            assertThat(small.run("ZCARD z")).isEqualTo(":" + (members - 1) + "\r\n");
            assertThat(small.cache().checkIntegrity()).isEmpty();
        }
    }
}

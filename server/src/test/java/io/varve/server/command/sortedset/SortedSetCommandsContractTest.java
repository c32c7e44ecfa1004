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
    private final int mostBytes;

    /** @param mostBytes what a set of three members takes at most */
    SortedSetCommandsContractTest(CommandHarness server, int mostBytes) {
        super(server);
        this.mostBytes = mostBytes;
    }

    @Test
    void membersAreAnsweredInTheirOrder() {
        assertThat(ask("ZADD z 2 b 1 a 3 c 2 aa")).isEqualTo(":4");
        assertThat(ask("ZRANGE z 0 -1")).isEqualTo("*4 $1 a $2 aa $1 b $1 c");
        assertThat(ask("ZRANGE z 1 2 WITHSCORES")).isEqualTo("*4 $2 aa $1 2 $1 b $1 2");
        assertThat(ask("ZRANGE z 0 1 REV")).isEqualTo("*2 $1 c $1 b");
        assertThat(ask("ZREVRANGE z 0 0 WITHSCORES")).isEqualTo("*2 $1 c $1 3");
        assertThat(ask("ZRANGE z (1 +inf BYSCORE LIMIT 1 1")).isEqualTo("*1 $1 b");
        assertThat(ask("ZRANGE z 3 (2 BYSCORE REV")).isEqualTo("*1 $1 c");
        assertThat(ask("ZRANGEBYSCORE z -inf 2 WITHSCORES LIMIT 0 1")).isEqualTo("*2 $1 a $1 1");
        assertThat(ask("ZREVRANGEBYSCORE z 2 -inf LIMIT 1 -1")).isEqualTo("*2 $2 aa $1 a");
        assertThat(ask("ZCOUNT z (1 3")).isEqualTo(":3");
        assertThat(ask("ZRANK z b")).isEqualTo(":2");
        assertThat(ask("ZREVRANK z b")).isEqualTo(":1");
        assertThat(ask("ZRANK z none")).isEqualTo("$-1");
        assertThat(ask("ZRANK z b WITHSCORE")).isEqualTo("*2 :2 $1 2");
        assertThat(ask("ZREVRANK z c WITHSCORE")).isEqualTo("*2 :0 $1 3");
        assertThat(ask("ZRANK z none WITHSCORE")).isEqualTo("*-1");
        assertThat(ask("ZRANK z b foo")).isEqualTo("-ERR syntax error");
        assertThat(ask("ZRANK z b WITHSCORE 1")).isEqualTo("-ERR wrong number of arguments for 'zrank' command");
        assertThat(ask("TYPE z")).isEqualTo("+zset");
    }

    @Test
    void resp3HasDoublesAndPairs() {
        server.run("HELLO 3");
        assertThat(ask("ZADD z 1.5 a inf b -inf c")).isEqualTo(":3");
        assertThat(ask("ZSCORE z a")).isEqualTo(",1.5");
        assertThat(ask("ZMSCORE z b none c")).isEqualTo("*3 ,inf _ ,-inf");
        assertThat(ask("ZRANGE z 0 -1 WITHSCORES")).isEqualTo("*3 *2 $1 c ,-inf *2 $1 a ,1.5 *2 $1 b ,inf");
        assertThat(ask("ZINCRBY z 1 a")).isEqualTo(",2.5");
        assertThat(ask("ZADD z XX INCR 1 none")).isEqualTo("_");
        assertThat(ask("ZRANDMEMBER z 5 WITHSCORES")).isEqualTo("*3 *2 $1 c ,-inf *2 $1 a ,2.5 *2 $1 b ,inf");
        assertThat(ask("ZSCAN z 0")).startsWith("*2 $1 0 *6 ").contains(" $1 c $4 -inf", " $1 a $3 2.5",
                " $1 b $3 inf");
        assertThat(ask("ZUNION 1 z WITHSCORES")).isEqualTo("*3 *2 $1 c ,-inf *2 $1 a ,2.5 *2 $1 b ,inf");
        assertThat(ask("ZPOPMIN z")).isEqualTo("*2 $1 c ,-inf");
        assertThat(ask("ZMPOP 2 none z MAX")).isEqualTo("*2 $1 z *1 *2 $1 b ,inf");
        assertThat(ask("ZPOPMAX z 5")).isEqualTo("*1 *2 $1 a ,2.5");
        assertThat(ask("ZPOPMAX z")).isEqualTo("*0");
        assertThat(ask("ZMPOP 1 z MAX")).isEqualTo("_");
        assertThat(ask("ZRANK z a WITHSCORE")).isEqualTo("_");
        assertThat(ask("EXISTS z")).isEqualTo(":0");
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
        assertThat(ask(command)).isEqualTo(reply);
    }

    @Test
    void aSumThatIsNoNumberIsRefused() {
        server.run("ZADD z inf a");
        assertThat(ask("ZINCRBY z -inf a")).isEqualTo("-ERR resulting score is not a number (NaN)");
        assertThat(ask("ZSCORE z a")).isEqualTo("$3 inf");
    }

    @Test
    void refusedCommandsChangeNothing() {
        server.run("ZADD z 1 a");
        assertThat(ask("ZADD z 2 a nan b")).isEqualTo("-ERR value is not a valid float");
        assertThat(ask("ZRANGE z 0 -1 WITHSCORES")).isEqualTo("*2 $1 a $1 1");
    }

    @Test
    void zerosHaveASignOnlyInASkiplist() {
        server.run("ZADD z -0 a");
        assertThat(ask("ZSCORE z a")).isEqualTo("$1 0");
        server.run("CONFIG SET zset-max-listpack-entries 0");
        server.run("ZADD y -0 a");
        assertThat(ask("ZSCORE y a")).isEqualTo("$2 -0");
        assertThat(ask("ZADD y CH 0 a")).isEqualTo(":0");
    }

    @Test
    void membersAreRemoved() {
        server.run("ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g");
        assertThat(ask("ZREM z b none b")).isEqualTo(":1");
        assertThat(ask("ZREMRANGEBYRANK z 0 0")).isEqualTo(":1");
        assertThat(ask("ZREMRANGEBYSCORE z (3 4")).isEqualTo(":1");
        assertThat(ask("ZRANGE z 0 -1")).isEqualTo("*4 $1 c $1 e $1 f $1 g");
        assertThat(ask("ZREMRANGEBYSCORE z 8 9")).isEqualTo(":0");
        assertThat(ask("ZREMRANGEBYLEX none - +")).isEqualTo(":0");
        assertThat(ask("ZREMRANGEBYRANK z -1 -1")).isEqualTo(":1");
        assertThat(ask("ZREM z c e f")).isEqualTo(":3");
        assertThat(ask("EXISTS z")).isEqualTo(":0");
        assertThat(ask("ZCARD z")).isEqualTo(":0");
    }

    @Test
    void membersOfOneScoreAreARangeToo() {
        server.run("ZADD z 0 a 0 b 0 c 0 d");
        assertThat(ask("ZRANGEBYLEX z (a [c")).isEqualTo("*2 $1 b $1 c");
        assertThat(ask("ZREVRANGEBYLEX z + (b LIMIT 1 5")).isEqualTo("*1 $1 c");
        assertThat(ask("ZRANGE z [b + BYLEX LIMIT 0 1")).isEqualTo("*1 $1 b");
        assertThat(ask("ZLEXCOUNT z - +")).isEqualTo(":4");
        assertThat(ask("ZLEXCOUNT z + -")).isEqualTo(":0");
        assertThat(ask("ZLEXCOUNT z a b")).isEqualTo("-ERR min or max not valid string range item");
        assertThat(ask("ZREMRANGEBYLEX z (a (d")).isEqualTo(":2");
        assertThat(ask("ZRANGE z 0 -1")).isEqualTo("*2 $1 a $1 d");
    }

    @Test
    void endsArePopped() {
        server.run("ZADD z 1 a 2 b 3 c 4 d");
        assertThat(ask("ZPOPMIN z")).isEqualTo("*2 $1 a $1 1");
        assertThat(ask("ZPOPMAX z 2")).isEqualTo("*4 $1 d $1 4 $1 c $1 3");
        assertThat(ask("ZPOPMIN z 0")).isEqualTo("*0");
        assertThat(ask("ZPOPMIN z -1")).isEqualTo("-ERR value is out of range, must be positive");
        assertThat(ask("ZMPOP 2 none z MIN COUNT 10")).isEqualTo("*2 $1 z *1 *2 $1 b $1 2");
        assertThat(ask("ZMPOP 2 none z MIN")).isEqualTo("*-1");
        assertThat(ask("ZMPOP 0 z MIN")).isEqualTo("-ERR numkeys should be greater than 0");
        assertThat(ask("ZMPOP 2 z MIN")).isEqualTo("-ERR syntax error");
        assertThat(ask("ZMPOP 1 z MIN COUNT 0")).isEqualTo("-ERR count should be greater than 0");
        assertThat(ask("ZMPOP 1 z MIN COUNT 1 COUNT 1")).isEqualTo("-ERR syntax error");
        assertThat(ask("EXISTS z")).isEqualTo(":0");
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
        assertThat(ask("ZMSCORE z a " + longest + " zz")).isEqualTo("*3 $2 -0 $2 -0 $2 -0");
        server.run("CONFIG SET zset-max-listpack-entries " + entries);
        assertThat(ask("ZRANGESTORE d z " + range)).isEqualTo(":3");
        assertThat(ask("ZMSCORE d a " + longest + " zz").replaceAll("[*$]\\d+ ?", "").strip()).isEqualTo(scores);
    }

    @Test
    void setsAreUnitedAndCut() {
        server.run("ZADD x 1 a 2 b 3 c");
        server.run("ZADD y 10 b 20 c 30 d");
        assertThat(ask("ZUNION 2 x y WITHSCORES")).isEqualTo("*8 $1 a $1 1 $1 b $2 12 $1 c $2 23 $1 d $2 30");
        assertThat(ask("ZINTER 2 x y WEIGHTS 10 1 AGGREGATE MAX WITHSCORES")).isEqualTo("*4 $1 b $2 20 $1 c $2 30");
        assertThat(ask("ZDIFF 2 x y WITHSCORES")).isEqualTo("*2 $1 a $1 1");
        assertThat(ask("ZINTERCARD 2 x y LIMIT 1")).isEqualTo(":1");
        assertThat(ask("ZINTERCARD 2 x y")).isEqualTo(":2");
        assertThat(ask("ZUNIONSTORE x 2 x y AGGREGATE MIN")).isEqualTo(":4");
        assertThat(ask("ZRANGE x 0 -1 WITHSCORES")).isEqualTo("*8 $1 a $1 1 $1 b $1 2 $1 c $1 3 $1 d $2 30");
        assertThat(ask("ZINTERSTORE y 2 y none")).isEqualTo(":0");
        assertThat(ask("EXISTS y")).isEqualTo(":0");
        server.run("SET y v EX 100");
        assertThat(ask("ZDIFFSTORE y 2 x none")).isEqualTo(":4");
        assertThat(ask("TTL y")).isEqualTo(":-1");
        assertThat(ask("ZRANGESTORE y y 1 2")).isEqualTo(":2");
        assertThat(ask("ZRANGE y 0 -1 WITHSCORES")).isEqualTo("*4 $1 b $1 2 $1 c $1 3");
        assertThat(ask("ZRANGESTORE y none 0 -1")).isEqualTo(":0");
        assertThat(ask("EXISTS y")).isEqualTo(":0");
        server.run("SET s v");
        assertThat(ask("ZUNION 2 none s")).startsWith("-WRONGTYPE");
        assertThat(ask("ZUNIONSTORE d 3 x y")).isEqualTo("-ERR syntax error");
        assertThat(ask("ZDIFF 1 x WEIGHTS 1")).isEqualTo("-ERR syntax error");
    }

    /** Each of their members counts one. */
    @Test
    void setsAreOperandsToo() {
        server.run("ZADD z 2 -7 3 b");
        server.run("SADD integers 5 -7 123456789012");
        server.run("SADD words b c");
        assertThat(ask("ZUNION 3 integers z words WITHSCORES"))
                .isEqualTo("*10 $12 123456789012 $1 1 $1 5 $1 1 $1 c $1 1 $2 -7 $1 3 $1 b $1 4");
        assertThat(ask("ZINTER 2 z integers WEIGHTS 1 10 WITHSCORES")).isEqualTo("*2 $2 -7 $2 12");
        assertThat(ask("ZINTER 2 words z AGGREGATE MIN WITHSCORES")).isEqualTo("*2 $1 b $1 1");
        assertThat(ask("ZDIFF 2 integers z")).isEqualTo("*2 $12 123456789012 $1 5");
        assertThat(ask("ZINTERCARD 3 integers z words")).isEqualTo(":0");
        assertThat(ask("ZUNIONSTORE integers 2 integers integers WEIGHTS 1 2")).isEqualTo(":3");
        assertThat(ask("TYPE integers")).isEqualTo("+zset");
        assertThat(ask("ZRANGE integers 0 -1 WITHSCORES")).isEqualTo("*6 $2 -7 $1 3 $12 123456789012 $1 3 $1 5 $1 3");
        for (int i = 0; i < 2000; i += 100) {
            StringBuilder integers = new StringBuilder("SADD many");
            StringBuilder scored = new StringBuilder("ZADD scored");
            for (int j = i; j < i + 100; j++) {
                integers.append(' ').append(j);
                scored.append(" 0.5 ").append(2 * j);
            }
            assertThat(ask(integers.toString())).isEqualTo(":100");
            assertThat(ask(scored.toString())).isEqualTo(":100");
        }
        assertThat(ask("ZUNIONSTORE u 2 many scored")).isEqualTo(":3000");
        assertThat(ask("ZINTERCARD 2 many scored")).isEqualTo(":1000");
        assertThat(ask("ZSCORE u 1998")).isEqualTo("$3 1.5");
        assertThat(ask("ZSCORE u 1999")).isEqualTo("$1 1");
        assertThat(ask("ZDIFFSTORE d 2 many u")).isEqualTo(":0");
        server.run("HSET h f v");
        assertThat(ask("ZUNION 2 integers h")).startsWith("-WRONGTYPE");
    }

    /** Of both infinities, and of nothing times infinity. */
    @Test
    void nanScoresBecomeZero() {
        server.run("ZADD x inf a");
        server.run("ZADD y -inf a");
        assertThat(ask("ZUNION 2 x y WITHSCORES")).isEqualTo("*2 $1 a $1 0");
        assertThat(ask("ZINTER 2 x y WEIGHTS 0 0 WITHSCORES")).isEqualTo("*2 $1 a $1 0");
    }

    @Test
    void theEncodingIsThatOfRedis() {
        server.run("ZADD z 1 a");
        assertThat(ask("OBJECT ENCODING z")).isEqualTo("$8 listpack");
        server.run("ZADD z 1 " + "m".repeat(65));
        assertThat(ask("OBJECT ENCODING z")).isEqualTo("$8 skiplist");
        server.run("ZREM z " + "m".repeat(65));
        assertThat(ask("OBJECT ENCODING z")).isEqualTo("$8 skiplist");
        assertThat(ask("ZUNIONSTORE y 1 z")).isEqualTo(":1");
        assertThat(ask("OBJECT ENCODING y")).isEqualTo("$8 listpack");
        for (int i = 0; i < 129; i++) {
            server.run("ZADD many " + i + " m" + i);
            assertThat(ask("OBJECT ENCODING many")).isEqualTo(i < 128 ? "$8 listpack" : "$8 skiplist");
        }
        assertThat(ask("COPY many copy")).isEqualTo(":1");
        assertThat(ask("OBJECT ENCODING copy")).isEqualTo("$8 skiplist");
        assertThat(ask("ZCARD copy")).isEqualTo(":129");
        assertThat(ask("CONFIG GET zset-max-ziplist-value")).isEqualTo("*2 $22 zset-max-ziplist-value $2 64");
    }

    @Test
    void theGenericCommandsKnowSortedSets() {
        server.run("ZADD z 1 a 2 b");
        assertThat(ask("RENAME z y")).isEqualTo("+OK");
        assertThat(ask("MOVE y 1")).isEqualTo(":1");
        server.run("SELECT 1");
        assertThat(ask("EXPIRE y 100")).isEqualTo(":1");
        assertThat(ask("ZADD y 3 c")).isEqualTo(":1");
        assertThat(ask("TTL y")).isEqualTo(":100");
        assertThat(ask("SCAN 0 TYPE zset")).isEqualTo("*2 $1 0 *1 $1 y");
        assertThat(Integer.parseInt(ask("MEMORY USAGE y").substring(1))).isBetween(10, mostBytes);
        server.sleep(101_000);
        assertThat(ask("ZCARD y")).isEqualTo(":0");
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
            assertThat(ask(one.toString())).isEqualTo(":500");
            assertThat(ask(other.toString())).isEqualTo(":500");
        }
        assertThat(ask("ZUNIONSTORE u 2 x y")).isEqualTo(":4500");
        assertThat(ask("ZINTERSTORE i 2 x y WEIGHTS 1 0")).isEqualTo(":1500");
        assertThat(ask("ZDIFFSTORE d 2 x y")).isEqualTo(":1500");
        assertThat(ask("ZINTERCARD 2 i d")).isEqualTo(":0");
        assertThat(ask("ZUNIONSTORE id 2 i d")).isEqualTo(":3000");
        assertThat(ask("ZDIFFSTORE none 2 id x")).isEqualTo(":0");
        assertThat(server.run("ZRANGE id 0 -1 WITHSCORES")).isEqualTo(server.run("ZRANGE x 0 -1 WITHSCORES"));
        assertThat(ask("ZRANK x member3")).isEqualTo(":21");
        assertThat(ask("ZREMRANGEBYRANK x 10 -11")).isEqualTo(":2980");
        assertThat(ask("ZCARD x")).isEqualTo(":20");
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

package io.varve.server.command.dispatch;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.sun.management.ThreadMXBean;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A warm command on the request path allocates nothing on the heap: from the batch through dispatcher and cache to the
 * reply's buffer. Confined to the test's thread.
 */
class CommandAllocationTest {
    private static final int BATCH = 16;
    private static final int BATCHES = 100_000 / BATCH;
    /** The compiler decides when the code is warm, in the background: rounds until it has, at most. */
    private static final int MAX_ROUNDS = 25;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Commands of a batch, repeated until it is full. */
    @ParameterizedTest
    @ValueSource(strings = {"GET s", "GET missing", "SET s value", "SET s value EX 100", "SETEX s 100 value",
            "SET s value NX", "INCR n", "INCRBY n 3", "HGET h f", "HSET h f value", "HMGET h f g", "EXPIRE s 100",
            "EXPIRE s 100;PERSIST s", "SET s value;EXPIRE s 100", "SET d value;DEL d", "EXISTS s", "TTL s",
            "SET g 0;APPEND g 12345", "MGET s n missing", "MSET s a n 1", "PING", "SADD t 1", "SADD t 4;SREM t 4",
            "SADD u x;SREM u x",
            "SISMEMBER t 2", "SISMEMBER u a", "SCARD u", "SADD new a;SMOVE new u a", "SETBIT g 7 1", "GETBIT s 3",
            "BITCOUNT s", "PFADD p a",
            "ZADD z 1 a", "ZADD z 2 a;ZADD z 1.5 a", "ZADD z 1 n;ZREM z n", "ZINCRBY z 1 a", "ZSCORE z a", "ZRANK z b",
            "ZCARD z", "ZCOUNT z 1 2", "ZRANGE z 0 -1", "ZRANGE z 0 -1 WITHSCORES", "ZRANGEBYSCORE z 1 2 LIMIT 0 1",
            "ZREVRANGE z 0 0", "ZADD zp 1 a;ZPOPMIN zp",
            "RPUSH l a;LPOP l", "LPUSH q b;RPOP q", "LRANGE r 0 -1", "LMOVE r r LEFT RIGHT", "LINDEX r 1", "LPOS r b",
            "LSET r 0 x",
            "RPUSH large a;LPOP large", "LPUSH large b;RPOP large", "LRANGE large 500 520",
            "LMOVE large large LEFT RIGHT",
            "LINDEX large 600", "LPOS large e700", "LSET large 700 e700",
            "LMOVE large q LEFT LEFT;LMOVE q large LEFT RIGHT",
            "RPUSH large a b;LPOP large 2",
            "ZADD scored 1 m700", "ZADD scored 1 m700;ZADD scored 900 m700", "ZADD scored 5.5 n;ZREM scored n",
            "ZADD scored 1 n 2 o;ZREM scored n o", "ZINCRBY scored 1 m700", "ZSCORE scored m3", "ZRANK scored m300",
            "ZCOUNT scored 100 800", "ZRANGE scored 500 520 WITHSCORES", "ZRANGEBYSCORE scored 300 400 LIMIT 5 10",
            "ZADD scored -1 n;ZPOPMIN scored", "HGET wide f500", "HSET wide f500 v", "HSET wide f500 v f600 w",
            "HSET wide n v;HDEL wide n", "HMGET wide f1 f999 none", "HINCRBY wide n 1", "HLEN wide", "HEXISTS wide f7",
            "HSETNX wide f7 v", "HSTRLEN wide f7", "SADD many n;SREM many n", "SADD many n o;SREM many n o",
            "SISMEMBER many m700", "SMISMEMBER many m1 none", "SADD many m1", "SCARD many",
            "SMOVE many u m5;SMOVE u many m5", "HEXPIRE h 100 FIELDS 1 f;HEXPIRE h 200 FIELDS 1 f",
            "HEXPIRE h 100 NX FIELDS 2 f g;HPERSIST h FIELDS 2 f g", "HTTL h FIELDS 2 f none",
            "HEXPIRE wide 100 FIELDS 2 f1 f2;HEXPIRE wide 200 FIELDS 2 f1 f2",
            "HPEXPIRE wide 9 GT FIELDS 1 f5;HPERSIST wide FIELDS 1 f5", "HPTTL wide FIELDS 1 f1",
            "HSET h n v;HEXPIRE h 0 FIELDS 1 n", "HSET wide n v;HEXPIRE wide 0 FIELDS 1 n", "HRANDFIELD wide",
            "HSETEX h EX 100 FNX FIELDS 1 n v;HGETDEL h FIELDS 1 n",
            "HGETEX h EX 9 FIELDS 1 f;HGETEX h PERSIST FIELDS 1 f",
            "HSETEX wide KEEPTTL FIELDS 2 n v f1 w;HGETDEL wide FIELDS 1 n",
            "XADD x * f v", "XADD x * f value g 12345", "XADD x MAXLEN ~ 1000 * f v", "XADD y MAXLEN 3 * f v", "XLEN x",
            "XADD y * f v;XTRIM y MAXLEN 2", "XRANGE y - +", "XREVRANGE y + - COUNT 1"})
    void aWarmCommandAllocatesNothing(String commands) {
        assertAllocatesNothing(new CommandHarness(), commands);
    }

    /** A member of a cluster checks the slot of each key. */
    @ParameterizedTest
    @ValueSource(strings = {"GET s", "SET s value", "MGET s {s}n missing{s}", "MSET s a {s}n 1", "INCR n", "HGET h f",
            "LMOVE r r LEFT RIGHT", "EXISTS s {s}", "PING"})
    void aWarmCommandOfAMemberAllocatesNothing(String commands, @TempDir Path folder) {
        CommandHarness member = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
                .with("shards", "4").with("cluster-enabled", "yes").with("dir", folder.toString()));
        member.run("CLUSTER ADDSLOTSRANGE 0 16383");
        assertAllocatesNothing(member, commands);
    }

    private void assertAllocatesNothing(CommandHarness opened, String commands) {
        try (CommandHarness server = opened) {
            server.run("SET s value");
            server.run("SET n 1");
            server.run("HSET h f value g other");
            server.run("SADD t 1 2 3");
            server.run("SADD u a b c");
            server.run("PFADD p a");
            server.run("ZADD z 1 a 2 b");
            server.run("RPUSH r a b c");
            server.run("RPUSH q a");
            server.run(
                    "RPUSH large " + IntStream.range(0, 1000).mapToObj(i -> "e" + i).collect(Collectors.joining(" ")));
            server.run("ZADD scored "
                    + IntStream.range(0, 1000).mapToObj(i -> i + " m" + i).collect(Collectors.joining(" ")));
            server.run("SADD many "
                    + IntStream.range(0, 1000).mapToObj(i -> "m" + i).collect(Collectors.joining(" ")));
            server.run("HSET wide "
                    + IntStream.range(0, 1000).mapToObj(i -> "f" + i + " v").collect(Collectors.joining(" ")));
            long errors = server.errors();
            server.begin();
            String[] each = commands.split(";");
            for (int i = 0; i < BATCH; i++) {
                server.add(each[i % each.length].split(" "));
            }
            double min = Double.MAX_VALUE;
            for (int round = 0; round < MAX_ROUNDS && min >= 1; round++) {
                min = Math.min(min, bytesPerCommand(server));
            }
            assertThat(server.errors()).as("errors replied").isEqualTo(errors);
            assertThat(min).as("heap bytes per command of " + commands).isLessThan(1);
        }
    }

    private double bytesPerCommand(CommandHarness server) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < BATCHES; i++) {
            server.execute();
            server.dropReply();
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        return (double) allocated / (BATCHES * BATCH);
    }
}

package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that exactly those commands count as keyspace hits and misses that do in a real Redis. Confined to the test's
 * thread.
 */
class KeyspaceCountsDifferentialTest {
    /**
     * Each runs on {@code s}, {@code s2} and {@code n} (strings), {@code h} (a hash) and {@code z}, {@code z2} and
     * {@code g} (sorted sets); the other keys are missing.
     */
    private static final String COMMANDS = """
            GET s, GET m, GET h, SET s v, SET m v, SET s v NX, SET m v XX, SET s v GET, SET m v GET, SET h v GET
            SETNX s v, SETNX m v, SETEX s 100 v, PSETEX m 100 v, GETEX s, GETEX m, GETEX s EX 100, GETEX s PERSIST
            GETDEL s, GETDEL m, GETSET s v, GETSET m v, STRLEN s, STRLEN m, MGET s m h, MSET s v m v, MSETNX s v m v
            MSETNX m v k v, APPEND s x, APPEND m x, APPEND h x, SETRANGE s 0 x, SETRANGE m 0 x, GETRANGE s 0 1
            GETRANGE m 0 1, SUBSTR s 0 1, INCR n, INCR m, INCR h, DECR n, INCRBY n 2, DECRBY m 2, INCRBYFLOAT n 1
            INCRBYFLOAT m 1, LCS s m, LCS s s2, DEL m, DEL s n h, UNLINK m s, EXISTS s m h, TOUCH s m, TYPE s, TYPE m
            COPY s m, COPY s s2, COPY m s2, COPY s s2 REPLACE, COPY s m DB 1, MOVE s 1, MOVE m 1, RENAME s m
            RENAME m s, RENAMENX s s2, RENAMENX s m, RENAMENX m s, EXPIRE s 100, EXPIRE m 100, EXPIRE s 100 NX
            EXPIRE s -1, PEXPIREAT s 99999999999999, TTL s, TTL m, PTTL s, PTTL m, EXPIRETIME s, EXPIRETIME m
            PEXPIRETIME s, PERSIST s, PERSIST m, HSET h f v, HSET m f v, HSET s f v, HMSET h f v, HSETNX h f v
            HSETNX m f v, HGET h f, HGET h g, HGET m f, HGET s f, HMGET h f g, HMGET m f g, HDEL h f, HDEL m f
            HLEN h, HLEN m, HEXISTS h f, HEXISTS h g, HEXISTS m f, HSTRLEN h f, HSTRLEN m f, HINCRBY h c 1
            HINCRBY m c 1, HINCRBYFLOAT h c 1, HINCRBYFLOAT m c 1, HGETALL h, HGETALL m, HKEYS h, HKEYS m, HVALS h
            HVALS m, HSCAN h 0, HSCAN m 0, HRANDFIELD h, HRANDFIELD m, HRANDFIELD h 2, HRANDFIELD m 2, RANDOMKEY
            ZADD z 1 a, ZADD m 1 a, ZADD s 1 a, ZINCRBY z 1 a, ZREM z a, ZREM m a, ZREMRANGEBYRANK z 0 0
            ZREMRANGEBYSCORE m 0 1, ZREMRANGEBYLEX z - +, ZCARD z, ZCARD m, ZCOUNT z 0 1, ZLEXCOUNT m - +, ZSCORE z a
            ZSCORE m a, ZSCORE s a, ZMSCORE z a c, ZMSCORE m a, ZRANK z a, ZREVRANK m a, ZRANGE z 0 -1, ZRANGE m 0 -1
            ZRANGEBYSCORE z 0 1, ZRANGESTORE m z 0 -1, ZRANGESTORE z m 0 -1, ZPOPMIN z, ZPOPMAX m, ZMPOP 2 m z MIN
            ZMPOP 1 m MAX, ZRANDMEMBER z, ZRANDMEMBER m 2, ZSCAN z 0, ZSCAN m 0, ZUNION 3 z m z2, ZINTER 2 z m
            ZDIFF 2 z m, ZINTERCARD 2 m z, ZUNIONSTORE m 2 z z2, ZINTERSTORE z 2 z m, ZDIFFSTORE m 2 m z
            ZUNION 2 z s, ZUNION 2 s z, GEOADD g 1 1 a, GEOADD m 1 1 a, GEODIST g a b, GEODIST m a b, GEOHASH g a
            GEOHASH m a, GEOPOS g a, GEORADIUS g 1 1 1 km, GEORADIUS m 1 1 1 km, GEORADIUS g 1 1 1 km STORE m
            GEOSEARCH g FROMMEMBER a BYRADIUS 1 km, GEOSEARCHSTORE m g FROMMEMBER a BYRADIUS 1 km
            GEOSEARCHSTORE g m FROMMEMBER a BYRADIUS 1 km, GEORADIUSBYMEMBER_RO m a 1 km
            SCAN 0, KEYS *, DBSIZE, OBJECT ENCODING s, OBJECT ENCODING m, OBJECT REFCOUNT s, OBJECT IDLETIME s
            OBJECT IDLETIME m, MEMORY USAGE s, MEMORY USAGE m""";

    /** On {@code t} and {@code u} (sets) and {@code b} (a HyperLogLog). */
    private static final String SETS_AND_BITS = """
            SADD t 9, SADD m x, SADD s x, SREM t 1, SREM m 1, SCARD t, SCARD m, SISMEMBER t 1, SISMEMBER t x
            SISMEMBER m x, SISMEMBER s x, SMISMEMBER t 1 x, SMISMEMBER m 1, SMEMBERS t, SMEMBERS m, SMOVE t u 1
            SMOVE t m 1, SMOVE m t 1, SPOP t, SPOP m, SPOP t 2, SRANDMEMBER t, SRANDMEMBER m, SRANDMEMBER t 2
            SRANDMEMBER t -2, SRANDMEMBER m 2, SRANDMEMBER t 0, SINTER t u, SINTER t m u, SINTER m t, SINTER m s
            SUNION t u, SUNION t m, SUNION s t, SDIFF t u, SDIFF m t, SINTERSTORE d t u, SINTERSTORE t t m
            SUNIONSTORE d t m, SUNIONSTORE t t u, SDIFFSTORE d t u, SDIFFSTORE d t s, SINTERCARD 2 t u
            SINTERCARD 2 t m, SSCAN t 0, SSCAN m 0, SETBIT s 1 1, SETBIT m 1 1, GETBIT s 1, GETBIT m 1, BITCOUNT s
            BITCOUNT m, BITPOS s 1, BITPOS m 1, BITOP AND d s s2, BITOP OR d s m, BITOP NOT s s, BITFIELD s GET u8 0
            BITFIELD s SET u8 0 1, BITFIELD m SET u8 0 1, BITFIELD m GET u8 0, BITFIELD_RO s GET u8 0, PFADD b x
            PFADD m x, PFADD s x, PFCOUNT b, PFCOUNT m, PFCOUNT b m, PFMERGE b m, PFMERGE m b, PFMERGE d s
            PFDEBUG ENCODING b""";

    static final String ALL_COMMANDS = COMMANDS + "\n" + SETS_AND_BITS;

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 64mb");

    @Test
    void hitsAndMissesAreCountedAsInRedis() throws IOException {
        List<String> expected = new ArrayList<>();
        List<String> actual = new ArrayList<>();
        try (RawClient theirs = new RawClient(varve.reference().port()); RawClient ours = new RawClient(varve.port())) {
            for (String command : ALL_COMMANDS.split(",\\s*|\n\\s*")) {
                String counted = counted(theirs, command);
                if (!counted.contains("unknown command")) {
                    expected.add(counted);
                    actual.add(counted(ours, command));
                }
            }
        }
        assertThat(expected).hasSizeGreaterThan(100);
        assertThat(actual).isEqualTo(expected);
    }

    /** A command, with the hits and misses that INFO counts for it. */
    private static String counted(RawClient client, String command) throws IOException {
        prepare(client);
        client.call("CONFIG", "RESETSTAT");
        RawReply reply = client.call(command.split(" "));
        String info = client.call("INFO", "stats").text();
        return command + ": " + field(info, "keyspace_hits") + " hits, " + field(info, "keyspace_misses") + " misses"
                + (reply.isError() ? ", " + reply.text() : "");
    }

    /** Fills the empty database with the keys that the commands name. */
    static void prepare(RawClient client) throws IOException {
        client.call("FLUSHALL");
        client.call("MSET", "s", "12ab", "s2", "cd", "n", "5");
        client.call("HSET", "h", "f", "1", "c", "2");
        client.call("SADD", "t", "1", "2", "3");
        client.call("SADD", "u", "3", "x");
        client.call("PFADD", "b", "a");
        client.call("ZADD", "z", "1", "a", "2", "b");
        client.call("ZADD", "z2", "1", "a");
        client.call("GEOADD", "g", "1", "1", "a", "2", "2", "b");
    }

    private static String field(String info, String name) {
        int at = info.indexOf(name + ":") + name.length() + 1;
        return info.substring(at, info.indexOf('\r', at));
    }
}

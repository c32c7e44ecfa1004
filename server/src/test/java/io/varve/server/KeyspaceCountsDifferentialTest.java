package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which commands count as keyspace hits and misses: those and only those that do in a real Redis. Confined to the test
 * thread.
 */
class KeyspaceCountsDifferentialTest {
    /** Each runs on {@code s}, {@code s2} and {@code n} (strings) and {@code h} (a hash); the other keys are missing. */
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
            SCAN 0, KEYS *, DBSIZE, OBJECT ENCODING s, OBJECT ENCODING m, OBJECT REFCOUNT s, OBJECT IDLETIME s
            OBJECT IDLETIME m, MEMORY USAGE s, MEMORY USAGE m""";

    private static ReferenceRedis reference;
    private static VarveServer varve;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        reference = ReferenceRedis.start();
        varve = VarveServer.start(ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb").validate());
    }

    @AfterAll
    static void stop() {
        varve.close();
        reference.close();
    }

    @Test
    void hitsAndMissesAreCountedAsInRedis() throws IOException {
        List<String> expected = new ArrayList<>();
        List<String> actual = new ArrayList<>();
        try (RawClient theirs = new RawClient(reference.port()); RawClient ours = new RawClient(varve.port())) {
            for (String command : COMMANDS.split(",\\s*|\n\\s*")) {
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

    /** A command, and how many hits and misses INFO tells of it. */
    private static String counted(RawClient client, String command) throws IOException {
        client.call("FLUSHALL");
        client.call("MSET", "s", "12ab", "s2", "cd", "n", "5");
        client.call("HSET", "h", "f", "1", "c", "2");
        client.call("CONFIG", "RESETSTAT");
        RawReply reply = client.call(command.split(" "));
        String info = client.call("INFO", "stats").text();
        return command + ": " + field(info, "keyspace_hits") + " hits, " + field(info, "keyspace_misses") + " misses"
                + (reply.isError() ? ", " + reply.text() : "");
    }

    private static String field(String info, String name) {
        int at = info.indexOf(name + ":") + name.length() + 1;
        return info.substring(at, info.indexOf('\r', at));
    }
}

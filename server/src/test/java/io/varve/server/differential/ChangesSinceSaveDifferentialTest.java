package io.varve.server.differential;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Compares each command's increment of {@code rdb_changes_since_last_save} with a real Redis. Confined to the test's
 * thread.
 */
class ChangesSinceSaveDifferentialTest {
    /**
     * Beyond {@link KeyspaceCountsDifferentialTest#ALL_COMMANDS}. Each runs on the keys that {@link #prepare} writes;
     * the other keys are missing.
     */
    private static final String COMMANDS = """
            SET s v KEEPTTL, SET e v, SET e v PX 100000, SET m v EXAT 1, SET s v PXAT 1, SETEX s 100 v, PSETEX m 100000 v
            MSET a 1 b2 2 c 3, MSET s 1 s 2, MSETNX a 1 b2 2, MSETNX a 1 s 2, GETSET s v, GETEX s EXAT 1, GETEX e PERSIST
            GETEX s, GETEX e PX 100000, GETDEL s, GETDEL m, INCRBY n 0, INCRBYFLOAT n 0, APPEND s x, SETRANGE s 0 x
            SETRANGE m 5 x, SETRANGE m 0 x, SETBIT s 1 0, SETBIT s 1 1, SETBIT s 2 0, SETBIT s 2 1, SETBIT s 1000 0
            SETBIT m 0 0, SETBIT m 5 1, BITFIELD s SET u8 0 49, BITFIELD s SET u8 0 50, BITFIELD s INCRBY u8 0 0
            BITFIELD s INCRBY u8 0 1 INCRBY u8 8 1, BITFIELD s GET u8 0, BITFIELD m SET u8 0 0, BITFIELD m SET u1 100 0
            BITFIELD s SET u8 0 1 SET u8 0 1 SET u8 0 2 GET u8 0, BITFIELD s OVERFLOW FAIL INCRBY u2 0 3
            BITFIELD m SET u8 0 1 SET u8 800 0, BITOP NOT d s, BITOP AND s m m, BITOP AND d m m, BITOP OR s m m2
            PFADD b a, PFADD b a c d, PFADD m, PFADD b, PFADD m x y z, PFMERGE m b, PFMERGE b, PFMERGE b b, PFCOUNT b
            DEL s s2 m s, UNLINK s s2 n m, RENAME s s, RENAME s d, RENAME s s2, RENAMENX s s2, RENAMENX s d, COPY s d
            COPY s s2, COPY s s2 REPLACE, MOVE s 5, MOVE m 5, EXPIRE s 100, EXPIRE s -1, EXPIRE m 1, EXPIRE e 5 NX
            PEXPIREAT s 1, EXPIREAT e 99999999999, PERSIST e, PERSIST s, TOUCH s, EXISTS s
            SORT l, SORT l ALPHA STORE d, SORT m STORE s, SORT m STORE d, SORT t STORE t, SORT l ALPHA LIMIT 0 2 STORE d
            LPUSH l x, LPUSH l x y z, RPUSH m x y, LPUSHX l x y, RPUSHX m x, LINSERT l BEFORE b x, LINSERT l AFTER no x
            LSET l 0 x, LSET l 9 x, LPOP l, RPOP l, LPOP l 2, RPOP l 9, LPOP l 0, LPOP m 2, LREM l 0 a, LREM l 1 a, LREM l 0 no
            LTRIM l 0 -1, LTRIM l 1 2, LTRIM l 5 1, LTRIM m 0 1, RPOPLPUSH l l2, RPOPLPUSH l l, RPOPLPUSH l m, RPOPLPUSH m l
            LMOVE l l2 LEFT RIGHT, LMOVE l l LEFT RIGHT, LMPOP 2 m l LEFT, LMPOP 1 l LEFT COUNT 3, BLPOP l 0, BRPOP m l 0
            BLMOVE l l2 LEFT LEFT 0, BRPOPLPUSH l l2 0, BLMPOP 0 1 l RIGHT COUNT 2
            SADD t 1 2, SADD t 7 8 9, SADD m x x, SREM t 1 2 9, SREM t no, SMOVE t u 1, SMOVE t u 3, SMOVE t m 1, SMOVE t t 1
            SMOVE t u no, SPOP t, SPOP t 2, SPOP t 9, SPOP t 0, SPOP m 2, SINTERSTORE d t u, SINTERSTORE s t m
            SINTERSTORE d t m, SUNIONSTORE t t u, SUNIONSTORE s m m2, SDIFFSTORE d t u, SDIFFSTORE t t t
            HSET h f 1, HSET h f 2 g 3 f 4, HSET m a 1, HMSET h a 1 b 2, HSETNX h f 1, HSETNX h g 1, HINCRBY h f 0
            HINCRBYFLOAT h f 1.5, HDEL h f c no, HDEL h no
            ZADD z 1 a, ZADD z 5 a, ZADD z 5 a 6 b 7 c, ZADD z NX 9 a 9 d, ZADD z XX 9 a 9 d, ZADD z CH 5 a 2 b, ZADD z INCR 0 a
            ZADD z INCR 1 a, ZADD z GT 0 a, ZADD m 1 a 2 a, ZINCRBY z 0 a, ZINCRBY z 2 a, ZREM z a b no, ZREM z no
            ZREMRANGEBYRANK z 0 -1, ZREMRANGEBYSCORE z 1 1, ZREMRANGEBYSCORE z 8 9, ZREMRANGEBYLEX z - +, ZPOPMIN z
            ZPOPMIN z 2, ZPOPMAX z 9, ZPOPMAX z 0, ZMPOP 1 z MIN COUNT 2, BZPOPMIN z 0, BZMPOP 0 1 z MAX COUNT 2
            ZUNIONSTORE d 2 z z2, ZUNIONSTORE s 1 m, ZINTERSTORE d 2 z z2, ZINTERSTORE d 2 z m, ZDIFFSTORE z 2 z z
            ZRANGESTORE d z 0 -1, ZRANGESTORE d z 5 9, ZRANGESTORE z z 5 9
            GEOADD g 1 1 a, GEOADD g 3 3 a 4 4 c, GEOADD g CH 1 1 a 2 2.5 b, GEOADD g XX 5 5 z
            GEORADIUS g 1 1 500 km STORE d, GEORADIUS g 50 50 1 km STORE d, GEORADIUS g 50 50 1 km STORE s
            GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 500 km, GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 500 km COUNT 1
            GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 500 km STOREDIST
            FLUSHALL, FLUSHDB, FLUSHALL ASYNC, FLUSHDB SYNC, SWAPDB 0 1, SWAPDB 2 2, SELECT 1, PING, PUBLISH c m, SPUBLISH c m
            CONFIG SET hz 10, CONFIG RESETSTAT, SAVE, OBJECT FREQ s, CLIENT SETNAME x, DEBUG NOSUCH""";

    /** SAVE must not leave a file where other servers start. */
    private static final String FILE = "varve-changes-" + ProcessHandle.current().pid() + ".rdb";

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 64mb",
            "dir " + System.getProperty("java.io.tmpdir"), "dbfilename " + FILE);

    @AfterAll
    static void deleteSnapshot() throws IOException {
        Files.deleteIfExists(Path.of(System.getProperty("java.io.tmpdir"), FILE));
    }

    private static void prepare(RawClient client) throws IOException {
        KeyspaceCountsDifferentialTest.prepare(client);
        client.call("SET", "e", "v", "EX", "1000");
        client.call("RPUSH", "l", "a", "b", "c", "a");
        client.call("RPUSH", "l2", "x");
    }

    private static long changes(RawClient client) throws IOException {
        String info = client.call("INFO", "persistence").text();
        int at = info.indexOf("rdb_changes_since_last_save:") + "rdb_changes_since_last_save:".length();
        return Long.parseLong(info.substring(at, info.indexOf('\r', at)));
    }

    private static String counted(RawClient client, String command) throws IOException {
        prepare(client);
        long before = changes(client);
        RawReply reply = client.call(command.split(" "));
        String counted = command + ": " + (command.equals("SAVE") ? changes(client) : changes(client) - before);
        client.call("SELECT", "0");
        return counted + (reply.isError() ? ", error" : "");
    }

    @Test
    void everyCommand_addsAsManyChangesAsInRedis() throws IOException {
        List<String> expected = new ArrayList<>();
        List<String> actual = new ArrayList<>();
        try (RawClient theirs = new RawClient(varve.reference().port()); RawClient ours = new RawClient(varve.port())) {
            for (String command : (KeyspaceCountsDifferentialTest.ALL_COMMANDS + "\n" + COMMANDS)
                    .split(",\\s*|\n\\s*")) {
                expected.add(counted(theirs, command));
                actual.add(counted(ours, command));
            }
        }
        assertThat(expected).hasSizeGreaterThan(300);
        assertThat(actual).isEqualTo(expected);
    }

    /**
     * A client that waited adds what its command adds if it need not wait. Redis does so since 7.2; 7.0 does not count
     * BLPOP and BLMOVE then.
     */
    @Test
    void anElementTakenByABlockedClient_countsAsItsCommand() throws IOException {
        List<Long> added = new ArrayList<>();
        try (RawClient waiting = new RawClient(varve.port()); RawClient client = new RawClient(varve.port())) {
            prepare(client);
            for (String words : List.of("BLPOP q 0,RPUSH q a b c", "BLMOVE q l LEFT LEFT 0,RPUSH q a",
                    "BZPOPMIN q 0,ZADD q 1 a 2 b", "BLMPOP 0 1 q LEFT COUNT 5,RPUSH q a b c")) {
                client.call("DEL", "q");
                long before = changes(client);
                waiting.queue(words.split(",")[0].split(" "));
                waiting.flush();
                await().until(() -> client.infoLong("blocked_clients") == 1);
                client.call(words.split(",")[1].split(" "));
                waiting.read();
                added.add(changes(client) - before);
            }
        }
        assertThat(added).containsExactly(3L + 1, 1L + 1, 2L + 1, 3L + 3);
    }

    @Test
    void transactionsAndRestore_addAsInRedis() throws IOException {
        List<Long> added = new ArrayList<>();
        for (int port : new int[] {varve.reference().port(), varve.port()}) {
            try (RawClient client = new RawClient(port)) {
                prepare(client);
                long before = changes(client);
                for (String command : List.of("MULTI", "SET a 1", "RPUSH l 1 2 3", "GET a", "INCR l", "EXEC")) {
                    client.call(command.split(" "));
                }
                added.add(changes(client) - before);
                String payload = client.call("DUMP", "l").text();
                for (String[] restore : new String[][] {{"RESTORE", "r", "0", payload}, {"RESTORE", "r", "0", payload},
                        {"RESTORE", "r", "100000", payload, "REPLACE"},
                        {"RESTORE", "r", "1", payload, "REPLACE", "ABSTTL"},
                        {"RESTORE", "r2", "1", payload, "ABSTTL"}}) {
                    before = changes(client);
                    client.call(restore);
                    added.add(changes(client) - before);
                }
            }
        }
        assertThat(added.subList(added.size() / 2, added.size())).isEqualTo(added.subList(0, added.size() / 2));
    }
}

package io.varve.server.concurrency;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests commands that reach awaited keys without naming them: no client sees or takes an element that serves a waiting
 * one. Confined to the test's thread.
 */
@Timeout(60)
class ServedKeysTest extends BlockedClients {
    private static final ServerConfig CONFIG = ServerExtension.config("io-threads 1", "maxmemory 64mb", "shards 8");

    private static void getsAll(RawClient client, String... replies) throws IOException {
        for (String reply : replies) {
            gets(client, reply);
        }
    }

    // --- in another database

    @ParameterizedTest
    @ValueSource(strings = {"MOVE k 1", "COPY k k DB 1", "COPY k k DB 1 REPLACE", "COPY l k REPLACE DB 1",
            "COPY l k DB 0 DB 1 REPLACE"})
    void anElementFromAnotherDatabaseFindsTheClientServed(String command) throws IOException {
        RawClient a = waiting("SELECT 1", "BLPOP k 0");
        send(admin, "RPUSH k y", "RPUSH l y", "SELECT 1", "LPUSH k x", "SELECT 0", command, "SELECT 1",
                "LRANGE k 0 -1");
        getsAll(admin, ":1", ":1", "+OK", ":1", "+OK", ":1", "+OK", "*1 $1 y");
        getsAll(a, "+OK", "*2 $1 k $1 x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"MOVE k 1", "COPY k k DB 1 REPLACE"})
    void nothingComesToItByATransactionEither(String command) throws IOException {
        RawClient a = waiting("SELECT 1", "BLPOP k 0");
        send(admin, "RPUSH k y", "SELECT 1", "LPUSH k x", "SELECT 0", "MULTI", command, "EXEC", "SELECT 1",
                "LRANGE k 0 -1");
        getsAll(admin, ":1", "+OK", ":1", "+OK", "+OK", "+QUEUED", "*1 :1", "+OK", "*1 $1 y");
        getsAll(a, "+OK", "*2 $1 k $1 x");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"MOVE k 99|-ERR DB index is out of range",
            "MOVE k x|-ERR value is not an integer or out of range",
            "COPY k l DB|-ERR syntax error", "COPY k l DB x|-ERR value is not an integer or out of range",
            "COPY k l NO DB 1|-ERR syntax error"})
    void errorsAreStillReported(String command, String error) throws IOException {
        RawClient a = waiting("BLPOP other 0");
        send(admin, "RPUSH other v", command);
        getsAll(admin, ":1", error);
        gets(a, "*2 $5 other $1 v");
    }

    // --- without naming any

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"DBSIZE|:0|3", "KEYS *|*0|3", "SCAN 0 COUNT 1000|*2 $1 0 *0|3",
            "RANDOMKEY|$-1|3",
            "DBSIZE|:0|1", "KEYS *|*0|1"})
    void otherClientsDoNotSeeServedElements(String command, String expected, int loops) throws IOException {
        restart(start(loops));
        RawClient a = waiting("BLPOP k 0");
        RawClient b = waiting("BZPOPMIN z 0");
        send(admin, "LPUSH k x", command, "ZADD z 1 m", command);
        getsAll(admin, ":1", expected, ":1", expected);
        gets(a, "*2 $1 k $1 x");
        gets(b, "*3 $1 z $1 m $1 1");
    }

    @Test
    void reportsExcludeServedElements() throws IOException {
        RawClient a = waiting("BLPOP k 0");
        send(admin, "LPUSH k x", "INFO keyspace", "INFO clients", "MEMORY STATS");
        gets(admin, ":1");
        assertThat(admin.reply()).doesNotContain("db0");
        assertThat(admin.reply()).contains("blocked_clients:0\r\n");
        assertThat(admin.reply()).contains("keys.count\r\n:0\r\n");
        gets(a, "*2 $1 k $1 x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "MULTI;FLUSHALL;EXEC", "MULTI;SWAPDB 1 0;EXEC"})
    void flushesFollowTheServedClients(String commands) throws IOException {
        RawClient a = waiting("BLPOP k 0");
        RawClient b = waiting("BLPOP k 0");
        send(admin, "RPUSH k x y z");
        send(admin, commands.split(";"));
        send(admin, "PING");
        gets(admin, ":3");
        String reply = admin.reply();
        while (!reply.startsWith("+PONG")) {
            assertThat(reply).doesNotStartWith("-");
            reply = admin.reply();
        }
        gets(a, "*2 $1 k $1 x");
        gets(b, "*2 $1 k $1 y");
    }

    /** A thread that serves nobody changes a key: the client runs its command again. */
    @Test
    void aChangeWithoutACommandIsTakenByTheClient() throws IOException {
        Cache cache = Cache.open(CONFIG.cacheConfig());
        restart(servers.start(CONFIG, cache));
        RawClient a = waiting("BLPOP none k 0");
        RawClient b = waiting("BLPOP k 0");
        send(admin, "SELECT 1", "RPUSH k x y", "SELECT 0");
        getsAll(admin, "+OK", ":2", "+OK");
        CacheSession session = cache.newSession();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom("k");
            Key from = new Key();
            Key to = new Key();
            session.bind(from, 1, name.address(), 1);
            session.bind(to, 0, name.address(), 1);
            session.lock(to);
            try {
                Item item = new Item();
                assertThat(session.find(from, item)).isTrue();
                session.set(to, item.type(), item.encoding(), item.valueAddress(), item.valueLength(), Item.NEVER);
            } finally {
                session.unlock(to);
            }
        }
        assertThat(List.of(a.reply(), b.reply())).containsExactlyInAnyOrder("*2\r\n$1\r\nk\r\n$1\r\nx\r\n",
                "*2\r\n$1\r\nk\r\n$1\r\ny\r\n");
        expect(admin, "EXISTS k", ":0");
        assertThat(admin.info("total_blocking_keys")).isEqualTo("0");
    }

    /** A disconnected client delays no command. */
    @ParameterizedTest
    @ValueSource(strings = {"FLUSHALL", "DBSIZE", "KEYS *"})
    void aClientThatDisconnectsDelaysNoCommand(String command) throws IOException {
        for (int i = 0; i < 20; i++) {
            RawClient a = waiting("BLPOP k l 0");
            RawClient b = waiting("BLPOP l 0");
            RawClient goes = connect();
            send(goes, "LPUSH k x", command);
            gets(goes, ":1");
            goes.close();
            expect(admin, "RPUSH l y", ":1");
            gets(a, "*2 $1 k $1 x");
            gets(b, "*2 $1 l $1 y");
            awaitBlocked(0);
        }
    }
}

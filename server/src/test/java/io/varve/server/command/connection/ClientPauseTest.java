package io.varve.server.command.connection;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** CLIENT PAUSE and UNPAUSE: what waits, and what runs. Confined to the test's thread. */
@Timeout(60)
class ClientPauseTest extends BlockedClients {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"SET k v", "PFCOUNT hll", "PUBLISH ch m", "SPUBLISH ch m", "FLUSHALL", "LPOP list",
            "BLPOP list 0", "EXPIRE k 100", "SWAPDB 0 1"})
    void pauseOfWrites_holdsTheCommand(String command) throws IOException {
        expect(admin, "PFADD hll a", ":1");
        expect(admin, "RPUSH list a b", ":2");
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        long offset = admin.infoLong("master_repl_offset");
        RawClient held = waiting(command);
        assertThat(execute(admin, "CLIENT LIST")).contains("flags=b");
        assertThat(admin.infoLong("master_repl_offset")).isEqualTo(offset);
        assertThat(held.isAnswered()).isFalse();
        expect(admin, "LLEN list", ":2");
        expect(admin, "CLIENT UNPAUSE", "+OK");
        assertThat(held.reply()).doesNotStartWith("-");
        awaitBlocked(0);
    }

    @Test
    void pauseOfWrites_letsReadsRun() throws IOException {
        expect(admin, "SET k v", "+OK");
        expect(admin, "CLIENT PAUSE 100000 write", "+OK");
        RawClient reader = connect();
        expect(reader, "GET k", "$1 v");
        expect(reader, "CONFIG SET maxmemory 70mb", "+OK");
        expect(reader, "SET k", "-ERR wrong number of arguments for 'set' command");
        expect(reader, "MULTI", "+OK");
        expect(reader, "GET k", "+QUEUED");
        expect(reader, "PING", "+QUEUED");
        expect(reader, "EXEC", "*2 $1 v +PONG");
        assertThat(admin.infoLong("blocked_clients")).isZero();
        assertThat(admin.info("paused_reason")).isEqualTo("client_pause");
        assertThat(admin.info("paused_actions")).isEqualTo("write");
        assertThat(admin.infoLong("paused_timeout_milliseconds")).isBetween(1L, 100_000L);
        expect(admin, "CLIENT UNPAUSE", "+OK");
        expect(admin, "CLIENT UNPAUSE", "+OK");
        assertThat(admin.info("paused_reason")).isEqualTo("none");
        assertThat(admin.info("paused_actions")).isEqualTo("none");
        assertThat(admin.infoLong("paused_timeout_milliseconds")).isZero();
        expect(admin, "SET k w", "+OK");
    }

    private void loadFunctions() throws IOException {
        admin.command("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('writes', function() return 1 end)\n"
                + "redis.register_function{function_name='reads', callback=function() return 1 end,"
                + " flags={'no-writes'}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"EVAL return\t1 0", "EVAL #!lua\nreturn\t1 0", "EVAL_RO #!lua\nreturn\t1 0",
            "FCALL writes 0", "EVALSHA 0123456789012345678901234567890123456789 0"})
    void pauseOfWrites_holdsScriptsThatMayWrite(String script) throws IOException {
        loadFunctions();
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        RawClient held = connect();
        send(held, script);
        RawClient executing = connect();
        expect(executing, "MULTI", "+OK");
        send(executing, script, "EXEC");
        awaitBlocked(2);
        expect(admin, "CLIENT UNPAUSE", "+OK");
        assertThat(held.reply()).isNotEmpty();
        gets(executing, "+QUEUED");
        assertThat(executing.reply()).startsWith("*1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"EVAL #!lua\tflags=no-writes\nreturn\t1 0", "EVAL_RO return\t1 0", "FCALL reads 0",
            "FCALL_RO reads 0", "EVAL #!lua\tflags=no-writes\nreturn\tredis.call('exists',KEYS[1])+1 1 k"})
    void pauseOfWrites_letsScriptsRun_thatOnlyRead(String script) throws IOException {
        loadFunctions();
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        RawClient reader = connect();
        expect(reader, script, ":1");
        expect(reader, "MULTI", "+OK");
        expect(reader, script, "+QUEUED");
        expect(reader, "EXEC", "*1 :1");
        expect(admin, "CLIENT UNPAUSE", "+OK");
    }

    @Test
    void transactionsThatWrite_areHeld() throws IOException {
        RawClient writer = connect();
        expect(writer, "MULTI", "+OK");
        expect(writer, "SET k v", "+QUEUED");
        RawClient counting = connect();
        expect(counting, "MULTI", "+OK");
        expect(counting, "PFCOUNT k2", "+QUEUED");
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        send(writer, "EXEC");
        send(counting, "EXEC");
        awaitBlocked(2);
        expect(admin, "EXISTS k", ":0");
        expect(admin, "CLIENT UNPAUSE", "+OK");
        gets(writer, "*1 +OK");
        gets(counting, "*1 :0");
    }

    @Test
    void pauseInATransaction_beginsAtItsEnd() throws IOException {
        send(admin, "MULTI", "SET a 1", "CLIENT PAUSE 100000 WRITE", "SET b 2", "EXEC");
        for (String reply : new String[] {"+OK", "+QUEUED", "+QUEUED", "+QUEUED", "*3 +OK +OK +OK"}) {
            gets(admin, reply);
        }
        RawClient held = waiting("SET c 3");
        expect(admin, "MGET a b c", "*3 $1 1 $1 2 $-1");
        expect(admin, "CLIENT UNPAUSE", "+OK");
        gets(held, "+OK");
    }

    /** Unlike in Redis, CLIENT UNPAUSE ends it. */
    @Test
    void pauseOfAll_holdsReads() throws IOException {
        expect(admin, "SET k v", "+OK");
        RawClient reader = connect();
        expect(admin, "CLIENT PAUSE 100000", "+OK");
        send(reader, "GET k", "PING");
        RawClient other = connect();
        send(other, "PING");
        expect(admin, "CLIENT UNPAUSE", "+OK");
        gets(reader, "$1 v");
        gets(reader, "+PONG");
        gets(other, "+PONG");
    }

    @Test
    void itsEnd_letsAllRun() throws IOException {
        expect(admin, "CLIENT PAUSE 30 ALL", "+OK");
        RawClient writer = connect();
        expect(writer, "SET k v", "+OK");
        expect(writer, "CLIENT PAUSE 0 ALL", "+OK");
        expect(writer, "GET k", "$1 v");
        await().atMost(10, TimeUnit.SECONDS).until(() -> writer.info("paused_reason").equals("none"));
    }

    @Test
    void aSecondPause_isNeitherShorterNorHoldsLess() throws IOException {
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        expect(admin, "CLIENT PAUSE 1 WRITE", "+OK");
        assertThat(admin.infoLong("paused_timeout_milliseconds")).isGreaterThan(1000);
        RawClient held = waiting("SET k v");
        expect(admin, "CLIENT PAUSE 1 ALL", "+OK");
        RawClient reader = connect();
        send(reader, "GET k");
        send(admin, "CLIENT PAUSE 1 WRITE", "PING");
        expect(connect(), "CLIENT UNPAUSE", "+OK");
        gets(held, "+OK");
        assertThat(reader.reply()).startsWith("$");
        gets(admin, "+OK");
        gets(admin, "+PONG");
    }

    @Test
    void keysAndFieldsThatExpire_areHiddenAndStay() throws IOException {
        SettableTicker ticker = new SettableTicker();
        ServerConfig config = ServerExtension.config("maxmemory 64mb");
        restart(servers.start(config, Cache.open(config.cacheConfig().withTicker(ticker))));
        expect(admin, "SET k v PX 10", "+OK");
        expect(admin, "HSET h f 1 g 2", ":2");
        expect(admin, "HPEXPIRE h 10 FIELDS 1 f", "*1 :1");
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        ticker.pass(5_000);
        expect(admin, "GET k", "$-1");
        expect(admin, "HMGET h f g", "*2 $-1 $1 2");
        expect(admin, "DBSIZE", ":2");
        assertThat(admin.infoLong("expired_keys")).isZero();
        expect(admin, "CLIENT UNPAUSE", "+OK");
        expect(admin, "GET k", "$-1");
        assertThat(admin.infoLong("expired_keys")).isEqualTo(1);
    }

    @Test
    void aCommandThatWaitsForKeys_waitsOnAfterAPause() throws IOException {
        RawClient early = waiting("BLPOP k 0");
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        RawClient late = connect();
        send(late, "BLPOP k2 0.01", "PING");
        RawClient pusher = connect();
        send(pusher, "RPUSH k v");
        awaitBlocked(3);
        expect(admin, "CLIENT UNPAUSE", "+OK");
        gets(pusher, ":1");
        gets(early, "*2 $1 k $1 v");
        gets(late, "*-1");
        gets(late, "+PONG");
    }

    @Test
    void aClientThatLeaves_isForgotten() throws IOException {
        expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
        waiting("SET k v").close();
        awaitBlocked(0);
        expect(admin, "CLIENT UNPAUSE", "+OK");
        expect(admin, "EXISTS k", ":0");
    }

    /** So that it can become the primary with all changes. */
    @Test
    void replicas_receiveAndConfirmAllChanges() throws IOException {
        restart(start(2));
        int port = servers.port();
        try (VarveServer replica = VarveServer
                .start(ServerExtension.config("maxmemory 64mb", "dir " + directory.toAbsolutePath()));
                RawClient other = new RawClient(replica.port())) {
            assertThat(other.command("REPLICAOF", "127.0.0.1", Integer.toString(port))).startsWith("+OK");
            while (!other.info("master_link_status").equals("up")) {
                Polling.pause();
            }
            expect(admin, "SET k v", "+OK");
            expect(admin, "CLIENT PAUSE 100000 WRITE", "+OK");
            expect(admin, "WAIT 1 0", ":1");
            assertThat(other.call("GET", "k").text()).isEqualTo("v");
            expect(admin, "CLIENT UNPAUSE", "+OK");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"CLIENT PAUSE; -ERR wrong number of arguments for 'client|pause' command",
            "CLIENT PAUSE x; -ERR timeout is not an integer or out of range",
            "CLIENT PAUSE 1.5; -ERR timeout is not an integer or out of range",
            "CLIENT PAUSE -1; -ERR timeout is negative",
            "CLIENT PAUSE x FOO; -ERR CLIENT PAUSE mode must be WRITE or ALL",
            "CLIENT PAUSE 9223372036854775807; -ERR timeout is out of range",
            "CLIENT PAUSE 1 ALL x; -ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP.",
            "CLIENT UNPAUSE x; -ERR wrong number of arguments for 'client|unpause' command"})
    void errors(String command, String error) throws IOException {
        expect(admin, command, error);
        expect(admin, "SET k v", "+OK");
    }
}

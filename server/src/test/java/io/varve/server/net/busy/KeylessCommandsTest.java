package io.varve.server.net.busy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests commands without keys on several event loops while a script of one of them holds all shards: they must not
 * block their own loop. Confined to the test's thread.
 */
@Timeout(120)
class KeylessCommandsTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    /** It does not declare its key, and so holds all shards. */
    private static final String FOREVER = "while true do redis.call('get', 'any') end";
    private static final String BUSY = "BUSY Redis is busy running a script.";
    private static final int LOOPS = 3;

    private static RawReply call(RawClient client, String command) throws IOException {
        return client.call(command.split(" "));
    }

    /** Waits until the loop of a client knows that the script is slow. */
    private static void awaitSlow(RawClient client) throws IOException {
        RawReply reply = client.call("PING");
        while (!reply.text().startsWith(BUSY)) {
            reply = client.call("PING");
        }
    }

    private static List<RawClient> clients(int port) throws IOException {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < LOOPS; i++) {
            clients.add(new RawClient(port));
        }
        return clients;
    }

    @ParameterizedTest
    @ValueSource(strings = {"PING", "DBSIZE", "KEYS *", "SCAN 0", "RANDOMKEY", "FLUSHDB", "FLUSHALL ASYNC",
            "SWAPDB 0 1",
            "INFO", "INFO all", "INFO keyspace exact", "MEMORY STATS", "MEMORY DOCTOR", "CLIENT PAUSE 1",
            "CLIENT PAUSE 1 WRITE", "DEBUG POPULATE 10", "DEBUG DIGEST", "CONFIG RESETSTAT", "FUNCTION FLUSH",
            "SCRIPT FLUSH", "PUBLISH c m", "TIME", "WAIT 0 1", "CONFIG SET maxmemory 65mb", "EVAL return(1) 0",
            "MEMORY PURGE", "SELECT 1", "VARVE.HOTKEYS"})
    void commandsWithoutKeys_getAnErrorWhileAScriptIsSlow_onAnyLoop(String command) throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads " + LOOPS, "busy-reply-threshold 100",
                "enable-debug-command yes");
                RawClient slow = new RawClient(varve.port())) {
            List<RawClient> others = clients(varve.port());
            List<RawClient> killers = clients(varve.port());
            assertThat(slow.call("SET", "key", "value").text()).isEqualTo("OK");
            slow.queue("EVAL", FOREVER, "0");
            slow.flush();
            for (RawClient other : others) {
                awaitSlow(other);
                assertThat(call(other, command).text()).startsWith(BUSY);
                assertThat(other.call("MULTI").text()).isEqualTo("OK");
                assertThat(call(other, command).text()).startsWith(BUSY);
                assertThat(other.call("EXEC").text()).startsWith("EXECABORT");
                assertThat(other.call("DISCARD").text()).startsWith("ERR DISCARD without MULTI");
            }
            assertThat(killers.getLast().call("SCRIPT", "KILL").text()).isEqualTo("OK");
            assertThat(slow.read().text()).startsWith("ERR Script killed");
            for (RawClient other : others) {
                assertThat(other.call("GET", "key").text()).isEqualTo("value");
                other.close();
            }
            for (RawClient killer : killers) {
                killer.close();
            }
        }
    }

    /** The script has begun, or begins right after, but is not slow when the commands arrive. */
    @ParameterizedTest
    @ValueSource(strings = {"DBSIZE", "KEYS *", "SCAN 0", "RANDOMKEY", "FLUSHDB", "FLUSHALL ASYNC", "SWAPDB 0 1",
            "INFO all", "INFO keyspace exact", "MEMORY STATS", "MEMORY DOCTOR", "CLIENT PAUSE 1",
            "CLIENT PAUSE 1 WRITE", "DEBUG POPULATE 10", "DEBUG DIGEST", "CONFIG RESETSTAT", "FUNCTION FLUSH",
            "CONFIG SET maxmemory 65mb"})
    void commandsThatBeganToWaitBeforeTheScriptIsSlow_end(String command) throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads " + LOOPS, "busy-reply-threshold 300",
                "enable-debug-command yes");
                RawClient slow = new RawClient(varve.port())) {
            List<RawClient> others = clients(varve.port());
            List<RawClient> queued = clients(varve.port());
            List<RawClient> killers = clients(varve.port());
            for (RawClient client : queued) {
                assertThat(client.call("MULTI").text()).isEqualTo("OK");
                assertThat(call(client, command).text()).isEqualTo("QUEUED");
                assertThat(client.call("SET", "from", "transaction").text()).isEqualTo("QUEUED");
            }
            slow.queue("EVAL", FOREVER, "0");
            slow.flush();
            for (RawClient other : others) {
                other.queue(command.split(" "));
                other.flush();
            }
            for (RawClient client : queued) {
                client.queue("EXEC");
                client.flush();
            }
            // Each loop serves its other clients, although all of them have such a command.
            for (RawClient killer : killers) {
                awaitSlow(killer);
            }
            assertThat(killers.getFirst().call("SCRIPT", "KILL").text()).isEqualTo("OK");
            assertThat(slow.read().text()).startsWith("ERR Script killed");
            for (RawClient other : others) {
                RawReply reply = other.read();
                assertThat(!reply.isError() || reply.text().startsWith(BUSY)).as(reply.text()).isTrue();
                assertThat(other.call("SET", "key", "value").text()).isEqualTo("OK");
                other.close();
            }
            for (RawClient client : queued) {
                RawReply reply = client.read();
                assertThat(!reply.isError() || reply.text().startsWith("EXECABORT")).as(reply.text()).isTrue();
                assertThat(client.call("PING").text()).isEqualTo("PONG");
                client.close();
            }
            for (RawClient killer : killers) {
                killer.close();
            }
        }
    }

    @Test
    void functionKillWorks_fromALoopThatHasWaited() throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads 2", "busy-reply-threshold 100");
                RawClient slow = new RawClient(varve.port());
                RawClient first = new RawClient(varve.port());
                RawClient second = new RawClient(varve.port())) {
            assertThat(slow.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() "
                    + FOREVER + " end)").text()).isEqualTo("lib");
            slow.queue("FCALL", "f", "0");
            slow.flush();
            for (RawClient client : List.of(first, second)) {
                client.queue("DBSIZE");
                client.flush();
            }
            for (RawClient client : List.of(first, second)) {
                client.read();
                awaitSlow(client);
            }
            assertThat(second.call("FUNCTION", "KILL").text()).isEqualTo("OK");
            assertThat(slow.read().text()).startsWith("ERR Script killed by user with SCRIPT KILL... script: f");
            assertThat(first.call("DBSIZE").text()).isEqualTo("0");
        }
    }
}

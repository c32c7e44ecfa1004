package io.varve.server.net.busy;

import java.io.IOException;

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
 * Tests what other clients get while a script takes long, with one event loop and with two. Confined to the test's
 * thread.
 */
@Timeout(120)
class SlowScriptTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    /** It does not declare its key, and so holds all shards. */
    private static final String FOREVER = "while true do redis.call('get', 'any') end";
    private static final String BUSY = "BUSY Redis is busy running a script.";

    private static void awaitBusy(RawClient client) throws IOException {
        RawReply reply = client.call("GET", "key");
        while (!reply.text().startsWith(BUSY)) {
            reply = client.call("GET", "key");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2"})
    void aSlowScript_isKilled_byConnectionsOldAndNew(String loops) throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads " + loops, "busy-reply-threshold 50");
                RawClient slow = new RawClient(varve.port());
                RawClient other = new RawClient(varve.port())) {
            assertThat(other.call("SET", "key", "value").text()).isEqualTo("OK");
            for (int i = 0; i < 3; i++) {
                slow.queue("EVAL", FOREVER, "0");
                slow.flush();
                awaitBusy(other);
                assertThat(other.call("SCRIPT", "KILL").text()).isEqualTo("OK");
                assertThat(slow.read().text()).startsWith("ERR Script killed by user with SCRIPT KILL... script: ");
                assertThat(other.call("GET", "key").text()).isEqualTo("value");
                slow.queue("EVAL", "pcall(function() " + FOREVER + " end) " + FOREVER, "0");
                slow.flush();
                awaitBusy(other);
                try (RawClient fresh = new RawClient(varve.port())) {
                    assertThat(fresh.call("SET", "key", "other").text()).startsWith(BUSY);
                    assertThat(fresh.call("FUNCTION", "KILL").text()).startsWith("BUSY");
                    assertThat(fresh.call("SCRIPT", "KILL").text()).isEqualTo("OK");
                }
                assertThat(slow.read().isError()).isTrue();
                assertThat(other.call("GET", "key").text()).isEqualTo("value");
            }
            assertThat(other.call("SCRIPT", "KILL").text()).startsWith("NOTBUSY");
        }
    }

    @Test
    void transactions_areDiscarded_andScriptsThatHaveWritten_goOn() throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads 1", "busy-reply-threshold 50");
                RawClient slow = new RawClient(varve.port());
                RawClient killer = new RawClient(varve.port());
                RawClient other = new RawClient(varve.port())) {
            assertThat(other.call("MULTI").text()).isEqualTo("OK");
            assertThat(other.call("INCR", "n").text()).isEqualTo("QUEUED");
            slow.queue("EVAL", "redis.call('set', 'key', 'v') for i = 1, 1e8 do end return 'done'", "0");
            slow.flush();
            RawReply exec = other.call("PING");
            while (!exec.text().startsWith(BUSY)) {
                exec = other.call("PING");
            }
            assertThat(killer.call("SCRIPT", "KILL").text()).startsWith("UNKILLABLE");
            assertThat(other.call("EXEC").text()).startsWith("EXECABORT");
            assertThat(slow.read().text()).isEqualTo("done");
            assertThat(other.call("GET", "key").text()).isEqualTo("v");
            assertThat(other.call("EXISTS", "n").text()).isEqualTo("0");
        }
    }

    @Test
    void otherEventLoops_goOn_forKeysThatItDoesNotHold() throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads 2", "shards 16", "busy-reply-threshold 50");
                RawClient slow = new RawClient(varve.port());
                RawClient same = new RawClient(varve.port());
                RawClient other = new RawClient(varve.port())) {
            // One of the two clients shares the loop of the script; the other one has its own.
            slow.queue("EVAL", "while redis.call('get', KEYS[1]) ~= 'x' do end", "1", "held");
            slow.flush();
            int served = 0;
            int busy = 0;
            while (served == 0 || busy == 0) {
                for (RawClient client : new RawClient[] {same, other}) {
                    RawReply reply = client.call("GET", "free" + served);
                    busy += reply.text().startsWith(BUSY) ? 1 : 0;
                    served += reply.isError() ? 0 : 1;
                }
            }
            RawReply killed = other.call("SCRIPT", "KILL");
            assertThat(killed.text()).isEqualTo("OK");
            assertThat(slow.read().text()).startsWith("ERR Script killed");
        }
    }

    @Test
    void aSlowFunction_isKilledByItsOwnCommand() throws IOException {
        try (var varve = servers.start("maxmemory 64mb", "io-threads 1", "busy-reply-threshold 50");
                RawClient slow = new RawClient(varve.port());
                RawClient other = new RawClient(varve.port())) {
            assertThat(other.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() "
                    + FOREVER + " end)").text()).isEqualTo("lib");
            slow.queue("FCALL", "f", "0");
            slow.flush();
            awaitBusy(other);
            assertThat(other.call("SCRIPT", "KILL").text()).startsWith("BUSY");
            assertThat(other.call("FUNCTION", "STATS").elements().get(1).elements()).hasSize(6);
            assertThat(other.call("FUNCTION", "KILL").text()).isEqualTo("OK");
            assertThat(slow.read().text()).startsWith("ERR Script killed by user with SCRIPT KILL... script: ");
        }
    }
}

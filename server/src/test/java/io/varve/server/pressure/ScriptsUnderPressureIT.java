package io.varve.server.pressure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests scripts in full memory, with evictable keys and without. Confined to the test's thread. */
@Timeout(120)
class ScriptsUnderPressureIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int FILLERS = 5000;
    private static final String PIECE = "p".repeat(5000);
    private static final String OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";
    /** Sets ARGV[1] keys that it does not declare to ARGV[2] bytes each. */
    private static final String SETS = """
            for i = 1, tonumber(ARGV[1]) do
                redis.call('set', ARGV[3] .. i, string.rep('y', tonumber(ARGV[2])))
            end
            return 'done'""";

    private static VarveServer start(String policy) throws IOException {
        return servers.start("io-threads 2", "maxmemory 16mb", "shards 4", "maxmemory-policy " + policy);
    }

    /** More items than fit, one by one: a pipeline of them would need memory for itself. */
    private static void fill(RawClient client) throws IOException {
        for (int i = 0; i < FILLERS; i++) {
            assertThat(client.call("SET", "filler" + i, PIECE).text()).isIn("OK", OUT_OF_MEMORY);
        }
    }

    private static String[] evalOfKeys(String script, int keys, String... more) {
        List<String> words = new ArrayList<>(List.of("EVAL", script, Integer.toString(keys)));
        for (int i = 0; i < keys; i++) {
            words.add("key" + i);
        }
        words.addAll(List.of(more));
        return words.toArray(String[]::new);
    }

    @ParameterizedTest
    @CsvSource({"5000, 1000", "600, 10000", "60, 100000", "6, 1000000"})
    void undeclaredKeys_areWritten_byEvictingOthers(int keys, int bytes) throws IOException {
        try (VarveServer server = start("allkeys-lru"); RawClient client = new RawClient(server.port())) {
            for (int round = 0; round < 4; round++) {
                fill(client);
                assertThat(client.call("EVAL", SETS, "0", Integer.toString(keys), Integer.toString(bytes),
                        "round" + round + ":").text()).isEqualTo("done");
                assertThat(client.infoLong("used_memory")).isLessThanOrEqualTo(16L << 20);
            }
            assertThat(client.infoLong("evicted_keys")).isPositive();
        }
    }

    @Test
    void newCounters_areWritten_byEvictingOthers() throws IOException {
        try (VarveServer server = start("allkeys-random"); RawClient client = new RawClient(server.port())) {
            fill(client);
            assertThat(client.call("EVAL", "for i = 1, 60000 do redis.call('incr', 'counter' .. i) end return 'done'",
                    "0").text()).isEqualTo("done");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100})
    void declaredKeys_areWritten_byEvictingOthers(int keys) throws IOException {
        try (VarveServer server = start("allkeys-lru"); RawClient client = new RawClient(server.port())) {
            for (int round = 0; round < 4; round++) {
                // Before that, the lists would leave too little for the requests themselves.
                client.call(evalOfKeys("for i = 1, #KEYS do redis.call('del', KEYS[i]) end", keys));
                fill(client);
                String script = """
                        local n = tonumber(ARGV[1])
                        for i = 1, n do
                            for k = 1, #KEYS do redis.call('rpush', KEYS[k], string.rep('y', 1000)) end
                        end
                        local sum = 0
                        for k = 1, #KEYS do sum = sum + redis.call('llen', KEYS[k]) end
                        return sum""";
                // The keys of the script are not evicted while it runs.
                assertThat(client.call(evalOfKeys(script, keys, Integer.toString(6000 / keys))).integer())
                        .isEqualTo(6000);
            }
        }
    }

    @Test
    void functionsAndTransactions_evictToo() throws IOException {
        try (VarveServer server = start("allkeys-lru"); RawClient client = new RawClient(server.port())) {
            client.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('sets', function(KEYS, ARGV) "
                    + SETS + " end)");
            fill(client);
            assertThat(client.call("FCALL", "sets", "0", "600", "10000", "function").text()).isEqualTo("done");
            fill(client);
            client.call("MULTI");
            client.call("SET", "own", "1");
            client.call("EVAL", SETS, "0", "600", "10000", "transaction");
            client.call("FCALL", "sets", "0", "60", "100000", "transaction");
            client.call("GET", "own");
            assertThat(client.call("EXEC").elements().stream().map(RawReply::text).toList())
                    .containsExactly("OK", "done", "done", "1");
        }
    }

    /** The first command is refused if memory is full; later ones pass as long as there is memory. */
    @Test
    void withoutEvictableKeys_aFullCacheRefusesTheFirstCommand() throws IOException {
        try (VarveServer server = start("noeviction"); RawClient client = new RawClient(server.port())) {
            String partly = """
                    for i = 1, 3000 do
                        local reply = redis.pcall('set', 'key' .. i, string.rep('y', 10000))
                        if reply.err then return i end
                    end
                    return 0""";
            fill(client);
            assertThat(client.call("EVAL", partly, "0").integer()).isOne();
            assertThat(client.call("EVAL", "redis.call('del', 'filler1') return redis.call('set', 'key', 'v')", "0")
                    .text()).isEqualTo("OK");
            client.call("FLUSHALL");
            assertThat(client.call("EVAL", partly, "0").integer()).isGreaterThan(500);
            assertThat(client.infoLong("evicted_keys")).isZero();
            assertThat(client.infoLong("used_memory")).isLessThanOrEqualTo(16L << 20);
        }
    }

    /** A client that waits for a key that the script evicts runs its command again. */
    @Test
    void anAwaitedKeyIsEvicted() throws IOException {
        try (VarveServer server = start("noeviction");
                RawClient client = new RawClient(server.port());
                RawClient waiting = new RawClient(server.port())) {
            for (int i = 0; i < 40; i++) {
                client.call("XADD", "stream", "*", "field", "x".repeat(100_000));
            }
            client.call("XGROUP", "CREATE", "stream", "group", "$");
            client.call("EXPIRE", "stream", "100000");
            // Before memory is full: it may create its consumer.
            waiting.queue("XREADGROUP", "GROUP", "group", "consumer", "BLOCK", "0", "STREAMS", "stream", ">");
            waiting.flush();
            await().until(() -> client.infoLong("blocked_clients") == 1);
            client.call("EVAL", """
                    local i = 0
                    repeat i = i + 1 until redis.pcall('set', 'filler' .. i, string.rep('p', 5000)).err""", "0");
            client.call("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
            assertThat(client.call("EVAL", "redis.call('del', KEYS[1]) for i = 1, 30 do "
                    + "redis.call('set', KEYS[1] .. i, string.rep('y', 100000)) end return 'done'", "1", "key").text())
                    .isEqualTo("done");
            assertThat(client.call("EXISTS", "stream").integer()).isZero();
            assertThat(waiting.read().isError()).isTrue();
        }
    }

    // --- replies

    /** It cannot run again, so memory for its reply is reclaimed under its locks. */
    @Test
    void theReplyOfAScriptThatHasWritten_evictsOthers() throws IOException {
        try (VarveServer server = start("allkeys-lru"); RawClient client = new RawClient(server.port())) {
            fill(client);
            String reply = client.call("EVAL", """
                    redis.call('set', KEYS[1], 'v')
                    return string.rep('y', 9000000)""", "1", "written").text();
            assertThat(reply).hasSize(9_000_000);
            assertThat(client.call("GET", "written").text()).isEqualTo("v");
        }
    }

    /** An error takes the place of the reply; the connection and the effects stay. */
    @ParameterizedTest
    @ValueSource(strings = {"noeviction", "allkeys-lru"})
    void aReplyWithoutMemory_isAnError(String policy) throws IOException {
        try (VarveServer server = servers.start("io-threads 1", "maxmemory 16mb", "shards 4",
                "maxmemory-policy " + policy); RawClient client = new RawClient(server.port())) {
            String tooLong = """
                    redis.call('set', KEYS[1], 'v')
                    local text, reply = string.rep('y', 1000000), {}
                    for i = 1, 200 do reply[i] = text end
                    return reply""";
            assertThat(client.call("EVAL", tooLong, "1", "written").text()).isEqualTo(OUT_OF_MEMORY);
            assertThat(client.call("GET", "written").text()).isEqualTo("v");
            client.call("MULTI");
            client.call("EVAL", tooLong, "1", "again");
            client.call("SET", "own", "1");
            assertThat(client.call("EXEC").elements().stream().map(RawReply::text).toList())
                    .containsExactly(OUT_OF_MEMORY, "OK");
            assertThat(client.call("MGET", "own", "again").elements().stream().map(RawReply::text).toList())
                    .containsExactly("1", "v");
        }
    }
}

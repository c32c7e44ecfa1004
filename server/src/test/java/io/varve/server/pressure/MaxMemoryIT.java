package io.varve.server.pressure;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a server in its own process stays within its memory, whatever is written. Confined to the test's thread.
 */
class MaxMemoryIT {
    private static final long MB = 1 << 20;
    /** Memory that the process may take beside maxmemory: heap, direct buffers, class metadata, code. */
    private static final long BESIDE_BYTES = 256 * MB;
    private static final int PIPELINE = 100;
    private static final String OOM = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

    @Test
    void withoutEvictionOnlyWritesAreRefused() throws IOException {
        try (ServerProcess server = ServerProcess.start(ServerProcess::compilingAsInProduction, "--maxmemory", "32mb");
                RawClient client = new RawClient(server.port())) {
            String value = "v".repeat(1000);
            int stored = fill(client, value);
            assertThat(stored * 1000L).isBetween(22 * MB, 32 * MB);
            assertThat(client.call("GET", "key:0").text()).isEqualTo(value);
            assertThat(client.call("TTL", "key:0").integer()).isEqualTo(-1);
            assertThat(client.call("DBSIZE").integer()).isEqualTo(stored);
            for (int i = 0; i < stored; i++) {
                client.queue("DEL", "key:" + i);
            }
            client.flush();
            for (int i = 0; i < stored; i++) {
                assertThat(client.reply()).isEqualTo(":1\r\n");
            }
            assertThat(client.command("SET", "key:0", value)).isEqualTo("+OK\r\n");
            assertThat(client.infoLong("used_memory")).isLessThan(8 * MB);
            assertThat(server.memoryBytes("VmHWM")).isLessThan(32 * MB + BESIDE_BYTES);
        }
    }

    @Test
    void aLimitBelowWhatIsHeldIsReached() throws IOException {
        try (ServerProcess server = ServerProcess.start(ServerProcess::compilingAsInProduction, "--maxmemory", "32mb",
                "--shards", "4");
                RawClient client = new RawClient(server.port())) {
            String value = "v".repeat(1000);
            int stored = fill(client, value);
            assertThat(client.command("CONFIG", "SET", "maxmemory", "2mb")).isEqualTo("+OK\r\n");
            // Nothing may be evicted: items stay, and none is added.
            assertThat(client.call("SET", "more", "x").text())
                    .isEqualTo("OOM command not allowed when used memory > 'maxmemory'.");
            assertThat(client.call("DBSIZE").integer()).isEqualTo(stored);
            for (int i = 0; i < stored; i += 1000) {
                assertThat(client.call("GET", "key:" + i).text()).isEqualTo(value);
            }
            assertThat(client.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")).isEqualTo("+OK\r\n");
            assertThat(client.command("SET", "more", "x")).isEqualTo("+OK\r\n");
            assertThat(client.command("GET", "more")).isEqualTo("$1\r\nx\r\n");
            assertThat(client.infoLong("used_memory")).isLessThan(2 * MB);
            assertThat(client.call("DBSIZE").integer()).isBetween(100L, 2000L);
            assertThat(client.command("CONFIG", "SET", "maxmemory", "32mb")).isEqualTo("+OK\r\n");
            for (int i = 0; i < stored / 2; i += PIPELINE) {
                for (int j = i; j < i + PIPELINE; j++) {
                    client.queue("SET", "key:" + j, value);
                }
                client.flush();
                for (int j = 0; j < PIPELINE; j++) {
                    assertThat(client.reply()).isEqualTo("+OK\r\n");
                }
            }
            assertThat(client.call("DBSIZE").integer()).isGreaterThan(stored / 2);
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void withEvictionWritesNeverStop(String policy) throws IOException {
        try (ServerProcess server = ServerProcess.start(ServerProcess::compilingAsInProduction, "--maxmemory", "32mb",
                "--maxmemory-policy", policy);
                RawClient client = new RawClient(server.port())) {
            byte[] value = "v".repeat(500).getBytes(StandardCharsets.US_ASCII);
            int count = (int) (3 * 32 * MB / value.length);
            for (int i = 0; i < count; i += PIPELINE) {
                for (int j = i; j < i + PIPELINE; j++) {
                    client.write(List.of(bytes("SET"), bytes("key:" + j), value, bytes("EX"), bytes("1000")));
                }
                client.flush();
                for (int j = i; j < i + PIPELINE; j++) {
                    assertThat(client.reply()).isEqualTo("+OK\r\n");
                }
            }
            assertThat(client.infoLong("evicted_keys")).isPositive();
            assertThat(client.infoLong("used_memory")).isBetween(18 * MB, 32 * MB);
            long keys;
            long evicted;
            do {
                // Maintenance may still be freeing memory ahead of writes.
                evicted = client.infoLong("evicted_keys");
                keys = client.call("DBSIZE").integer();
            } while (evicted != client.infoLong("evicted_keys"));
            assertThat(keys).isBetween(20_000L, 32 * MB / value.length);
            assertThat(evicted + keys).isEqualTo((count + PIPELINE - 1L) / PIPELINE * PIPELINE);
            assertThat(server.memoryBytes("VmHWM")).isLessThan(32 * MB + BESIDE_BYTES);
        }
    }

    @Test
    void aMillionSmallKeysFit64MegabytesAndTheHeapDoesNotGrowWithThem() throws IOException {
        int count = 1_000_000;
        try (ServerProcess server = ServerProcess.start(ServerProcess::compilingAsInProduction, "--maxmemory", "64mb");
                RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < count; i += PIPELINE) {
                for (int j = i; j < i + PIPELINE; j++) {
                    client.write(List.of(bytes("SET"), key(j), value(j)));
                }
                client.flush();
                for (int j = i; j < i + PIPELINE; j++) {
                    assertThat(client.reply()).as("key %d", j).isEqualTo("+OK\r\n");
                }
            }
            assertThat(client.call("DBSIZE").integer()).isEqualTo(count);
            assertThat(client.call(List.of(bytes("GET"), key(77))).text()).isEqualTo(
                    new String(value(77), StandardCharsets.ISO_8859_1));
            assertThat(client.infoLong("used_memory")).isLessThan(64 * MB);
            assertThat(client.infoLong("heap_used")).isLessThan(96 * MB);
            assertThat(client.info("evicted_keys")).isEqualTo("0");
            assertThat(server.memoryBytes("VmHWM")).isLessThan(64 * MB + BESIDE_BYTES);
        }
    }

    private static List<String> policies() {
        return TestBudget.cases(List.of("allkeys-lru", "volatile-ttl"),
                List.of("allkeys-lfu", "allkeys-random", "volatile-lru"));
    }

    /** Stores values under {@code key:0} and so on until one is refused. Returns its number; no later key stays. */
    private static int fill(RawClient client, String value) throws IOException {
        for (int i = 0;; i += PIPELINE) {
            for (int j = i; j < i + PIPELINE; j++) {
                client.queue("SET", "key:" + j, value);
            }
            client.flush();
            int refused = -1;
            List<String> later = new ArrayList<>(List.of("DEL", "none"));
            for (int j = i; j < i + PIPELINE; j++) {
                String reply = client.reply();
                if (!reply.equals("+OK\r\n")) {
                    assertThat(reply).isEqualTo(OOM);
                    refused = refused < 0 ? j : refused;
                } else if (refused >= 0) {
                    later.add("key:" + j);
                }
            }
            if (refused >= 0) {
                assertThat(client.call(later.toArray(String[]::new)).integer()).isEqualTo(later.size() - 2);
                return refused;
            }
        }
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(8).putLong(number * 0x9E3779B97F4A7C15L).array();
    }

    private static byte[] value(int number) {
        return bytes("0123456789abcdef".substring(0, 8 + number % 9));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}

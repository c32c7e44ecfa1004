package io.varve.server.pressure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests large values in a separate server process, whose heap and direct memory are a fraction of them. Confined to the
 * test's thread.
 */
class LargeValuesIT {
    private static final int MB = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long MAX_MEMORY_BYTES = 1024L * MB;
    private static final long BESIDE_BYTES = 256L * MB;

    private static ServerProcess server;

    @BeforeAll
    static void start() throws IOException {
        server = ServerProcess.start("--maxmemory", Long.toString(MAX_MEMORY_BYTES));
    }

    @AfterAll
    static void stop() throws IOException {
        String errors = server.errors();
        server.close();
        assertThat(errors).doesNotContain("ERROR", "LEAK");
    }

    private static byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(value);
        return value;
    }

    private static RawReply call(RawClient client, Object... arguments) throws IOException {
        return client.call(Arrays.stream(arguments)
                .map(a -> a instanceof byte[] raw ? raw : a.toString().getBytes(StandardCharsets.US_ASCII)).toList());
    }

    /** Reads the reply to GET and compares it. */
    private static void assertValue(RawClient client, String key, byte[]... parts) throws IOException {
        client.send(RawClient.encode("GET", key));
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        String head = "$" + length + "\r\n";
        assertThat(client.read(head.length())).isEqualTo(head);
        for (byte[] part : parts) {
            assertThat(Arrays.equals(client.readBytes(part.length), part)).as("a part of %s", key).isTrue();
        }
        assertThat(client.read(2)).isEqualTo("\r\n");
    }

    @ParameterizedTest
    @ValueSource(ints = {65_535, 65_536, 65_537, 100_000, 2 * MB - 1, 2 * MB, 2 * MB + 1, 5 * MB, 100 * MB})
    void valuesOfAnySizeAreWrittenReadGrownAndCut(int bytes) throws IOException {
        byte[] value = value(bytes);
        byte[] tail = value(1000);
        try (RawClient client = new RawClient(server.port())) {
            long usedBefore = client.infoLong("used_memory");
            assertThat(call(client, "SET", "v", value).text()).isEqualTo("OK");
            assertValue(client, "v", value);
            assertThat(call(client, "APPEND", "v", tail).integer()).isEqualTo(bytes + 1000);
            assertThat(call(client, "APPEND", "v", tail).integer()).isEqualTo(bytes + 2000);
            assertValue(client, "v", value, tail, tail);
            assertThat(call(client, "SETRANGE", "v", bytes - 5, "12345").integer()).isEqualTo(bytes + 2000);
            assertThat(call(client, "GETRANGE", "v", bytes - 6, bytes).text()).isEqualTo(
                    latin1(value[bytes - 6]) + "12345" + latin1(tail[0]));
            assertThat(call(client, "GETRANGE", "v", bytes / 2, bytes / 2 + 99_999).text().length())
                    .isEqualTo(Math.min(100_000, bytes + 2000 - bytes / 2));
            assertThat(call(client, "GETRANGE", "v", 0, -1).text()).hasSize(bytes + 2000);
            assertThat(call(client, "STRLEN", "v").integer()).isEqualTo(bytes + 2000);
            assertThat(call(client, "SET", "v", "small", "GET").text()).hasSize(bytes + 2000);
            assertThat(call(client, "APPEND", "v", value).integer()).isEqualTo(bytes + 5);
            assertValue(client, "v", "small".getBytes(StandardCharsets.US_ASCII), value);
            assertThat(call(client, "DEL", "v").integer()).isOne();
            assertThat(client.call("FLUSHALL").text()).isEqualTo("OK");
            await().atMost(PATIENCE).untilAsserted(
                    () -> assertThat(client.infoLong("used_memory")).isLessThan(usedBefore + 3 * MB));
        }
    }

    private static String latin1(byte b) {
        return new String(new byte[] {b}, StandardCharsets.ISO_8859_1);
    }

    @Test
    void theLargestValueThatRedisTakesFits() throws IOException {
        int largest = 512 * MB;
        byte[] piece = value(MB);
        try (RawClient client = new RawClient(server.port())) {
            client.send("*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$" + largest + "\r\n");
            for (int i = 0; i < 512; i++) {
                client.send(piece);
            }
            assertThat(client.send("\r\n").reply()).isEqualTo("+OK\r\n");
            assertThat(client.call("STRLEN", "v").integer()).isEqualTo(largest);
            assertThat(call(client, "APPEND", "v", "x").text())
                    .isEqualTo("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
            client.send("GET v\r\n");
            assertThat(client.read(12)).isEqualTo("$536870912\r\n");
            for (int i = 0; i < 512; i++) {
                assertThat(Arrays.equals(client.readBytes(MB), piece)).as("megabyte %d", i).isTrue();
            }
            assertThat(client.read(2)).isEqualTo("\r\n");
            assertThat(call(client, "DEL", "v").integer()).isOne();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(client.infoLong("used_memory")).isLessThan(64L * MB));
        }
        assertThat(server.memoryBytes("VmHWM")).isLessThan(MAX_MEMORY_BYTES + BESIDE_BYTES);
    }

    @Test
    void severalLargeValuesInOneCommand() throws IOException {
        List<byte[]> values = new ArrayList<>();
        List<Object> mset = new ArrayList<>(List.of("MSET"));
        for (int i = 0; i < 6; i++) {
            values.add(value((i % 2 == 0 ? 3 * MB : 70_000) + i));
            mset.add("k" + i);
            mset.add(values.get(i));
        }
        try (RawClient client = new RawClient(server.port())) {
            for (int round = 0; round < 3; round++) {
                assertThat(call(client, mset.toArray()).text()).isEqualTo("OK");
            }
            for (int i = 0; i < 6; i++) {
                assertValue(client, "k" + i, values.get(i));
            }
            RawReply all = client.call("MGET", "k0", "none", "k5", "k0");
            assertThat(all.elements().getFirst().text()).isEqualTo(
                    new String(values.getFirst(), StandardCharsets.ISO_8859_1));
            assertThat(all.elements().get(3)).isEqualTo(all.elements().getFirst());
            assertThat(call(client, mset.toArray(new Object[0])).text()).isEqualTo("OK");
            mset.set(0, "MSETNX");
            assertThat(call(client, mset.toArray()).integer()).isZero();
            assertThat(client.call("DEL", "k0", "k1", "k2", "k3", "k4", "k5").integer()).isEqualTo(6);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {70_000, 5 * MB, 30 * MB})
    void commandsThatKeepNoRunTakeLargeArgumentsToo(int bytes) throws IOException {
        byte[] large = value(bytes);
        String text = new String(large, StandardCharsets.ISO_8859_1);
        try (RawClient client = new RawClient(server.port())) {
            assertThat(call(client, "HSET", "h", "f", large, "g", "1").integer()).isEqualTo(2);
            assertThat(client.call("HGET", "h", "f").text()).isEqualTo(text);
            assertThat(client.call("HGET", "h", "g").text()).isEqualTo("1");
            assertThat(client.call("HSTRLEN", "h", "f").integer()).isEqualTo(bytes);
            assertThat(call(client, "ECHO", large).text()).isEqualTo(text);
            assertThat(call(client, "SETRANGE", "s", 10, large).integer()).isEqualTo(bytes + 10);
            assertThat(call(client, "GET", large).text()).isEqualTo("-1 (null)");
            assertThat(call(client, "SET", large, "v").text()).isEqualTo("OK");
            assertThat(call(client, "GET", large).text()).isEqualTo("v");
            assertThat(call(client, "RENAME", large, "renamed").text()).isEqualTo("OK");
            assertThat(call(client, "NOSUCH", large).text()).startsWith("ERR unknown command 'NOSUCH'");
            assertThat(call(client, large).text()).startsWith("ERR unknown command '");
            assertThat(call(client, "SETNX", "renamed", large).integer()).isZero();
            assertThat(call(client, "GETSET", "renamed", large).text()).isEqualTo("v");
            assertThat(call(client, "GETDEL", "renamed").text()).isEqualTo(text);
            assertThat(client.call("FLUSHALL").text()).isEqualTo("OK");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(client.infoLong("used_memory")).isLessThan(64L * MB));
        }
    }

    @Test
    void aLargeValueThatDoesNotFitIsRefusedAndTheConnectionLivesOn() throws IOException {
        byte[] large = value(50 * MB);
        try (ServerProcess small = ServerProcess.start("--maxmemory", "64mb");
                RawClient client = new RawClient(small.port())) {
            long usedBefore = client.infoLong("used_memory");
            String oom = "OOM command not allowed when used memory > 'maxmemory'.";
            for (int round = 0; round < 5; round++) {
                assertThat(call(client, "SET", "a", large).text()).isEqualTo("OK");
                assertThat(call(client, "SET", "b", large).text()).isEqualTo(oom);
                assertThat(call(client, "HSET", "b", "f", large).text()).isEqualTo(oom);
                assertThat(call(client, "APPEND", "a", large).text()).isEqualTo(oom);
                assertThat(call(client, "MSET", "c", "1", "b", large).text()).isEqualTo(oom);
                assertThat(call(client, "EXISTS", "b", "c").integer()).isZero();
                assertValue(client, "a", large);
                assertThat(call(client, "DEL", "a").integer()).isOne();
            }
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(client.infoLong("used_memory")).isLessThan(usedBefore + 3 * MB));
            assertThat(small.memoryBytes("VmHWM")).isLessThan(64L * MB + BESIDE_BYTES);
        }
    }
}

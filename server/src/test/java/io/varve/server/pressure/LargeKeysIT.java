package io.varve.server.pressure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests keys, fields and values of 512 MB, the protocol's maximum, in a separate server process. In the gate some
 * commands get keys of 30 or 128 MB instead. Confined to the test's thread.
 */
class LargeKeysIT {
    private static final int MB = 1 << 20;
    private static final int LONGEST = 512 * MB;
    private static final long MAX_MEMORY_BYTES = 2048L * MB;
    private static final long BESIDE_BYTES = 256L * MB;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final byte[] PIECE = new byte[MB];
    private static final String HEAP = "OOM the heap budget for arguments and keys of requests is used up: send fewer of them"
            + " in one request";
    private static final String OOM = "OOM command not allowed when used memory > 'maxmemory'.";

    private static ServerProcess server;

    @BeforeAll
    static void start() throws IOException {
        new SplittableRandom(1).nextBytes(PIECE);
        server = ServerProcess.start("--maxmemory", Long.toString(MAX_MEMORY_BYTES));
    }

    @AfterAll
    static void stop() throws IOException {
        long peak = server.memoryBytes("VmHWM");
        String errors = server.errors();
        server.close();
        assertThat(errors).doesNotContain("ERROR", "LEAK");
        assertThat(peak).isLessThan(MAX_MEMORY_BYTES + BESIDE_BYTES);
    }

    private static List<Integer> keySizes() {
        return TestBudget.cases(List.of(128 * MB), List.of(LONGEST));
    }

    private static List<Integer> namesTooLongForTheHeap() {
        return TestBudget.cases(List.of(30 * MB), List.of(LONGEST));
    }

    private static List<String> policies() {
        return TestBudget.cases(List.of("allkeys-lru"), List.of("noeviction"));
    }

    /** Sends a command, of which each argument that is a number is that many bytes. */
    private static void send(RawClient client, Object... arguments) throws IOException {
        client.send("*" + arguments.length + "\r\n");
        for (Object argument : arguments) {
            if (argument instanceof Integer length) {
                client.send("$" + length + "\r\n");
                for (int left = length; left > 0; left -= MB) {
                    client.send(left < MB ? Arrays.copyOf(PIECE, left) : PIECE);
                }
                client.send("\r\n");
            } else {
                byte[] bytes = argument.toString().getBytes(StandardCharsets.US_ASCII);
                client.send("$" + bytes.length + "\r\n").send(bytes).send("\r\n");
            }
        }
    }

    private static RawReply call(RawClient client, Object... arguments) throws IOException {
        send(client, arguments);
        return client.read();
    }

    /** Reads a bulk and compares it. */
    private static void assertLongBulk(RawClient client, int length) throws IOException {
        String head = "$" + length + "\r\n";
        assertThat(client.read(head.length())).isEqualTo(head);
        for (int left = length; left > 0; left -= MB) {
            int bytes = Math.min(left, MB);
            assertThat(Arrays.equals(client.readBytes(bytes), 0, bytes, PIECE, 0, bytes)).as("%d before the end", left)
                    .isTrue();
        }
        assertThat(client.read(2)).isEqualTo("\r\n");
    }

    private static void assertNothingLeft(RawClient client) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(client.infoLong("used_memory")).isLessThan(32L * MB));
    }

    @Test
    void theLongestKeyIsReadAndListed() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(call(client, "SET", LONGEST, "value").text()).isEqualTo("OK");
            assertThat(call(client, "GET", LONGEST).text()).isEqualTo("value");
            send(client, "KEYS", "*");
            assertThat(client.read(4)).isEqualTo("*1\r\n");
            assertLongBulk(client, LONGEST);
            send(client, "SCAN", "0", "COUNT", "100000");
            assertThat(client.read(4)).isEqualTo("*2\r\n");
            assertThat(client.reply()).as("cursor").startsWith("$");
            assertThat(client.read(4)).isEqualTo("*1\r\n");
            assertLongBulk(client, LONGEST);
            assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
            assertNothingLeft(client);
        }
    }

    @ParameterizedTest
    @MethodSource("keySizes")
    void aLongKeyIsAKeyLikeAnyOther(int length) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(call(client, "SET", length, "value").text()).isEqualTo("OK");
            assertThat(call(client, "GET", length).text()).isEqualTo("value");
            assertThat(call(client, "EXISTS", length - 1).integer()).isZero();
            assertThat(call(client, "SET", length, "another").text()).isEqualTo("OK");
            assertThat(call(client, "EXPIRE", length, "1000").integer()).isOne();
            assertThat(call(client, "RENAME", length, "short").text()).isEqualTo("OK");
            assertThat(call(client, "GET", "short").text()).isEqualTo("another");
            assertThat(call(client, "TTL", "short").integer()).isBetween(900L, 1000L);
            assertThat(call(client, "RENAME", "short", length).text()).isEqualTo("OK");
            assertThat(call(client, "PEXPIRE", length, "1").integer()).isOne();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(client.call("DBSIZE").integer()).isZero());
            assertNothingLeft(client);
        }
    }

    @Test
    void theLongestValueIsWrittenIntoMovedAndEvicted() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(call(client, "SET", "v", LONGEST).text()).isEqualTo("OK");
            assertThat(call(client, "SETRANGE", "v", Integer.toString(LONGEST - 5), "12345").integer())
                    .isEqualTo(LONGEST);
            assertThat(call(client, "SETRANGE", "v", Integer.toString(LONGEST - 4), "12345").text())
                    .startsWith("ERR string exceeds maximum allowed size");
            assertThat(call(client, "GETRANGE", "v", "-7", "-1").text()).endsWith("12345").hasSize(7);
            assertThat(call(client, "RENAME", "v", "w").text()).isEqualTo("OK");
            assertThat(call(client, "PEXPIRE", "w", "100000").integer()).isOne();
            assertThat(call(client, "STRLEN", "w").integer()).isEqualTo(LONGEST);
            assertThat(call(client, "SET", "w", LONGEST - 1).text()).isEqualTo("OK");
            assertThat(call(client, "APPEND", "w", "x").integer()).isEqualTo(LONGEST);
            assertThat(call(client, "APPEND", "w", "x").text()).startsWith("ERR string exceeds maximum allowed size");
            assertThat(call(client, "COPY", "w", "v").integer()).isOne();
            assertThat(call(client, "SET", "w", "small").text()).isEqualTo("OK");
            send(client, "GETRANGE", "v", "0", Integer.toString(LONGEST - 2));
            assertLongBulk(client, LONGEST - 1);
            assertThat(client.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random")).isEqualTo("+OK\r\n");
            for (int i = 0; i < 6; i++) {
                assertThat(call(client, "SET", "many" + i, LONGEST).text()).as("value %d", i).isEqualTo("OK");
            }
            assertThat(client.infoLong("evicted_keys")).isPositive();
            assertThat(client.command("CONFIG", "SET", "maxmemory-policy", "noeviction")).isEqualTo("+OK\r\n");
            assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
            assertNothingLeft(client);
        }
    }

    @Test
    void theLongestFieldAndItsValueFitAHash() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(call(client, "HSET", "h", LONGEST, "1").integer()).isOne();
            assertThat(call(client, "HGET", "h", LONGEST).text()).isEqualTo("1");
            assertThat(call(client, "HDEL", "h", LONGEST).integer()).isOne();
            assertThat(call(client, "HSET", "h", "f", LONGEST).integer()).isOne();
            send(client, "HGET", "h", "f");
            assertLongBulk(client, LONGEST);
            // The old hash, the new one and the argument are more than maxmemory together: refused, not lost.
            assertThat(call(client, "HSET", "h", "g", LONGEST).text()).isEqualTo(OOM);
            assertThat(call(client, "HSTRLEN", "h", "f").integer()).isEqualTo(LONGEST);
            assertThat(call(client, "DEL", "h").integer()).isOne();
            assertNothingLeft(client);
        }
    }

    /**
     * Names that a client waits for or watches are on the heap, which has no space for such long ones: nor is a key
     * copied for a lookup.
     */
    @ParameterizedTest
    @MethodSource("namesTooLongForTheHeap")
    void aNameOnTheHeapIsNotSoLong(int length) throws IOException {
        try (RawClient client = new RawClient(server.port()); RawClient other = new RawClient(server.port())) {
            assertThat(call(client, "WATCH", length).text()).isEqualTo(HEAP);
            assertThat(call(client, "MULTI").text()).isEqualTo("OK");
            assertThat(call(client, "EXEC").isNull()).isTrue();
            assertThat(call(client, "BLPOP", length, "0").text()).isEqualTo(HEAP);
            assertThat(call(client, "SUBSCRIBE", length).text()).isEqualTo(HEAP);
            // As many as it takes for any other key to look as if it might be one of them.
            String[] watch = new String[30_001];
            watch[0] = "WATCH";
            for (int i = 1; i < watch.length; i++) {
                watch[i] = "k" + i;
            }
            assertThat(client.call(watch).text()).isEqualTo("OK");
            assertThat(call(other, "SET", length, "value").text()).isEqualTo("OK");
            assertThat(call(other, "DEL", length).integer()).isOne();
            assertThat(client.call("UNWATCH").text()).isEqualTo("OK");
            assertNothingLeft(other);
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void requestsLongerThanMaxmemoryAreRefusedAtNoCost(String policy) throws IOException {
        try (ServerProcess small = ServerProcess.start("--maxmemory", "100mb", "--maxmemory-policy", policy);
                RawClient client = new RawClient(small.port())) {
            assertThat(call(client, "SET", "k", "v").text()).isEqualTo("OK");
            assertThat(call(client, "SET", LONGEST, "v").text()).isEqualTo(OOM);
            assertThat(call(client, "SET", "k", LONGEST).text()).isEqualTo(OOM);
            assertThat(call(client, "HSET", "h", LONGEST, LONGEST).text()).isEqualTo(OOM);
            assertThat(call(client, "RENAME", "k", LONGEST).text()).isEqualTo(OOM);
            assertThat(call(client, "GET", LONGEST).text()).isEqualTo(OOM);
            assertThat(client.send("*2\r\n$3\r\nGET\r\n$" + (LONGEST + 1) + "\r\n").readToEnd())
                    .isEqualTo("-ERR Protocol error: invalid bulk length\r\n");
            try (RawClient another = new RawClient(small.port())) {
                assertThat(another.call("GET", "k").text()).isEqualTo("v");
                assertThat(another.call("DBSIZE").integer()).isOne();
            }
            assertThat(small.memoryBytes("VmHWM")).isLessThan(100L * MB + BESIDE_BYTES);
        }
    }
}

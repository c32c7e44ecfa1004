package io.varve.server.pressure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests that a client that does not read costs the server and other clients nothing. Confined to the test's thread and
 * a sender's.
 */
class BackPressureIT {
    private static final int REQUESTS = 400;
    private static final int SMALL_RECEIVE_BUFFER_BYTES = 32 << 10;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long BOUND_BYTES = 48L << 20;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 1", "maxmemory 128mb");
    private RawClient admin;

    @BeforeEach
    void start() throws IOException {
        admin = server.connect();
    }

    private static byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(value);
        return value;
    }

    private void set(String key, byte[] value) throws IOException {
        assertThat(admin.call(java.util.List.of("SET".getBytes(StandardCharsets.US_ASCII),
                key.getBytes(StandardCharsets.US_ASCII), value)).text()).isEqualTo("OK");
    }

    /** Sends GETs, as many as the server takes, and then the rest. */
    private static Thread sendGets(RawClient client, int count) {
        byte[] requests = "*2\r\n$3\r\nGET\r\n$1\r\nv\r\n".repeat(count).getBytes(StandardCharsets.US_ASCII);
        return Thread.ofPlatform().start(() -> {
            try {
                client.send(requests);
            } catch (IOException closed) {
                // It has been disconnected; the test checks what it can read.
                Thread.currentThread().interrupt();
            }
        });
    }

    /** The sizes: copied into the outgoing buffer; just a run; several times what the kernel holds. */
    @ParameterizedTest
    @ValueSource(ints = {30_000, 1 << 20, 5 << 20})
    void unreadOutputIsDeliveredInOrder(int bytes) throws Exception {
        byte[] value = value(bytes);
        set("v", value);
        int requests = Math.max(40, (int) Math.min(20_000, REQUESTS * (1L << 20) / bytes));
        try (RawClient slow = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
            Thread sender = sendGets(slow, requests);
            await().atMost(PATIENCE).until(() -> admin.infoLong("total_commands_processed") > 1
                    && admin.infoLong("mem_clients_normal") > 0);
            for (int i = 0; i < 200; i++) {
                assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
            }
            assertThat(server.server().pooledBytes()).isLessThan(BOUND_BYTES);
            assertThat(admin.infoLong("used_memory")).isLessThan(100L << 20);
            byte[] head = ("$" + bytes + "\r\n").getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < requests; i++) {
                assertThat(slow.readBytes(head.length)).isEqualTo(head);
                assertThat(Arrays.equals(slow.readBytes(bytes), value)).as("reply %d", i).isTrue();
                assertThat(slow.read(2)).isEqualTo("\r\n");
            }
            sender.join();
            assertThat(slow.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void aValueThatIsOverwrittenOrDeletedWhileItIsSentArrivesAsItWas() throws Exception {
        byte[] old = value(20 << 20);
        long usedBefore = admin.infoLong("used_memory");
        set("v", old);
        try (RawClient first = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES);
                RawClient second = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
            first.send("GET v\r\n");
            assertThat(first.read(11)).isEqualTo("$20971520\r\n");
            set("v", value(10 << 20));
            second.send("GET v\r\n");
            assertThat(second.read(11)).isEqualTo("$10485760\r\n");
            assertThat(admin.command("SETRANGE", "v", "0", "changed")).isEqualTo(":10485760\r\n");
            assertThat(admin.command("DEL", "v")).isEqualTo(":1\r\n");
            for (int i = 0; i < 8; i++) {
                set("other:" + i, value((1 << 20) + i));
            }
            assertThat(Arrays.equals(first.readBytes(old.length), old)).isTrue();
            assertThat(Arrays.equals(second.readBytes(10 << 20), value(10 << 20))).isTrue();
            assertThat(admin.command("FLUSHALL")).isEqualTo("+OK\r\n");
        }
        await().atMost(PATIENCE).untilAsserted(
                () -> assertThat(admin.infoLong("used_memory")).isLessThan(usedBefore + (1 << 20)));
    }

    @Test
    void aDisconnectDuringOutputReleasesAllMemory() throws Exception {
        long usedBefore = admin.infoLong("used_memory");
        set("v", value(20 << 20));
        for (int i = 0; i < 10; i++) {
            try (RawClient slow = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
                slow.send("GET v\r\nGET v\r\nGET v\r\n");
                assertThat(slow.read(11)).isEqualTo("$20971520\r\n");
            }
        }
        assertThat(admin.command("DEL", "v")).isEqualTo(":1\r\n");
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(admin.info("connected_clients")).isEqualTo("1");
            assertThat(admin.infoLong("used_memory")).isLessThan(usedBefore + (1 << 20));
        });
    }

    @Test
    void theHardOutputLimitCutsOff() throws Exception {
        set("v", value(1 << 20));
        assertThat(admin.command("CONFIG", "SET", "client-output-buffer-limit", "normal 900kb 0 0"))
                .isEqualTo("+OK\r\n");
        try (RawClient slow = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
            Thread sender = sendGets(slow, REQUESTS);
            await().atMost(PATIENCE).until(() -> admin.info("connected_clients").equals("1"));
            sender.join();
            assertThatThrownBy(() -> {
                for (int i = 0; i < REQUESTS; i++) {
                    slow.readBytes(10 + (1 << 20) + 2);
                }
            }).isInstanceOf(IOException.class);
        }
        assertThat(admin.command("STRLEN", "v")).isEqualTo(":1048576\r\n");
    }

    @Test
    void theSoftOutputLimitCutsOffAfterItsTime() throws Exception {
        set("v", value(5 << 20));
        assertThat(admin.command("CONFIG", "SET", "client-output-buffer-limit", "normal 0 256kb 1"))
                .isEqualTo("+OK\r\n");
        try (RawClient slow = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
            Thread sender = sendGets(slow, 20);
            await().atMost(PATIENCE).until(() -> admin.info("connected_clients").equals("2"));
            await().atMost(PATIENCE).until(() -> admin.info("connected_clients").equals("1"));
            sender.join();
        }
        assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
    }
}

package io.varve.server.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.server.ServerOnDisk;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.server.testing.BlockedClients.expect;
import static io.varve.server.testing.BlockedClients.gets;
import static io.varve.server.testing.BlockedClients.send;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A log whose disk takes as long as the test wants: other clients go on, writers share a force, and what waits in
 * memory is bounded. Confined to the test's thread, and those of the clients that send much.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LogSlowDiskTest {
    private static final int WRITERS = 100;
    private static final int ROUNDS = 3;
    private static final int LOOPS = 2;
    private static final int SENDERS = 2;
    private static final int VALUES = 70;
    private static final int VALUE_BYTES = 1 << 20;
    private static final long MAX_PENDING_BYTES = 64L << 20;

    /** It fails the class if a buffer leaks. */
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private static ServerOnDisk start(Path directory) throws IOException {
        return ServerOnDisk.start(directory, "io-threads " + LOOPS, "maxmemory 256mb");
    }

    @Test
    void writersShareAForce_whileOthersRead() throws IOException {
        try (ServerOnDisk server = start(directory)) {
            RawClient first = server.connect();
            RawClient reader = server.connect();
            List<RawClient> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                writers.add(server.connect());
            }
            for (int round = 0; round < ROUNDS; round++) {
                int before = server.disk().forces();
                server.disk().hold();
                send(first, "SET first " + round);
                server.disk().awaitHeld();
                for (int i = 0; i < WRITERS; i++) {
                    send(writers.get(i), "SET key" + i + " " + round);
                }
                for (int i = 0; i < WRITERS; i++) {
                    while (!reader.call("GET", "key" + i).text().equals(Integer.toString(round))) {
                        Thread.onSpinWait();
                    }
                }
                assertThat(server.disk().forces()).isEqualTo(before);
                server.disk().release();
                gets(first, "+OK");
                for (RawClient writer : writers) {
                    gets(writer, "+OK");
                }
                assertThat(server.disk().forces() - before).as("forces for %s writes", WRITERS + 1).isEqualTo(2);
            }
        }
        try (ServerOnDisk server = start(directory)) {
            RawClient client = server.connect();
            for (int i = 0; i < WRITERS; i++) {
                expect(client, "GET key" + i, "$1 " + (ROUNDS - 1));
            }
        }
    }

    @Test
    void changesThatWaitInMemory_areBounded() throws IOException, InterruptedException, ExecutionException {
        try (ServerOnDisk server = start(directory); ExecutorService threads = Executors.newCachedThreadPool()) {
            RawClient reader = server.connect();
            server.disk().hold();
            List<Future<String>> senders = new ArrayList<>();
            for (int i = 0; i < SENDERS; i++) {
                RawClient client = server.connect();
                String key = "key" + i;
                threads.execute(() -> sendValues(client, key));
                senders.add(threads.submit(() -> readReplies(client)));
            }
            while (!server.stream().isFull()) {
                assertThat(reader.command("PING")).isEqualTo("+PONG\r\n");
            }
            leaveWhileFull(server, reader);
            // Each event loop has begun one command at most when the stream becomes full.
            assertThat(reader.infoLong("aof_buffer_length")).isBetween(MAX_PENDING_BYTES,
                    MAX_PENDING_BYTES + LOOPS * (VALUE_BYTES + 1000L));
            assertThat(reader.infoLong("connected_clients")).isEqualTo(SENDERS + 1);
            server.disk().release();
            for (Future<String> each : senders) {
                assertThat(each.get()).isEqualTo("+OK\r\n".repeat(VALUES));
            }
            expect(reader, "SET afterwards 1", "+OK");
            assertThat(server.stream().waiterCount()).isZero();
        }
        try (ServerOnDisk server = start(directory)) {
            RawClient client = server.connect();
            for (int i = 0; i < SENDERS; i++) {
                assertThat(client.call("GET", "key" + i).text()).isEqualTo(value(VALUES - 1));
            }
            expect(client, "MGET afterwards left", "*2 $1 1 $-1");
        }
    }

    private static String value(int number) {
        return "%010d".formatted(number) + "x".repeat(VALUE_BYTES - 10);
    }

    private static void sendValues(RawClient client, String key) {
        try {
            for (int i = 0; i < VALUES; i++) {
                client.queue("SET", key, value(i));
            }
            client.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static String readReplies(RawClient client) throws IOException {
        StringBuilder replies = new StringBuilder();
        for (int i = 0; i < VALUES; i++) {
            replies.append(client.reply());
        }
        return replies.toString();
    }

    /** Clients whose writes wait for room disconnect: nothing is kept of them, and their writes do not run. */
    private static void leaveWhileFull(ServerOnDisk server, RawClient reader) throws IOException {
        while (server.stream().waiterCount() < SENDERS) {
            assertThat(reader.command("PING")).isEqualTo("+PONG\r\n");
        }
        for (int i = 0; i < SENDERS; i++) {
            try (RawClient leaving = new RawClient(server.server().port())) {
                send(leaving, "SET left 1");
                while (server.stream().waiterCount() == SENDERS) {
                    assertThat(reader.command("PING")).isEqualTo("+PONG\r\n");
                }
            }
            while (server.stream().waiterCount() > SENDERS) {
                assertThat(reader.command("PING")).isEqualTo("+PONG\r\n");
            }
        }
    }
}

package io.varve.server;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A command that answers later, seen through WAIT. Confined to the test's thread. */
class SuspensionTest {
    private final ServerConfig config = ServerConfig.defaults().with("port", "0").with("io-threads", "1")
            .with("maxmemory", "64mb");
    private VarveServer server = start(config);

    private static VarveServer start(ServerConfig config) {
        try {
            return VarveServer.start(config, StubCache.create(config.cacheConfig()));
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    @BeforeEach
    void listening() {
        assertThat(server.port()).isPositive();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @CsvSource({"WAIT 0 0,:0", "WAIT -1 0,:0", "WAIT x y,-ERR value is not an integer or out of range",
            "WAIT 1 y,-ERR timeout is not an integer or out of range", "WAIT 1 -1,-ERR timeout is negative",
            "WAIT 1 9223372036854775807,-ERR timeout is out of range"})
    void whatNeedsNoWaitingIsAnsweredAtOnce(String request, String reply) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command(request.split(" "))).isEqualTo(reply + "\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void repliesStayInOrderAndOthersAreServed(String transport) throws IOException {
        try (VarveServer another = start(config.with("transport", transport));
                RawClient waiting = new RawClient(another.port());
                RawClient other = new RawClient(another.port())) {
            long started = System.nanoTime();
            waiting.send("ECHO a\r\nWAIT 1 300\r\nECHO b\r\nWAIT 1 20\r\n");
            assertThat(waiting.reply()).isEqualTo("$1\r\na\r\n");
            // One event loop serves both.
            await().atMost(5, TimeUnit.SECONDS)
                    .until(() -> other.command("INFO", "clients").contains("blocked_clients:1\r\n"));
            assertThat(other.command("CLIENT", "LIST")).contains(" flags=b ");
            waiting.send("ECHO c\r\nPING\r\n");
            assertThat(waiting.reply()).isEqualTo(":0\r\n");
            assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started)).isBetween(295L, 9_000L);
            assertThat(waiting.reply()).isEqualTo("$1\r\nb\r\n");
            assertThat(waiting.reply()).isEqualTo(":0\r\n");
            assertThat(waiting.reply()).isEqualTo("$1\r\nc\r\n");
            assertThat(waiting.reply()).isEqualTo("+PONG\r\n");
            assertThat(other.command("INFO", "clients")).contains("blocked_clients:0\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void whoWaitsForEverMayLeave(String transport) throws IOException {
        try (VarveServer another = start(config.with("transport", transport));
                RawClient other = new RawClient(another.port())) {
            try (RawClient waiting = new RawClient(another.port())) {
                waiting.send("WAIT 1 0\r\nPING\r\n");
                await().atMost(5, TimeUnit.SECONDS)
                        .until(() -> other.command("INFO", "clients").contains("blocked_clients:1\r\n"));
            }
            await().atMost(5, TimeUnit.SECONDS).until(() -> {
                String clients = other.command("INFO", "clients");
                return clients.contains("connected_clients:1\r\n") && clients.contains("blocked_clients:0\r\n");
            });
        }
    }

    @Test
    void whoWaitsForEverMayBeKilled() throws IOException {
        try (RawClient other = new RawClient(server.port());
                RawClient waiting = new RawClient(server.port())) {
            String id = waiting.command("CLIENT", "ID").substring(1).strip();
            waiting.send("WAIT 1 0\r\n");
            await().atMost(5, TimeUnit.SECONDS)
                    .until(() -> other.command("INFO", "clients").contains("blocked_clients:1\r\n"));
            assertThat(other.command("CLIENT", "KILL", "ID", id)).isEqualTo(":1\r\n");
            assertThat(waiting.readToEnd()).isEmpty();
        }
    }

    @Test
    void noReplyIsSentWhereNoneIsWanted() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            client.send("CLIENT REPLY SKIP\r\nWAIT 1 10\r\nPING\r\n");
            assertThat(client.reply()).isEqualTo("+PONG\r\n");
        }
    }
}

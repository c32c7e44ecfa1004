package io.varve.server;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests a command that replies later, by means of WAIT. Confined to the test's thread. */
class ParkedCommandTest {
    private static final String[] SETTINGS = {"io-threads 1", "maxmemory 64mb"};

    @RegisterExtension
    final ServerExtension server = ServerExtension.withStubCache(SETTINGS);

    @ParameterizedTest
    @CsvSource({"WAIT 0 0,:0", "WAIT -1 0,:0", "WAIT x y,-ERR value is not an integer or out of range",
            "WAIT 1 y,-ERR timeout is not an integer or out of range", "WAIT 1 -1,-ERR timeout is negative",
            "WAIT 1 9223372036854775807,-ERR timeout is out of range"})
    void commandsWithoutAWaitAreAnsweredAtOnce(String request, String reply) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command(request.split(" "))).isEqualTo(reply + "\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void repliesStayInOrderAndOthersAreServed(String transport) throws IOException {
        try (VarveServer another = server
                .startWithStubCache(ServerExtension.config(SETTINGS).with("transport", transport));
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
    void aClientBlockedWithoutTimeoutMayDisconnect(String transport) throws IOException {
        try (VarveServer another = server
                .startWithStubCache(ServerExtension.config(SETTINGS).with("transport", transport));
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
    void aClientBlockedWithoutTimeoutMayBeKilled() throws IOException {
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

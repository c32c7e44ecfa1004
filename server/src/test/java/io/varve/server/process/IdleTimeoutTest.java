package io.varve.server.process;

import java.io.IOException;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests the setting {@code timeout}, with a clock that the test controls: another connection that is closed shows that
 * all have been checked. Confined to the test's thread.
 */
class IdleTimeoutTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int MB = 1 << 20;
    private static final int LONG = 48 * MB;
    private static final int PIECE = 12 * MB;
    private static final int SMALL_RECEIVE_BUFFER = 64 << 10;

    private final SettableTicker ticker = new SettableTicker();
    private VarveServer server;

    @BeforeEach
    void start() throws IOException {
        ServerConfig config = ServerExtension.config("io-threads 2", "maxmemory 256mb", "timeout 60");
        server = servers.start(config, Cache.open(config.cacheConfig().withTicker(ticker)));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private RawClient connect() throws IOException {
        return new RawClient(server.port());
    }

    private void pass(int seconds) {
        ticker.pass(seconds * 1000L);
    }

    private void awaitInfo(String field, long atLeast) throws IOException {
        try (RawClient admin = connect()) {
            await().until(() -> admin.infoLong(field) >= atLeast);
        }
    }

    /** Connects one that never says anything, and waits until the server knows of it beside so many others. */
    private RawClient silent(int others) throws IOException {
        RawClient silent = connect();
        try (RawClient admin = connect()) {
            await().until(() -> admin.infoLong("connected_clients") == others + 2);
        }
        return silent;
    }

    @Test
    void aClientThatReadsALongReplyIsNotIdle() throws IOException {
        try (RawClient reader = new RawClient(server.port(), SMALL_RECEIVE_BUFFER); RawClient idle = silent(1)) {
            assertThat(reader.command("SETRANGE", "k", Integer.toString(LONG - 1), "x")).isEqualTo(":" + LONG + "\r\n");
            reader.queue("GET", "k");
            reader.flush();
            String head = "$" + LONG + "\r\n";
            assertThat(reader.read(head.length())).isEqualTo(head);
            pass(50);
            reader.readBytes(PIECE);
            pass(50);
            assertThat(idle.readToEnd()).isEmpty();
            reader.readBytes(LONG - PIECE);
            assertThat(reader.read(2)).isEqualTo("\r\n");
            assertThat(reader.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void aClientThatSendsALongRequestIsNotIdle() throws IOException {
        try (RawClient sender = connect(); RawClient idle = silent(1)) {
            sender.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + LONG + "\r\n");
            sender.send(new byte[PIECE]);
            awaitInfo("total_net_input_bytes", PIECE);
            pass(50);
            sender.send(new byte[PIECE]);
            awaitInfo("total_net_input_bytes", 2 * PIECE);
            pass(50);
            assertThat(idle.readToEnd()).isEmpty();
            sender.send(new byte[LONG - 2 * PIECE]);
            assertThat(sender.send("\r\n").reply()).isEqualTo("+OK\r\n");
        }
    }

    @Test
    void aClientThatWaitedForAReplyIsNotIdle() throws IOException {
        try (RawClient blockedClient = connect()) {
            blockedClient.queue("BLPOP", "k", "0");
            blockedClient.flush();
            awaitInfo("blocked_clients", 1);
            pass(49);
            try (RawClient idle = silent(1)) {
                pass(51);
                try (RawClient pusher = connect()) {
                    assertThat(pusher.command("RPUSH", "k", "v")).isEqualTo(":1\r\n");
                }
                assertThat(blockedClient.reply()).isEqualTo("*2\r\n$1\r\nk\r\n$1\r\nv\r\n");
                pass(10);
                assertThat(idle.readToEnd()).isEmpty();
            }
            assertThat(blockedClient.command("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void aClientThatStopsWithinARequestIsIdle() throws IOException {
        try (RawClient sender = connect()) {
            sender.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + LONG + "\r\n");
            sender.send(new byte[MB]);
            awaitInfo("total_net_input_bytes", MB);
            await().until(() -> {
                pass(61);
                try (RawClient admin = connect()) {
                    return admin.infoLong("connected_clients") == 1;
                }
            });
            assertThat(sender.readToEnd()).isEmpty();
        }
    }
}

package io.varve.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A server on three event loops, and clients that wait for something in it. Confined to the test's thread. */
abstract class WaitingClients {
    private final List<RawClient> clients = new ArrayList<>();
    private VarveServer server = start(3);
    RawClient admin = connect();

    static VarveServer start(int loops) {
        return start(ServerConfig.defaults().with("port", "0").with("io-threads", Integer.toString(loops))
                .with("maxmemory", "64mb").with("shards", "8"));
    }

    static VarveServer start(ServerConfig config) {
        try {
            return VarveServer.start(config);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    RawClient connect() {
        try {
            RawClient client = new RawClient(server.port());
            clients.add(client);
            return client;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    void restart(VarveServer other) {
        server.close();
        server = other;
        admin = connect();
    }

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        server.close();
    }

    static String ask(RawClient of, String words) throws IOException {
        return of.command(words.split(" ")).replace("\r\n", " ").strip();
    }

    static void asks(RawClient of, String words, String expected) throws IOException {
        assertThat(ask(of, words)).as(words).isEqualTo(expected);
    }

    static void gets(RawClient client, String expected) throws IOException {
        assertThat(client.reply().replace("\r\n", " ").strip()).isEqualTo(expected);
    }

    /** Sends commands in one piece. */
    static void send(RawClient client, String... commands) throws IOException {
        for (String command : commands) {
            client.queue(command.split(" "));
        }
        client.flush();
    }

    /** A command waits for the key {@code k} for a short time in vain, and what is pushed afterwards is not for it. */
    void endsWithNothing(String command, int protocol, String push, String count) throws IOException {
        RawClient a = connect();
        assertThat(ask(a, "HELLO " + protocol)).isNotEmpty();
        send(a, command, "PING");
        gets(a, protocol == 2 ? "*-1" : "_");
        gets(a, "+PONG");
        asks(a, push, ":1");
        asks(a, count, ":1");
        assertThat(admin.info("total_blocking_keys")).isEqualTo("0");
    }

    void awaitBlocked(int count) {
        await().atMost(10, TimeUnit.SECONDS).pollInterval(5, TimeUnit.MILLISECONDS)
                .until(() -> admin.infoLong("blocked_clients") == count);
    }

    /** A client that waits, behind all that wait already. */
    RawClient waiting(String... commands) throws IOException {
        long blocked = admin.infoLong("blocked_clients");
        RawClient client = connect();
        send(client, commands);
        awaitBlocked((int) blocked + 1);
        return client;
    }

    static String id(RawClient client) throws IOException {
        return ask(client, "CLIENT ID").substring(1);
    }
}

package io.varve.server.testing;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.varve.server.VarveServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A server on three event loops, and clients that block in it. Confined to the test's thread. */
public abstract class BlockedClients {
    private static final String[] SETTINGS = {"maxmemory 64mb", "shards 8"};

    @RegisterExtension
    public final ServerExtension servers = ServerExtension
            .of(ServerExtension.config(SETTINGS).with("io-threads", "3"));
    public RawClient admin;

    @BeforeEach
    void connectAdmin() throws IOException {
        admin = connect();
    }

    /** Starts another server, with so many event loops. */
    public VarveServer start(int loops) throws IOException {
        return servers.start(ServerExtension.config(SETTINGS).with("io-threads", Integer.toString(loops)));
    }

    public RawClient connect() throws IOException {
        return servers.connect();
    }

    public void restart(VarveServer other) throws IOException {
        servers.replace(other);
        admin = connect();
    }

    public static String execute(RawClient of, String words) throws IOException {
        return of.command(words.split(" ")).replace("\r\n", " ").strip();
    }

    public static void expect(RawClient of, String words, String expected) throws IOException {
        assertThat(execute(of, words)).as(words).isEqualTo(expected);
    }

    public static void gets(RawClient client, String expected) throws IOException {
        assertThat(client.reply().replace("\r\n", " ").strip()).isEqualTo(expected);
    }

    /** Sends commands in one piece. */
    public static void send(RawClient client, String... commands) throws IOException {
        for (String command : commands) {
            client.queue(command.split(" "));
        }
        client.flush();
    }

    /** A command waits for the key {@code k} for a short time in vain, and what is pushed afterwards is not for it. */
    public void endsWithNothing(String command, int protocol, String push, String count) throws IOException {
        RawClient a = connect();
        assertThat(execute(a, "HELLO " + protocol)).isNotEmpty();
        send(a, command, "PING");
        gets(a, protocol == 2 ? "*-1" : "_");
        gets(a, "+PONG");
        expect(a, push, ":1");
        expect(a, count, ":1");
        assertThat(admin.info("total_blocking_keys")).isEqualTo("0");
    }

    public void awaitBlocked(int count) {
        await().atMost(10, TimeUnit.SECONDS).pollInterval(5, TimeUnit.MILLISECONDS)
                .until(() -> admin.infoLong("blocked_clients") == count);
    }

    /** A client that waits, behind all that wait already. */
    public RawClient waiting(String... commands) throws IOException {
        long blocked = admin.infoLong("blocked_clients");
        RawClient client = connect();
        send(client, commands);
        awaitBlocked((int) blocked + 1);
        return client;
    }

    public static String id(RawClient client) throws IOException {
        return execute(client, "CLIENT ID").substring(1);
    }
}

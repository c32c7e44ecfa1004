package io.varve.server.command.varve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerOverFlash;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Pins in snapshots, in the log, in replicas and over flash. Confined to the test's thread. */
@Timeout(300)
class PinnedDataTest {
    private static final String OK = "+OK\r\n";
    private static final int KEYS = 300;

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private ServerConfig config(String name, String... settings) throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 4", "maxmemory-policy allkeys-lru",
                "enable-debug-command yes", "dir " + Files.createDirectories(directory.resolve(name)));
        for (String setting : settings) {
            String[] words = setting.split(" ", 2);
            config = config.with(words[0], words[1]);
        }
        return config.validate();
    }

    /** Every third key is pinned, in two databases; some expire. */
    private static void fill(RawClient client) throws IOException {
        for (String database : new String[] {"0", "5"}) {
            client.command("SELECT", database);
            for (int i = 0; i < KEYS; i++) {
                client.command("SET", "key" + i, "value" + i, "EX", Integer.toString(10_000 + i));
                if (i % 3 == 0) {
                    assertThat(client.command("VARVE.PIN", "key" + i)).isEqualTo(":1\r\n");
                }
            }
        }
        client.command("HSET", "hash", "field", "value");
        client.command("VARVE.PIN", "hash", "key1");
        client.command("VARVE.UNPIN", "key1");
    }

    private static void check(RawClient client) throws IOException {
        for (String database : new String[] {"0", "5"}) {
            client.command("SELECT", database);
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.call("DEBUG", "OBJECT", "key" + i).text().contains(" pinned:1")).as("key%d", i)
                        .isEqualTo(i % 3 == 0);
            }
        }
        assertThat(client.infoLong("pinned_keys")).isEqualTo(2 * KEYS / 3 + 1);
    }

    @Test
    void pinsAreInSnapshots() throws IOException {
        long bytes;
        try (VarveServer server = VarveServer.start(config("one")); RawClient client = new RawClient(server.port())) {
            fill(client);
            bytes = client.infoLong("pinned_bytes");
            assertThat(client.command("DEBUG", "RELOAD")).isEqualTo(OK);
            check(client);
            assertThat(client.command("SAVE")).isEqualTo(OK);
        }
        // The limit holds for new pins only.
        try (VarveServer server = VarveServer.start(config("one", "pin-max-bytes 0"));
                RawClient client = new RawClient(server.port())) {
            check(client);
            assertThat(client.infoLong("pinned_bytes")).isEqualTo(bytes);
        }
    }

    @Test
    void pinsAreInTheLog() throws IOException {
        try (VarveServer server = VarveServer.start(config("one", "appendonly yes"));
                RawClient client = new RawClient(server.port())) {
            fill(client);
        }
        try (VarveServer server = VarveServer.start(config("one", "appendonly yes", "pin-max-bytes 0"));
                RawClient client = new RawClient(server.port())) {
            check(client);
            assertThat(client.command("BGREWRITEAOF")).startsWith("+");
            while (client.infoLong("aof_rewrite_in_progress") + client.infoLong("aof_rewrite_scheduled") > 0) {
                Polling.pause();
            }
            client.command("SET", "key1", "other");
        }
        try (VarveServer server = VarveServer.start(config("one", "appendonly yes"));
                RawClient client = new RawClient(server.port())) {
            check(client);
        }
    }

    /** The first half by the full synchronization, the second by the stream. */
    @Test
    void pinsAreInReplicas() throws IOException {
        VarveServer primaryServer = servers.start(config("primary"));
        RawClient primary = servers.connect(primaryServer);
        RawClient replica = servers.connect(servers.start(config("replica", "pin-max-bytes 0")));
        primary.command("SET", "early", "value");
        primary.command("VARVE.PIN", "early");
        assertThat(replica.command("REPLICAOF", "127.0.0.1", Integer.toString(primaryServer.port()))).isEqualTo(OK);
        while (!replica.info("master_link_status").equals("up")) {
            Polling.pause();
        }
        assertThat(replica.call("DEBUG", "OBJECT", "early").text()).contains(" pinned:1");
        assertThat(replica.command("VARVE.UNPIN", "early")).startsWith("-READONLY");
        primary.command("VARVE.UNPIN", "early");
        fill(primary);
        assertThat(primary.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
        check(replica);
    }

    @Test
    void pinnedKeysAreNotDemoted() throws IOException {
        try (ServerOverFlash server = new ServerOverFlash(directory.resolve("flash"));
                RawClient client = server.connect()) {
            client.command("SET", "pinned", "value");
            client.command("SET", "other", "value");
            client.command("SET", "fallen", "value");
            client.command("VARVE.PIN", "pinned");
            server.drop("other", "fallen");
            assertThat(server.isInMemory(0, "pinned")).isTrue();
            assertThat(client.command("VARVE.PIN", "fallen")).as("it is fetched first").isEqualTo(":1\r\n");
            server.drop("other");
            assertThat(server.isInMemory(0, "fallen")).isTrue();
            assertThat(client.command("MGET", "pinned", "other", "fallen"))
                    .isEqualTo("*3\r\n$5\r\nvalue\r\n$5\r\nvalue\r\n$5\r\nvalue\r\n");
        }
    }
}

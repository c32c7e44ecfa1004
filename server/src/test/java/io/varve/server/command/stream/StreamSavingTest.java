package io.varve.server.command.stream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Streams of all forms survive restarts from a snapshot and from a rewritten log. Confined to the test's thread. */
@Timeout(300)
class StreamSavingTest {
    /** Whose pending entries take more than a part of the file that is written at once. */
    private static final int ENTRIES = 5000;
    private static final List<String> KEYS = List.of("small", "large", "groups", "empty");

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private VarveServer start(String log) throws IOException {
        return VarveServer.start(ServerExtension.config("maxmemory 64mb", "dir " + directory, "appendonly " + log,
                "enable-debug-command yes"));
    }

    private static void fill(RawClient client) throws IOException {
        for (int i = 1; i <= ENTRIES; i++) {
            client.command("XADD", "large", i + "-1", "f", "v" + i, "number", Integer.toString(i));
        }
        client.command("XGROUP", "CREATE", "large", "all", "0");
        client.command("XREADGROUP", "GROUP", "all", "c", "STREAMS", "large", ">");
        client.command("XDEL", "large", "7-1", "101-1");
        for (int i = 1; i <= 5; i++) {
            client.command("XADD", "small", i + "-1", "f", "v" + i);
            client.command("XADD", "groups", i + "-1", "f", "v" + i);
        }
        for (String group : List.of("a", "b")) {
            client.command("XGROUP", "CREATE", "groups", group, "1-1");
            client.command("XREADGROUP", "GROUP", group, "x", "COUNT", "2", "STREAMS", "groups", ">");
            client.command("XREADGROUP", "GROUP", group, "y", "COUNT", "1", "STREAMS", "groups", ">");
            client.command("XGROUP", "CREATECONSUMER", "groups", group, "idle");
        }
        client.command("XADD", "empty", "3-3", "f", "v");
        client.command("XDEL", "empty", "3-3");
        client.command("PEXPIREAT", "small", "40000000000000");
    }

    /** Without the active times, which type 19 does not have. */
    private static List<String> contents(RawClient client) throws IOException {
        List<String> contents = new ArrayList<>(List.of(client.call("DEBUG", "DIGEST").text()));
        for (String key : KEYS) {
            contents.add(client.command("XINFO", "STREAM", key, "FULL", "COUNT", "0")
                    .replaceAll("active-time\r\n:-?\\d+", "") + client.command("PTTL", key).length());
        }
        return contents;
    }

    @Test
    void snapshotsHaveStreams() throws IOException {
        List<String> before;
        try (VarveServer server = start("no"); RawClient client = new RawClient(server.port())) {
            fill(client);
            before = contents(client);
            assertThat(client.command("DEBUG", "RELOAD")).isEqualTo("+OK\r\n");
            assertThat(contents(client)).isEqualTo(before);
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
        }
        try (VarveServer server = start("no"); RawClient client = new RawClient(server.port())) {
            assertThat(contents(client)).isEqualTo(before);
            assertThat(client.call("XADD", "large", "6000-*", "f", "v").text()).isEqualTo("6000-0");
            assertThat(client.call("XPENDING", "large", "all").elements().getFirst().integer()).isEqualTo(ENTRIES);
            assertThat(client.call("XREADGROUP", "GROUP", "a", "new", "STREAMS", "groups", ">").elements()).hasSize(1);
        }
    }

    @Test
    void basesOfTheLogHaveStreams() throws IOException {
        List<String> before;
        try (VarveServer server = start("yes"); RawClient client = new RawClient(server.port())) {
            fill(client);
            client.command("BGREWRITEAOF");
            Awaitility.await().until(() -> client.call("INFO", "persistence").text()
                    .contains("aof_rewrite_in_progress:0"));
            assertThat(client.call("INFO", "persistence").text()).contains("aof_last_bgrewrite_status:ok");
            client.command("XACK", "groups", "a", "2-1");
            before = contents(client);
        }
        try (VarveServer server = start("yes"); RawClient client = new RawClient(server.port())) {
            assertThat(contents(client)).isEqualTo(before);
        }
    }

    @Test
    void replicasGetStreams() throws IOException {
        try (VarveServer primary = start("no");
                RawClient client = new RawClient(primary.port());
                VarveServer replica = VarveServer.start(ServerExtension.config("maxmemory 64mb",
                        "enable-debug-command yes", "dir " + Files.createDirectory(directory.resolve("replica"))));
                RawClient other = new RawClient(replica.port())) {
            fill(client);
            assertThat(other.call("REPLICAOF", "127.0.0.1", Integer.toString(primary.port())).text()).isEqualTo("OK");
            Awaitility.await().until(() -> other.call("INFO", "replication").text().contains("master_link_status:up"));
            assertThat(contents(other)).isEqualTo(contents(client));
            client.command("XREADGROUP", "GROUP", "b", "x", "STREAMS", "groups", ">");
            client.command("XADD", "empty", "*", "f", "v");
            assertThat(client.call("WAIT", "1", "10000").integer()).isEqualTo(1);
            assertThat(other.command("XPENDING", "groups", "b")).isEqualTo(client.command("XPENDING", "groups", "b"));
            assertThat(other.call("DEBUG", "DIGEST").text()).isEqualTo(client.call("DEBUG", "DIGEST").text());
        }
    }
}

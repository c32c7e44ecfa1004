package io.varve.server.following;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RedisTools;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Redis's Sentinel watches Varve, and fails over from one Varve to another. Confined to the test's thread. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SentinelIT {
    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private VarveServer start(String name, String... settings) throws IOException {
        Path folder = Files.createDirectories(directory.resolve(name));
        String[] all = new String[settings.length + 2];
        all[0] = "maxmemory 64mb";
        all[1] = "dir " + folder;
        System.arraycopy(settings, 0, all, 2, settings.length);
        return servers.start(all);
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    private static String follows(int port) {
        return "replicaof 127.0.0.1 " + port;
    }

    private static RawClient connect(Process process, int port) throws IOException {
        while (true) {
            try {
                return new RawClient(port);
            } catch (ConnectException notYet) {
                assertThat(process.isAlive()).as("the sentinel runs").isTrue();
            }
        }
    }

    /** A condition that a server's clients observe. */
    @FunctionalInterface
    private interface Condition {
        boolean holds(RawClient client) throws IOException;
    }

    /** Sentinel disconnects the clients of a server to which it gives another primary. */
    private static void await(int port, Condition condition) {
        while (true) {
            try (RawClient client = new RawClient(port)) {
                if (condition.holds(client)) {
                    return;
                }
            } catch (IOException disconnected) {
                // It connects again.
            }
            Polling.pause();
        }
    }

    private static int primaryPort(RawClient sentinel) throws IOException {
        return Integer.parseInt(
                sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "varve").elements().getLast().text());
    }

    @Test
    void fromAPrimaryThatIsGone_toAReplica_andTheOldOneComesBackAsAReplica() throws IOException, InterruptedException {
        RedisTools.require();
        int oldPort = freePort();
        VarveServer old = start("old", "port " + oldPort);
        VarveServer first = start("first", follows(oldPort), "replica-priority 10");
        VarveServer second = start("second", follows(oldPort), "replica-priority 20");
        int sentinelPort = freePort();
        Path settings = Files.write(directory.resolve("sentinel.conf"), List.of("port " + sentinelPort,
                "dir " + directory, "sentinel monitor varve 127.0.0.1 " + oldPort + " 1",
                "sentinel down-after-milliseconds varve 500", "sentinel failover-timeout varve 20000",
                "sentinel parallel-syncs varve 1"));
        Process process = new ProcessBuilder("redis-server", settings.toString(), "--sentinel")
                .redirectErrorStream(true).redirectOutput(directory.resolve("sentinel.log").toFile()).start();
        try (RawClient sentinel = connect(process, sentinelPort)) {
            try (RawClient client = new RawClient(oldPort)) {
                while (sentinel.call("SENTINEL", "REPLICAS", "varve").elements().size() < 2
                        || client.infoLong("connected_slaves") < 2) {
                    Polling.pause();
                }
                client.command("SET", "key", "value");
                assertThat(client.command("WAIT", "2", "0")).isEqualTo(":2\r\n");
            }
            old.close();
            while (primaryPort(sentinel) == oldPort) {
                Polling.pause();
            }
            assertThat(primaryPort(sentinel)).isEqualTo(first.port());
            try (RawClient client = new RawClient(first.port())) {
                assertThat(client.call("GET", "key").text()).isEqualTo("value");
                assertThat(client.command("SET", "key", "new")).isEqualTo("+OK\r\n");
                await(second.port(), other -> other.call("GET", "key").text().equals("new"));
                assertThat(client.infoLong("sync_full")).isZero();
                start("old", "port " + oldPort);
                await(oldPort, returned -> returned.info("role").equals("slave")
                        && returned.info("master_link_status").equals("up")
                        && returned.call("GET", "key").text().equals("new"));
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}

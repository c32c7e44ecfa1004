package io.varve.server.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.server.ServerOnDisk;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Servers whose log has no room, or belongs to another process. Confined to the test's thread. */
@Timeout(300)
class LogDiskIT {
    private static final int KEYS = 20;

    @TempDir
    Path directory;

    private String[] settings(String sync) {
        return new String[] {"--dir", directory.toString(), "--appendonly", "yes", "--appendfsync", sync, "--maxmemory",
                "64mb"};
    }

    /** No file of this process may become larger than some 100 KB. */
    private static List<String> withFullDisk(List<String> command) {
        List<String> limited = new ArrayList<>(List.of("sh", "-c", "ulimit -f 200; exec \"$@\"", "sh"));
        limited.addAll(command);
        return limited;
    }

    @Test
    void writesAreRefusedWithoutRoom_andWhatWasAcknowledgedIsThereAfterwards()
            throws IOException, InterruptedException {
        AtomicInteger acknowledged = new AtomicInteger();
        try (ServerProcess server = ServerProcess.start(LogDiskIT::withFullDisk, settings("always"));
                RawClient client = new RawClient(server.port())) {
            Thread writer = Thread.ofPlatform().start(() -> write(server.port(), acknowledged));
            while (client.info("aof_last_write_status").equals("ok")) {
                Polling.pause();
            }
            assertThat(client.command("SET", "refused", "1"))
                    .startsWith("-MISCONF Errors writing to the AOF file: ");
            client.queue("MULTI");
            client.queue("SET", "refused", "1");
            client.queue("EXEC");
            client.flush();
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(client.read().text()).startsWith("MISCONF");
            assertThat(client.read().text()).startsWith("EXECABORT");
            assertThat(client.call("GET", "key0").text()).startsWith("value");
            server.process().destroyForcibly();
            writer.join();
        }
        assertThat(acknowledged.get()).isPositive();
        try (ServerProcess server = ServerProcess.start(settings("always"));
                RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < acknowledged.get(); i++) {
                assertThat(client.call("EXISTS", "key" + i).integer()).as("key%s", i).isEqualTo(1);
            }
            assertThat(client.call("EXISTS", "refused").integer()).isZero();
        }
    }

    private static void write(int port, AtomicInteger acknowledged) {
        try (RawClient client = new RawClient(port)) {
            while (true) {
                String reply = client.command("SET", "key" + acknowledged.get(), "value".repeat(100));
                if (!reply.equals("+OK\r\n")) {
                    return;
                }
                acknowledged.incrementAndGet();
            }
        } catch (IOException killed) {
            // The last command was not acknowledged.
            return;
        }
    }

    /** The base does not fit: the old log stays, and goes on. */
    @Test
    void rewriteWithoutRoom_fails_andWhatWasAcknowledgedIsThereAfterwards() throws IOException {
        try (ServerProcess server = ServerProcess.start(LogDiskIT::withFullDisk, settings("always"));
                RawClient client = new RawClient(server.port())) {
            // It is in the log once, and in memory many times.
            assertThat(client.call("SETRANGE", "long", "60000", "x").integer()).isEqualTo(60_001);
            for (int i = 0; i < KEYS; i++) {
                client.queue("COPY", "long", "copy" + i);
            }
            client.flush();
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.read().integer()).isOne();
            }
            assertThat(client.command("CONFIG", "SET", "rdbcompression", "no")).isEqualTo("+OK\r\n");
            assertThat(client.command("BGREWRITEAOF")).startsWith("+");
            while (client.info("aof_last_bgrewrite_status").equals("ok")) {
                Polling.pause();
            }
            assertThat(client.info("aof_last_write_status")).isEqualTo("ok");
            assertThat(client.command("SET", "after", "1")).isEqualTo("+OK\r\n");
            server.process().destroyForcibly();
        }
        try (ServerProcess server = ServerProcess.start(settings("always"));
                RawClient client = new RawClient(server.port())) {
            assertThat(client.call("STRLEN", "copy0").integer()).isEqualTo(60_001);
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS + 2);
            assertThat(client.call("GET", "after").text()).isEqualTo("1");
        }
    }

    /** Nobody knows what is on disk then. */
    @Test
    void processWhoseDiskCannotForce_ends_andKeepsWhatWasAcknowledged() throws IOException, InterruptedException {
        AtomicInteger acknowledged = new AtomicInteger();
        try (ServerProcess server = ServerProcess.start(ServerOnDisk::commandLine, settings("always"))) {
            Thread writer = Thread.ofPlatform().start(() -> write(server.port(), acknowledged));
            while (acknowledged.get() < KEYS) {
                Thread.onSpinWait();
            }
            server.process().getOutputStream().write('\n');
            server.process().getOutputStream().flush();
            writer.join();
            assertThat(server.awaitEnd(60)).isOne();
            assertThat(server.errors()).contains(
                    "The process ends: the log could not be forced to disk: Input/output error");
        }
        try (ServerProcess server = ServerProcess.start(settings("always"));
                RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < acknowledged.get(); i++) {
                assertThat(client.call("EXISTS", "key" + i).integer()).as("key%s", i).isOne();
            }
        }
    }

    @Test
    void secondServerOnOneDirectory_doesNotStart() throws IOException {
        try (ServerProcess first = ServerProcess.start(settings("everysec"));
                RawClient client = new RawClient(first.port())) {
            assertThatThrownBy(() -> ServerProcess.start(settings("everysec")).close()).isInstanceOf(IOException.class)
                    .hasMessageContaining("another process uses this log");
            assertThat(client.command("SET", "key", "1")).isEqualTo("+OK\r\n");
        }
    }
}

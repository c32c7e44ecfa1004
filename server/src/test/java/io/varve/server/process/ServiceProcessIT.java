package io.varve.server.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.config.StockConfigurationTest;
import io.varve.server.system.NotifySocket;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Runs a server as a systemd service, with the unit file that Debian installs. Confined to the test's thread. */
class ServiceProcessIT {
    /** SIGTERM drains within this. */
    private static final int DRAIN_SECONDS = 10;

    /** Its name is short: a socket's path may have some 100 bytes. */
    private Path folder;

    @BeforeEach
    void create() throws IOException {
        folder = Files.createTempDirectory("varve");
    }

    @AfterEach
    void delete() throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /** The file, but for where its files are and for the port. */
    private Path stock() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line : StockConfigurationTest.lines("redis-7.0-debian.conf")) {
            String name = line.substring(0, line.indexOf(' '));
            lines.add(switch (name) {
                case "dir" -> "dir " + folder;
                case "logfile" -> "logfile log";
                case "pidfile" -> "pidfile " + folder.resolve("pid");
                case "port" -> "port 0";
                default -> line;
            });
        }
        return Files.write(folder.resolve("redis.conf"), lines);
    }

    @Test
    void aServiceNotifiesSystemd_logsToItsFile_writesItsPid_ignoresHangup_andCleansUp() throws Exception {
        Path notify = folder.resolve("notify");
        Path pidFile = folder.resolve("pid");
        Path log = folder.resolve("log");
        Files.writeString(log, "before\n");
        Files.writeString(pidFile, "an old one\n");
        try (NotifySocket systemd = new NotifySocket(notify.toString());
                ServerProcess server = ServerProcess.start(command -> {
                    List<String> with = new ArrayList<>(command);
                    with.add(with.indexOf("env") + 1, "NOTIFY_SOCKET=" + notify);
                    return with;
                }, "--include", stock().toString(), "--supervised", "systemd", "--daemonize", "no", "--maxmemory",
                        "64mb");
                RawClient client = new RawClient(server.port())) {
            String pid = Long.toString(server.process().pid());
            await().until(systemd::next, message -> message.startsWith("READY=1\n") && message.contains("=" + pid));
            assertThat(pidFile).hasContent(pid);
            assertThat(client.call("INFO", "server").text()).contains("\r\nprocess_supervised:systemd\r\n");
            assertThat(log).content().startsWith("before\n").contains("INFO");
            assertThat(Files.readAllLines(log)).filteredOn(line -> line.contains("without effect")).singleElement()
                    .asString().contains("set-proc-title yes", "disable-thp yes").doesNotContain("appendonly");
            assertThat(server.errors()).doesNotContain("INFO ", "ERROR");
            assertThat(ignoredSignals(pid) & 1).isEqualTo(1);
            assertThat(new ProcessBuilder("kill", "-HUP", pid).start().waitFor()).isZero();
            assertThat(client.call("PING").text()).isEqualTo("PONG");
            assertThat(new ProcessBuilder("kill", "-TERM", pid).start().waitFor()).isZero();
            assertThat(server.awaitEnd(DRAIN_SECONDS)).isZero();
            assertThat(systemd.next()).startsWith("STOPPING=1\n");
            assertThat(pidFile).doesNotExist();
        }
    }

    /** The lowest bit is SIGHUP. */
    private static long ignoredSignals(String pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", pid, "status"))) {
            if (line.startsWith("SigIgn:")) {
                return Long.parseUnsignedLong(line.substring(line.indexOf(':') + 1).strip(), 16);
            }
        }
        throw new IOException("The kernel says nothing of SigIgn");
    }

    @Test
    void withoutTheUnitsOptionsItIsRefused_andNothingIsWritten() throws Exception {
        Path file = stock();
        Process process = new ProcessBuilder(ServerProcess.command(List.of(file.toString()))).start();
        String errors = new String(process.getErrorStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(2);
        assertThat(errors.lines().filter(line -> line.startsWith("varve: "))).singleElement().asString()
                .startsWith("varve: " + file + ":").contains(": daemonize yes: expected no");
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }
}

package io.varve.server.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the end of a server's process, and its exit status. Confined to the test's thread, except the load's. */
class ProcessEndIT {
    /** SIGTERM drains within this. */
    private static final int DRAIN_SECONDS = 10;

    @TempDir
    Path empty;

    @ParameterizedTest
    @CsvSource({"TERM", "INT"})
    void aSignalUnderLoadEndsItInTimeWithSuccess(String signal) throws Exception {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "64mb")) {
            AtomicLong answered = new AtomicLong();
            List<String> wrong = new ArrayList<>();
            Thread load = Thread.ofPlatform().start(() -> load(server.port(), answered, wrong));
            await().until(() -> answered.get() > 2_000);
            new ProcessBuilder("kill", "-" + signal, Long.toString(server.process().pid())).start().waitFor();
            assertThat(server.awaitEnd(DRAIN_SECONDS)).as(server.errors()).isZero();
            load.join(10_000);
            assertThat(load.isAlive()).isFalse();
            assertThat(wrong).isEmpty();
            assertThat(server.errors()).doesNotContain("ERROR", "Exception");
        }
    }

    /** Increments until the connection ends; each reply is whole and one more than the one before. */
    private static void load(int port, AtomicLong answered, List<String> wrong) {
        try (RawClient client = new RawClient(port)) {
            while (true) {
                for (int i = 0; i < 50; i++) {
                    client.write(
                            List.of("INCR".getBytes(java.nio.charset.StandardCharsets.US_ASCII), new byte[] {'n'}));
                }
                client.flush();
                for (int i = 0; i < 50; i++) {
                    String reply = client.reply();
                    if (!reply.equals(":" + answered.incrementAndGet() + "\r\n")) {
                        wrong.add(reply);
                    }
                }
            }
        } catch (IOException ended) {
            // The end of the connection is what ends the load: a reply before it was checked.
            answered.getAndUpdate(count -> count);
        }
    }

    @Test
    void shutdownEndsItWithSuccess() throws Exception {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "64mb");
                RawClient client = new RawClient(server.port())) {
            assertThat(client.send(RawClient.encode("SHUTDOWN", "NOSAVE")).readToEnd()).isEmpty();
            assertThat(server.awaitEnd(DRAIN_SECONDS)).isZero();
        }
    }

    @Test
    void aKilledProcessLeavesNothingBehind() throws Exception {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "64mb", "--dir", empty.toString());
                RawClient client = new RawClient(server.port())) {
            assertThat(client.command("SET", "k", "x".repeat(1 << 20))).isEqualTo("+OK\r\n");
            List<Path> shared = sharedMemory();
            server.process().destroyForcibly();
            assertThat(server.awaitEnd(DRAIN_SECONDS)).isEqualTo(128 + 9);
            assertThat(sharedMemory()).isSubsetOf(shared);
            try (var files = Files.list(empty)) {
                assertThat(files).isEmpty();
            }
            String perfData = "hsperfdata_" + System.getProperty("user.name");
            assertThat(Path.of(System.getProperty("java.io.tmpdir"), perfData,
                    Long.toString(server.process().pid()))).doesNotExist();
            try (ServerProcess next = ServerProcess.start("--maxmemory", "64mb", "--port",
                    Integer.toString(server.port()))) {
                assertThat(next.port()).isEqualTo(server.port());
            }
        }
    }

    private static List<Path> sharedMemory() throws IOException {
        Path directory = Path.of("/dev/shm");
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().contains("varve")).toList();
        }
    }

    @ParameterizedTest
    @CsvSource({"--nosuch 1,2,nosuch", "--maxmemory many,2,maxmemory", "--maxmemory 1000000tb,2,maxmemory",
            "--maxmemory-policy none,2,maxmemory-policy", "/no/such.conf,2,such.conf",
            "--bind 203.0.113.1,1,203.0.113.1"})
    void aBadSettingIsNamedInOneLine(String arguments, int status, String named) throws Exception {
        Process process = new ProcessBuilder(ServerProcess.command(List.of((arguments + " --port 0 --loglevel nothing")
                .replaceFirst("^(.* --port) 0 (.*)$", "$1 0 $2").split(" ")))).start();
        String errors = new String(process.getErrorStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(errors).isEqualTo(status);
        assertThat(errors.lines().filter(line -> line.startsWith("varve: "))).singleElement().asString()
                .contains(named);
    }
}

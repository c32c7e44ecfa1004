package io.varve.server.pressure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests a server whose system refuses it address space, at start or while it runs. Confined to the test's thread. */
@EnabledOnOs(OS.LINUX)
class RefusedMemoryIT {
    private static final long MB = 1 << 20;
    private static final String OOM = "OOM command not allowed when used memory > 'maxmemory'.";

    /** A command line under a limit of address space, as {@code ulimit -v} sets it. */
    private static List<String> limited(long bytes, List<String> command) {
        List<String> limited = new ArrayList<>(List.of("prlimit", "--as=" + bytes));
        limited.addAll(command);
        return limited;
    }

    @Test
    void theStartErrorNamesARemedy() throws Exception {
        List<String> command = limited(3_000 * MB,
                ServerProcess.command(List.of("--port", "0", "--maxmemory", "8gb")));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(output).contains("varve: maxmemory 8589934592", "lower maxmemory", "ulimit -v")
                .doesNotContain("Exception", "\tat ");
        assertThat(process.exitValue()).isOne();
    }

    /** There are addresses for maxmemory, but none for more: it cannot be raised then. */
    @Test
    void withLittleAddressSpaceItServes() throws Exception {
        try (ServerProcess server = ServerProcess.start(command -> limited(2_000 * MB, command), "--maxmemory",
                "256mb");
                RawClient client = new RawClient(server.port())) {
            String value = "v".repeat(10_000);
            for (int i = 0; i < 20_000; i++) {
                assertThat(client.command("SET", "key:" + i, value)).as("key %d", i).isEqualTo("+OK\r\n");
            }
            assertThat(client.command("CONFIG", "SET", "maxmemory", "8gb")).startsWith("-ERR").contains("maxmemory",
                    "start with a larger maxmemory");
            assertThat(client.command("CONFIG", "SET", "maxmemory", "255mb")).isEqualTo("+OK\r\n");
            assertThat(client.call("GET", "key:19999").text()).isEqualTo(value);
        }
    }

    @Test
    void runningServersContinueWithoutNewMemory() throws Exception {
        String large = "l".repeat(100 << 20);
        try (ServerProcess server = ServerProcess.start("--maxmemory", "512mb");
                RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 1000; i++) {
                assertThat(client.command("SET", "key:" + i, "value", "EX", "1000")).isEqualTo("+OK\r\n");
            }
            // The JVM needs some more from time to time; a run of 100 MB takes 128 MB of address space.
            limit(server, Long.toString(server.memoryBytes("VmSize") + 96 * MB));
            assertThat(client.call("SET", "large", large).text()).isEqualTo(OOM);
            assertThat(client.call("SET", "key:1", large).text()).isEqualTo(OOM);
            for (int i = 0; i < 1000; i++) {
                assertThat(client.command("GET", "key:" + i)).isEqualTo("$5\r\nvalue\r\n");
                assertThat(client.command("SET", "more:" + i, "value")).isEqualTo("+OK\r\n");
            }
            assertThat(client.call("EXISTS", "large").integer()).isZero();
            limit(server, "unlimited");
            assertThat(client.call("SET", "large", large).text()).isEqualTo("OK");
            assertThat(client.call("STRLEN", "large").integer()).isEqualTo(large.length());
            assertThat(client.call("DBSIZE").integer()).isEqualTo(2001);
            assertThat(server.errors()).doesNotContain("ERROR");
        }
    }

    private static void limit(ServerProcess server, String bytes) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("prlimit", "--pid", Long.toString(server.process().pid()),
                "--as=" + bytes + ":").inheritIO().start();
        assertThat(process.waitFor()).isZero();
    }
}

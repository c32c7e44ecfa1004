package io.varve.cluster.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.cluster.controller.Controller;
import io.varve.cluster.controller.ControllerConfig;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.testing.FreePorts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Settings of the verb {@code controller} that start nothing. Confined to the test's thread. */
final class ControllerMainTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return ControllerMain.execute(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    private void refuse(String message, String... arguments) {
        err.getBuffer().setLength(0);
        assertThat(run(arguments)).isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().asString().startsWith("varve: ").contains(message);
    }

    @Test
    void wrongSettings_areNamedInOneLine() {
        String dir = directory.toString();
        refuse("--dir", "--port", "7100");
        refuse("'--colour'", "--port", "7100", "--dir", dir, "--colour", "blue");
        refuse("'x'", "--port", "x", "--dir", dir);
        refuse("expected an ID, a host and a port from 1 to 65535", "--port", "0", "--dir", dir);
        refuse("expected ID@HOST:PORT", "--port", "7100", "--dir", dir, "--peers", "a@b");
        refuse("2 controllers: expected 1, 3 or 5", "--port", "1", "--dir", dir, "--peers", "a@h:1,b@h:2");
        refuse("given twice", "--port", "1", "--dir", dir, "--peers", "a@h:1,a@h:2,c@h:3");
        refuse("0 entries have the port 9", "--port", "9", "--dir", dir, "--peers", "a@h:1");
        refuse("3 entries have the port 1", "--port", "1", "--dir", dir, "--peers", "a@h:1,b@i:1,c@j:1");
        refuse("id 'z': expected one of the IDs", "--port", "1", "--dir", dir, "--peers", "a@h:1", "--id", "z");
        refuse("port 2: expected 1", "--port", "2", "--dir", dir, "--peers", "a@h:1", "--id", "a");
        refuse("lease-ms 500: expected 3 times heartbeat-ms (200)", "--port", "1", "--dir", dir, "--lease-ms", "500");
        refuse("heartbeat-ms 1: expected at least 10", "--port", "1", "--dir", dir, "--heartbeat-ms", "1");
    }

    @Test
    void settingsOfAFile_areOverriddenByOptions() throws IOException {
        Path file = directory.resolve("controller.conf");
        Files.writeString(file, "# a controller\n\nport 7100\ndir \"" + directory + "\"\nlease-ms 5\n");
        refuse("lease-ms 5: expected", file.toString());
        refuse("lease-ms 6: expected", file.toString(), "--lease-ms", "6");
        Files.writeString(file, "port\n");
        refuse("setting 'port' has no value", file.toString());
        refuse("there is no such file", directory.resolve("none").toString());
    }

    @Test
    void portInUse_isToldInOneLine() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(run("--port", Integer.toString(taken.getLocalPort()), "--dir",
                    directory.resolve("data").toString())).isEqualTo(1);
        }
        assertThat(err.toString().lines()).singleElement().asString().contains("cannot start on 127.0.0.1:")
                .contains("in use");
    }

    @Test
    void directoryInUse_isToldInOneLine() throws IOException {
        List<ControllerAddress> ports = FreePorts.controllers(2);
        Path data = directory.resolve("data");
        ControllerAddress first = ports.getFirst();
        try (Controller _ = Controller.start(new ControllerConfig(first.id(), data, List.of(first)))) {
            assertThat(run("--port", Integer.toString(ports.getLast().port()), "--dir", data.toString())).isEqualTo(1);
        }
        assertThat(err.toString().lines()).singleElement().asString()
                .startsWith("varve: the controller cannot start on")
                .contains("already locked");
    }

    @Test
    void help_namesTheOptions() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString()).contains("Usage: controller [FILE]", "--peers", "--dir", "--lease-ms", "(1000)");
        assertThat(err.toString()).isEmpty();
    }
}

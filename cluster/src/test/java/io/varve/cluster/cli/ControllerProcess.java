package io.varve.cluster.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.varve.cluster.protocol.ControllerAddress;

/** A controller in its own process. Confined to the test's thread. */
final class ControllerProcess implements AutoCloseable {
    private final Process process;
    private final Path errors;

    private ControllerProcess(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
    }

    /**
     * Starts a controller, and does not wait until it is ready.
     *
     * @param maxFileKilobytes no file of the process may become larger; 0: no limit
     */
    static ControllerProcess start(List<ControllerAddress> all, ControllerAddress own, Path directory,
            int maxFileKilobytes) throws IOException {
        List<String> command = new ArrayList<>();
        if (maxFileKilobytes > 0) {
            command.addAll(List.of("sh", "-c", String.format(Locale.ROOT, "ulimit -f %d; exec \"$@\"",
                    2 * maxFileKilobytes), "sh"));
        }
        command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                "io.varve.cluster.cli.ControllerMain", "--port", Integer.toString(own.port()), "--dir",
                directory.toString(), "--peers", all.stream().map(one -> one.id() + "@" + one.address())
                        .collect(Collectors.joining(","))));
        Path errors = Files.createTempFile("varve-controller", ".log");
        return new ControllerProcess(new ProcessBuilder(command).redirectError(errors.toFile()).start(), errors);
    }

    // The reader is not closed: the process would be refused its standard output.
    @SuppressWarnings("resource")
    ControllerProcess awaitReady() throws IOException {
        BufferedReader reader = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.equals("Ready to accept connections")) {
                return this;
            }
        }
        throw new IOException("The controller did not start: " + errors());
    }

    String errors() throws IOException {
        return Files.readString(errors);
    }

    /** Sends a signal, such as STOP. */
    void signal(String name) throws IOException, InterruptedException {
        int status = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start()
                .waitFor();
        if (status != 0) {
            throw new IOException("kill -" + name + " ended with " + status);
        }
    }

    /** Ends it with SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** @return the exit status, or -1 if it has not ended in time */
    int awaitEnd(int seconds) throws InterruptedException {
        return process.waitFor(seconds, TimeUnit.SECONDS) ? process.exitValue() : -1;
    }

    @Override
    public void close() throws IOException {
        try {
            kill();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(errors);
    }
}

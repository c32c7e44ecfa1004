package io.varve.server.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import io.varve.cluster.protocol.ControllerAddress;
import io.varve.server.cluster.machine.TestClock;
import io.varve.server.testing.ServerProcess;

/** A controller or a member that starts again with the same port and folder. Confined to the test's thread. */
final class ClusterProcess implements AutoCloseable {
    private static final String READY = "Ready to accept connections";
    private static final int END_SECONDS = 60;

    private final List<String> command;
    private final String host;
    private final int port;
    private final Path log;
    private final TestClock clock;
    private Process process;

    private ClusterProcess(UnaryOperator<List<String>> on, List<String> command, String host, int port, Path folder)
            throws IOException {
        clock = TestClock.in(folder.resolveSibling(folder.getFileName() + ".clock"));
        this.command = on.apply(clock.with(command));
        this.host = host;
        this.port = port;
        log = folder.resolveSibling(folder.getFileName() + ".log");
        process = begin();
    }

    /** @param on makes a command line run on its host */
    static ClusterProcess controller(UnaryOperator<List<String>> on, List<ControllerAddress> all,
            ControllerAddress own, int leaseMillis, Path folder) throws IOException {
        List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                "io.varve.cluster.cli.ControllerMain", "--port", Integer.toString(own.port()), "--dir",
                folder.toString(), "--lease-ms", Integer.toString(leaseMillis), "--peers",
                all.stream().map(one -> one.id() + "@" + one.address())
                        .collect(Collectors.joining(",")));
        return new ClusterProcess(on, command, own.host(), own.port(), folder);
    }

    /**
     * @param on makes a command line run on its host
     * @param hasLog whether it starts again with its data
     */
    static ClusterProcess member(UnaryOperator<List<String>> on, String host, String controllers, int port,
            Path folder, boolean hasLog) throws IOException {
        List<String> arguments = List.of("--bind", host, "--protected-mode", "no", "--port", Integer.toString(port),
                "--dir", folder.toString(), "--cluster-enabled", "yes", "--cluster-controllers", controllers,
                "--maxmemory", "64mb", "--save", "", "--appendonly", hasLog ? "yes" : "no");
        return new ClusterProcess(on, ServerProcess.command(arguments), host, port, folder);
    }

    private Process begin() throws IOException {
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    /** Its time of day. */
    TestClock clock() {
        return clock;
    }

    boolean isRunning() {
        return process.isAlive();
    }

    /** Ends it with SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Ends it with SIGTERM, and waits until it has ended. */
    void terminate() throws InterruptedException {
        process.destroy();
        awaitEnd();
    }

    /** Waits until it has ended by itself. */
    void awaitEnd() throws InterruptedException {
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the process has not ended within " + END_SECONDS + " s");
        }
    }

    /** Starts it again after {@link #kill} or {@link #terminate}; does not wait until it is ready. */
    void restart() throws IOException {
        process = begin();
    }

    /** Sends a signal, such as STOP. */
    void signal(String name) throws IOException, InterruptedException {
        int status = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start()
                .waitFor();
        if (status != 0) {
            throw new IOException("kill -" + name + " ended with " + status);
        }
    }

    // The reader is not closed: the process would be refused its standard output.
    @SuppressWarnings("resource")
    ClusterProcess awaitReady() throws IOException {
        BufferedReader reader = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.contains(READY)) {
                return this;
            }
        }
        throw new IOException("The process did not start: " + errors());
    }

    String errors() throws IOException {
        return Files.exists(log) ? Files.readString(log) : "";
    }

    @Override
    public void close() {
        try {
            kill();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

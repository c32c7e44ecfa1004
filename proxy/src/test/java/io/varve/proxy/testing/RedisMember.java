package io.varve.proxy.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.resp.Reply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** A real redis-server in a process of its own. Confined to the test's thread. */
public final class RedisMember implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;
    private static final Duration START = Duration.ofSeconds(20);

    private final int port;
    private final Path folder;
    private final List<String> options;
    private Process process;

    private RedisMember(int port, Path folder, List<String> options) throws IOException {
        this.port = port;
        this.folder = folder;
        this.options = options;
        process = launch();
    }

    /** Starts a server without a cluster. */
    public static RedisMember start(String... options) throws IOException {
        requireTools();
        RedisMember member = new RedisMember(freePort(), Files.createTempDirectory("varve-proxy"), List.of(options));
        member.awaitReady();
        return member;
    }

    /** Starts a cluster of so many primaries without replicas. */
    public static List<RedisMember> startCluster(int members) throws IOException, InterruptedException {
        List<RedisMember> started = new ArrayList<>();
        List<String> create = new ArrayList<>(List.of("redis-cli", "--cluster", "create"));
        for (int i = 0; i < members; i++) {
            RedisMember member = start("--cluster-enabled", "yes", "--cluster-port", Integer.toString(freePort()),
                    "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "2000");
            started.add(member);
            create.add(member.address());
        }
        create.add("--cluster-yes");
        Process creation = new ProcessBuilder(create).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        assertThat(creation.waitFor(1, TimeUnit.MINUTES)).isTrue();
        for (RedisMember member : started) {
            await().atMost(START)
                    .until(() -> member.call("CLUSTER", "INFO").textOrEmpty().contains("cluster_state:ok"));
        }
        return started;
    }

    private static void requireTools() {
        boolean isInstalled = Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "redis-server")));
        if ("1".equals(System.getenv("VARVE_REQUIRE_REDIS_TOOLS"))) {
            assertThat(isInstalled).as("redis-server is on the PATH").isTrue();
        }
        assumeTrue(isInstalled, "redis-server is not on the PATH");
    }

    /** A port that was free just now. */
    public static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private Process launch() throws IOException {
        List<String> command = new ArrayList<>(List.of("redis-server", "--port", Integer.toString(port), "--bind",
                "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.toString()));
        command.addAll(options);
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }

    private void awaitReady() {
        await().atMost(START).ignoreExceptions().until(() -> call("PING").text() != null);
    }

    public int port() {
        return port;
    }

    /** HOST:PORT. */
    public String address() {
        return "127.0.0.1:" + port;
    }

    /** A new connection to the server. */
    public BlockingConnection connect() throws IOException {
        return new BlockingConnection(new Endpoint("127.0.0.1", port), TIMEOUT_MILLIS, null);
    }

    /** The reply to a command on a new connection. */
    public Reply call(String... words) throws IOException {
        try (BlockingConnection connection = connect()) {
            return connection.call(words);
        }
    }

    /** Stops the process without its end: SIGSTOP. */
    public void freeze() throws IOException, InterruptedException {
        signal("-STOP");
    }

    /** Lets the process go on. */
    public void thaw() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", name, Long.toString(process.pid())).start().waitFor()).isZero();
    }

    /** Kills the process. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Starts the killed server again, empty. */
    public void restart() throws IOException {
        process = launch();
        awaitReady();
    }

    /** Kills the process and removes its files. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

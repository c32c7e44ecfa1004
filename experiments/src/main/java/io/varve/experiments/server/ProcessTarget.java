package io.varve.experiments.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.wire.RespConnection;
import org.jspecify.annotations.Nullable;

/**
 * A server in its own process, which we start and stop. Confined to the thread that opened it, except {@link #death},
 * which any thread may call.
 */
final class ProcessTarget implements Target {
    private static final long START_MILLIS = 60_000;
    private static final long STOP_SECONDS = 15;
    private static final long POLL_MILLIS = 5;

    private final Process process;
    private final int port;
    private final List<String> command;
    private final Path log;
    private final @Nullable Path pauseLog;
    private final long startNanos;
    private double startSeconds = Double.NaN;

    private ProcessTarget(Process process, int port, List<String> command, Path log, @Nullable Path pauseLog,
            long startNanos) {
        this.process = process;
        this.port = port;
        this.command = command;
        this.log = log;
        this.pauseLog = pauseLog;
        this.startNanos = startNanos;
    }

    /**
     * Starts a process and waits until it replies to PING on the port.
     *
     * @param log receives its output
     * @param pauseLog where its JVM logs its pauses; null if it does not
     */
    static ProcessTarget start(List<String> command, Map<String, String> environment, int port, Path log,
            @Nullable Path pauseLog) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        if (pauseLog != null) {
            // The option is split at spaces, so it cannot name a folder that has one.
            builder.directory(Objects.requireNonNull(pauseLog.getParent()).toFile());
        }
        long startNanos = System.nanoTime();
        ProcessTarget target = new ProcessTarget(builder.start(), port, List.copyOf(command), log, pauseLog,
                startNanos);
        target.process.getOutputStream().close();
        try {
            target.awaitReady();
            return target;
        } catch (IOException e) {
            target.close();
            throw e;
        }
    }

    private void awaitReady() throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
        IOException last = new IOException("no attempt was made");
        while (System.nanoTime() < deadline) {
            if (!process.isAlive()) {
                throw new IOException(
                        "the server ended during its start with status " + process.exitValue() + ": " + logTail());
            }
            try (RespConnection connection = new RespConnection(host(), port)) {
                connection.call("PING");
                startSeconds = (System.nanoTime() - startNanos) / 1e9;
                return;
            } catch (IOException e) {
                last = e; // not listening yet, or still loading
            }
            try {
                process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while the server started", e);
            }
        }
        throw new IOException("the server did not answer PING within " + START_MILLIS / 1000 + " s: " + logTail(),
                last);
    }

    private String logTail() throws IOException {
        List<String> lines = Files.readString(log).lines().toList();
        return String.join(" | ", lines.subList(Math.max(0, lines.size() - 3), lines.size()));
    }

    @Override
    public String host() {
        return "127.0.0.1";
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.of(process.pid());
    }

    @Override
    public String startedBy() {
        return String.join(" ", command);
    }

    @Override
    public OptionalDouble startSeconds() {
        return OptionalDouble.of(startSeconds);
    }

    @Override
    public Optional<Path> pauseLog() {
        return Optional.ofNullable(pauseLog);
    }

    @Override
    public @Nullable String death() {
        return process.isAlive() ? null : "the server ended with status " + process.exitValue();
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the server stopped", e);
        }
    }
}

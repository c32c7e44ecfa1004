package io.varve.experiments.run.context;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.Sample;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * Samples INFO of a server periodically, every second by default, over its own connection. The samples are guarded by
 * {@code this}; its own thread adds to them. It writes each reply to disk at once, so that the measurements survive any
 * failure.
 */
public final class Monitor implements AutoCloseable {
    private final Target target;
    private final LoadGauge gauge;
    private final BufferedWriter csv;
    private final InfoCsv all;
    private final Thread thread = Thread.ofPlatform().daemon().name("monitor").unstarted(this::watch);
    private final long startNanos;
    private final long periodNanos;
    private final List<Sample> samples = new ArrayList<>();
    private volatile boolean closed;
    private volatile @Nullable String fault;

    private Monitor(Target target, LoadGauge gauge, Path directory, long startNanos, int everySeconds)
            throws IOException {
        this.target = target;
        this.gauge = gauge;
        this.startNanos = startNanos;
        this.periodNanos = TimeUnit.SECONDS.toNanos(everySeconds);
        this.csv = Files.newBufferedWriter(directory.resolve(RunFiles.MEMORY_CSV));
        csv.write(Sample.CSV_HEADER + "\n");
        this.all = new InfoCsv(directory.resolve(RunFiles.INFO_CSV));
    }

    /**
     * @param startNanos the run's beginning, by System.nanoTime()
     * @param everySeconds sampling interval
     */
    public static Monitor start(Target target, LoadGauge gauge, Path directory, long startNanos, int everySeconds)
            throws IOException {
        Monitor monitor = new Monitor(target, gauge, directory, startNanos, everySeconds);
        monitor.thread.start();
        return monitor;
    }

    private void watch() {
        try (RespConnection connection = new RespConnection(target.host(), target.port()); csv; all) {
            for (long due = startNanos; !closed; due += periodNanos) {
                long wait = due - System.nanoTime();
                while (wait > 0 && !closed) {
                    LockSupport.parkNanos(this, wait);
                    wait = due - System.nanoTime();
                }
                sample(connection);
            }
        } catch (IOException | IllegalArgumentException e) {
            if (!closed) {
                fault = "the monitor stopped: " + e.getMessage();
            }
        }
    }

    private void sample(RespConnection connection) throws IOException {
        String text = connection.call("INFO");
        long elapsedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        ServerInfo info = ServerInfo.parse(text);
        Sample sample = Sample.of(elapsedMillis, info, gauge.operationsPerSecond());
        synchronized (this) {
            samples.add(sample);
        }
        csv.write(sample.csv() + "\n");
        csv.flush();
        all.add(elapsedMillis, info);
    }

    /** The reason why sampling has ended; null while it continues. */
    @Nullable
    String fault() {
        return fault;
    }

    public synchronized List<Sample> samples() {
        return List.copyOf(samples);
    }

    public synchronized @Nullable Sample latest() {
        return samples.isEmpty() ? null : samples.getLast();
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        try {
            thread.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import org.jspecify.annotations.Nullable;

/**
 * Measures the lag of a replica: from the primary's reply to a SET until a GET at the replica returns the value. Its
 * own thread measures; the thread that started it stops it.
 */
final class LagProbe implements AutoCloseable {
    private static final String KEY = "lag-marker";
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final double MILLI = 1e6;

    private final RespConnection primary;
    private final RespConnection replica;
    private final Thread thread;
    /** Written by the probe's thread, read after it has ended; so is the next one. */
    private final List<Double> millis = new ArrayList<>();
    private @Nullable IOException failure;
    private volatile boolean stopped;

    private LagProbe(Target primary, Target replica) throws IOException {
        this.primary = new RespConnection(primary.host(), primary.port());
        try {
            this.replica = new RespConnection(replica.host(), replica.port());
        } catch (IOException failed) {
            this.primary.close();
            throw failed;
        }
        thread = Thread.ofPlatform().daemon().name("lag-probe").unstarted(this::run);
    }

    static LagProbe start(Target primary, Target replica) throws IOException {
        LagProbe probe = new LagProbe(primary, replica);
        probe.thread.start();
        return probe;
    }

    private void run() {
        try {
            for (long number = 1; !stopped; number++) {
                measure(String.valueOf(number));
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (IOException failed) {
            failure = failed;
        }
    }

    private void measure(String value) throws IOException {
        primary.call("SET", KEY, value);
        long acknowledged = System.nanoTime();
        while (!replica.call("GET", KEY).equals(value)) {
            if (System.nanoTime() - acknowledged > TIMEOUT_NANOS) {
                throw new IOException("the replica did not return a written value within 30 s");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        millis.add((System.nanoTime() - acknowledged) / MILLI);
    }

    /** Ends the measurement after the current marker. @return the lag of each marker, ms; at least one */
    List<Double> stop() throws IOException {
        stopped = true;
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the lag was measured", interrupted);
        }
        IOException failed = failure;
        if (failed != null) {
            throw new IOException("lag: " + failed.getMessage(), failed);
        }
        return millis;
    }

    @Override
    public void close() throws IOException {
        stopped = true;
        try (primary; replica) {
            thread.interrupt();
        }
    }
}

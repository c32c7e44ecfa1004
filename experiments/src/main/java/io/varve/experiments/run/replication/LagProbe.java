package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * Measures the lag of a replica: from the primary's reply to the SET of a marker until a GET at the replica returns it
 * or a later one. One thread writes markers and another one reads them; the thread that started them stops them.
 *
 * <p>Markers are written at a fixed period, whatever the replica has read. So a replica that stops for a second is late
 * for the markers of that second, and not for one of them only.
 */
final class LagProbe implements AutoCloseable {
    private static final String KEY = "lag-marker";
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** How long the end waits for the markers that the replica has not returned. */
    private static final long LIMIT_MILLIS = 30_000;
    private static final int REPLY_MILLIS = 600_000;
    private static final double MILLI = 1e6;
    private static final double P99 = 0.99;

    private final RespConnection primary;
    private final RespConnection replica;
    private final long limitNanos;
    private final Thread writer;
    private final Thread reader;
    private final Queue<Marker> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    /** Written by the reader's thread, read after it has ended; so is the next one. */
    private final List<Double> millis = new ArrayList<>();
    private long open;
    private volatile long stoppedNanos;
    private volatile boolean stopped;

    private record Marker(long number, long acknowledgedNanos) {}

    /**
     * The lags of all markers.
     *
     * @param markers their number
     * @param open those that the replica had not returned at the end: their lag is at least the time until then
     * @param medianMillis median
     * @param p99Millis 99th percentile
     * @param maxMillis the greatest one
     */
    record Result(long markers, long open, double medianMillis, double p99Millis, double maxMillis) {
        private static Result of(List<Double> millis, long open) {
            MedianRange range = MedianRange.of(millis);
            double[] sorted = millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            return new Result(range.count(), open, range.median(), sorted[(int) Math.ceil(P99 * sorted.length) - 1],
                    range.max());
        }
    }

    private LagProbe(Target primary, Target replica, long limitMillis) throws IOException {
        limitNanos = TimeUnit.MILLISECONDS.toNanos(limitMillis);
        this.primary = new RespConnection(primary.host(), primary.port(), REPLY_MILLIS);
        try {
            this.replica = new RespConnection(replica.host(), replica.port(), REPLY_MILLIS);
        } catch (IOException failed) {
            this.primary.close();
            throw failed;
        }
        writer = thread("lag-writer", this::write);
        reader = thread("lag-reader", this::read);
    }

    static LagProbe start(Target primary, Target replica) throws IOException {
        return start(primary, replica, LIMIT_MILLIS);
    }

    /** @param limitMillis how long the end waits for the markers that the replica has not returned */
    static LagProbe start(Target primary, Target replica, long limitMillis) throws IOException {
        LagProbe probe = new LagProbe(primary, replica, limitMillis);
        probe.writer.start();
        probe.reader.start();
        return probe;
    }

    /** A part of the measurement that may fail with an I/O error. */
    private interface Part {
        void run() throws IOException;
    }

    private Thread thread(String name, Part part) {
        return Thread.ofPlatform().daemon().name(name).unstarted(() -> {
            try {
                part.run();
            } catch (Throwable failed) {
                failure.compareAndSet(null, failed);
            }
        });
    }

    private void write() throws IOException {
        long due = System.nanoTime();
        long number = 0;
        do {
            number++;
            primary.call("SET", KEY, String.valueOf(number));
            long now = System.nanoTime();
            waiting.add(new Marker(number, now));
            // A slow reply of the primary is no lag: the markers that were due meanwhile are left out.
            due = Math.max(due + PERIOD_NANOS, now);
            while (!stopped && due - System.nanoTime() > 0) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
        } while (!stopped);
    }

    private void read() throws IOException {
        // The writer adds its last marker before it ends, so an empty queue after that is the end.
        while (writer.isAlive() || !waiting.isEmpty()) {
            if (!waiting.isEmpty()) {
                String value = replica.call("GET", KEY);
                note(value.isEmpty() ? 0 : Long.parseLong(value), System.nanoTime());
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** @param seen the number of the replica's marker */
    private void note(long seen, long now) {
        boolean isOver = stopped && now - stoppedNanos > limitNanos;
        for (Marker head = waiting.peek(); head != null && (isOver || head.number() <= seen); head = waiting.peek()) {
            waiting.remove();
            // The reply of the primary may arrive after the replica has the marker.
            millis.add(Math.max(0, now - head.acknowledgedNanos()) / MILLI);
            open += head.number() <= seen ? 0 : 1;
        }
    }

    /** Ends the measurement when the replica has returned all markers, or after the limit. */
    Result stop() throws IOException {
        stoppedNanos = System.nanoTime();
        stopped = true;
        try {
            writer.join();
            reader.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the lag was measured", interrupted);
        }
        Throwable failed = failure.get();
        if (failed != null) {
            throw new IOException("lag: " + failed, failed);
        }
        if (millis.isEmpty()) {
            throw new IOException("lag: no marker was measured");
        }
        return Result.of(millis, open);
    }

    /** Its threads end at the next use of their connections. */
    @Override
    public void close() throws IOException {
        stopped = true;
        try (primary) {
            replica.close();
        }
    }
}

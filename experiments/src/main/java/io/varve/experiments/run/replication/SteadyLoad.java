package io.varve.experiments.run.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.server.Target;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Clients that send GETs and SETs of random keys at a fixed rate, whether or not the server has replied. Its own thread
 * sends and receives; the thread that started it takes the results and stops it.
 *
 * <p>The number of requests follows from the time alone. A latency begins when the generator's turn begins in which the
 * request is handed to its connection, and includes a wait in this process for a connection that the server does not
 * read. The delay from the time at which a request is due until that turn is no part of a latency, and is measured on
 * its own. The latency ends when the generator has read the reply, so it includes the reply's wait for the generator's
 * core. The load leaves its core when it has nothing to do.
 */
final class SteadyLoad implements AutoCloseable {
    static final String KEY_PREFIX = "k";
    static final int KEY_DIGITS = 10;

    private static final int CONNECTIONS = 16;
    private static final int HUNDRED = 100;
    private static final long SELECT_MILLIS = 1;
    /** How long the end waits for the next one of the missing replies. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final double SECOND_NANOS = 1e9;
    private static final double MICRO = 1000;

    private final Target target;
    private final int rate;
    private final int readPercent;
    private final int keys;
    private final int valueBytes;
    private final SplittableRandom random;
    private final Replies replies = new Replies();
    private final List<SteadyConnection> connections = new ArrayList<>();
    private final Thread thread;
    private long sent;
    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    /**
     * The replies since the last result.
     *
     * @param replies their number
     * @param errors error replies among them
     * @param missed reads without a value among them
     * @param p50Micros median latency
     * @param p99Micros latency
     * @param p999Micros latency
     * @param maxMicros greatest latency
     * @param lateP999Micros delay of the generator
     */
    record Result(long replies, long errors, long missed, double p50Micros, double p99Micros, double p999Micros,
            double maxMicros, double lateP999Micros) {}

    private SteadyLoad(Target target, int rate, int readPercent, int keys, int valueBytes, long seed) {
        this.target = target;
        this.rate = rate;
        this.readPercent = readPercent;
        this.keys = keys;
        this.valueBytes = valueBytes;
        random = new SplittableRandom(seed);
        thread = Thread.ofPlatform().daemon().name("steady-load").unstarted(this::run);
    }

    /**
     * Starts the load.
     *
     * @param rate requests a second
     * @param readPercent share of GETs; the others are SETs
     * @param keys number of keys, from 0
     * @param valueBytes size of a value
     */
    static SteadyLoad start(Target target, int rate, int readPercent, int keys, int valueBytes, long seed)
            throws IOException {
        SteadyLoad load = new SteadyLoad(target, rate, readPercent, keys, valueBytes, seed);
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                load.connections.add(new SteadyConnection(target.host(), target.port(), valueBytes, load.replies));
            }
        } catch (IOException | RuntimeException failed) {
            try {
                load.closeConnections();
            } catch (IOException another) {
                failed.addSuppressed(another);
            }
            throw failed;
        }
        load.thread.start();
        return load;
    }

    /** The key with that number. */
    static String key(int number) {
        return String.format(Locale.ROOT, KEY_PREFIX + "%0" + KEY_DIGITS + "d", number);
    }

    private void run() {
        try (Selector selector = Selector.open()) {
            for (SteadyConnection connection : connections) {
                connection.register(selector);
            }
            long start = System.nanoTime();
            while (!stopped) {
                sendDue(start);
                selector.select(SteadyLoad::read, SELECT_MILLIS);
            }
            awaitReplies(selector);
        } catch (UncheckedIOException failed) {
            failure = failed.getCause();
        } catch (Throwable failed) {
            failure = failed;
        }
    }

    /** A server that was slower than the rate may still have many requests to answer. */
    private void awaitReplies(Selector selector) throws IOException {
        long waiting = waiting();
        long end = System.nanoTime() + GRACE_NANOS;
        while (waiting > 0) {
            flush();
            selector.select(SteadyLoad::read, SELECT_MILLIS);
            long now = System.nanoTime();
            if (waiting() < waiting) {
                waiting = waiting();
                end = now + GRACE_NANOS;
            } else if (now - end > 0) {
                throw new IOException("no reply for 30 s, and " + waiting + " are missing");
            }
        }
    }

    private void sendDue(long start) throws IOException {
        long now = System.nanoTime();
        long wanted = (long) ((now - start) / SECOND_NANOS * rate);
        while (sent < wanted) {
            long due = start + (long) (sent * (SECOND_NANOS / rate));
            replies.late().recordValue(Replies.bounded(now - due));
            SteadyConnection connection = connections.get((int) (sent % CONNECTIONS));
            int key = random.nextInt(keys);
            if (random.nextInt(HUNDRED) < readPercent) {
                connection.get(key, now);
            } else {
                connection.set(key, value(sent), now);
            }
            sent++;
        }
        flush();
    }

    /** Each SET has a value of its own, so that a lost one shows. */
    private byte[] value(long number) {
        byte[] value = new byte[valueBytes];
        byte[] digits = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < valueBytes; i++) {
            value[i] = i < digits.length ? digits[digits.length - 1 - i] : (byte) 'x';
        }
        return value;
    }

    private void flush() throws IOException {
        for (SteadyConnection connection : connections) {
            connection.flush();
        }
    }

    private long waiting() {
        return connections.stream().mapToLong(SteadyConnection::waiting).sum();
    }

    private static void read(SelectionKey key) {
        try {
            ((SteadyConnection) key.attachment()).read();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /**
     * The replies since the last call.
     *
     * @throws IOException if the load has ended, and not by {@link #close}
     */
    Result take() throws IOException {
        boolean isDead = !stopped && !thread.isAlive();
        throwFailure();
        if (isDead) {
            throw new IOException("the load on " + target.host() + ":" + target.port() + " has ended");
        }
        Histogram latencies = replies.latencies().getIntervalHistogram();
        return new Result(latencies.getTotalCount(), replies.errors().getAndSet(0), replies.missed().getAndSet(0),
                latencies.getValueAtPercentile(50) / MICRO, latencies.getValueAtPercentile(99) / MICRO,
                latencies.getValueAtPercentile(99.9) / MICRO, latencies.getMaxValue() / MICRO,
                replies.late().getIntervalHistogram().getValueAtPercentile(99.9) / MICRO);
    }

    private void throwFailure() throws IOException {
        Throwable failed = failure;
        if (failed != null) {
            throw new IOException("the load on " + target.host() + ":" + target.port() + ": " + failed, failed);
        }
    }

    /** Ends the load when all replies have come. */
    @Override
    public void close() throws IOException {
        stopped = true;
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the load ended", interrupted);
        } finally {
            closeConnections();
        }
        throwFailure();
    }

    /** Closes all, even if one of them fails. */
    private void closeConnections() throws IOException {
        IOException failed = null;
        for (SteadyConnection connection : connections) {
            try {
                connection.close();
            } catch (IOException another) {
                if (failed == null) {
                    failed = another;
                } else {
                    failed.addSuppressed(another);
                }
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}

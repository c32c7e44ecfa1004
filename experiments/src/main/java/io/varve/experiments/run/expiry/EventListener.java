package io.varve.experiments.run.expiry;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;

/**
 * A client that subscribes to {@code expired} events and records the arrival time for each key. It has its own thread;
 * its records pass to the thread that {@linkplain #end ends} it.
 */
final class EventListener implements AutoCloseable {
    private static final String CHANNEL = "__keyevent@0__:expired";
    private static final String HEAD = "message\n" + CHANNEL + "\nk";

    private final RespConnection connection;
    /** Microseconds since the epoch, by key; 0: no event arrived. */
    private final long[] arrivedAt;
    private final CompletableFuture<Void> listening;
    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean ended;
    private long repeated;

    /**
     * Subscribes, and records further events.
     *
     * @param keys exclusive maximum of the keys' numbers
     */
    EventListener(Target target, int keys) throws IOException {
        arrivedAt = new long[keys];
        connection = new RespConnection(target.host(), target.port());
        try {
            connection.call("SUBSCRIBE", CHANNEL);
        } catch (IOException e) {
            connection.close();
            throw e;
        }
        listening = CompletableFuture.runAsync(this::listen,
                task -> Thread.ofPlatform().daemon().name("event-listener").start(task));
    }

    private void listen() {
        try {
            while (!ended) {
                try {
                    String message = connection.readReply();
                    note(message, micros());
                } catch (SocketTimeoutException silence) {
                    // Nothing has expired for a while, or no expiration was detected.
                }
            }
        } catch (IOException broken) {
            if (!ended) {
                throw new CompletionException(broken);
            }
        }
    }

    private static long micros() {
        Instant now = Instant.now();
        return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1000;
    }

    private void note(String message, long micros) throws IOException {
        if (!message.startsWith(HEAD)) {
            throw new IOException("a message that is no event: " + message);
        }
        int key = Integer.parseInt(message.substring(HEAD.length()).strip());
        if (arrivedAt[key] == 0) {
            arrivedAt[key] = micros;
            count.incrementAndGet();
        } else {
            repeated++;
        }
    }

    /** Number of keys whose event has arrived. */
    int count() {
        return count.get();
    }

    /** Number of repeated events; valid after the end. */
    long repeated() {
        return repeated;
    }

    /** Ends the subscription. @return the arrival time of each key's event, microseconds since the epoch, or 0 */
    long[] end() throws IOException {
        ended = true;
        connection.close();
        try {
            listening.join();
        } catch (CompletionException failed) {
            throw new IOException("the subscriber failed: " + failed.getMessage(), failed);
        }
        return arrivedAt;
    }

    @Override
    public void close() throws IOException {
        ended = true;
        connection.close();
    }
}

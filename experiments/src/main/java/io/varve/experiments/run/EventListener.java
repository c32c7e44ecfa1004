package io.varve.experiments.run;

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
 * A client that listens to {@code expired} and notes when it is told of each key. One thread of its own; what it has noted passes to
 * whoever {@linkplain #end ends} it.
 */
final class EventListener implements AutoCloseable {
    private static final String CHANNEL = "__keyevent@0__:expired";
    private static final String HEAD = "message\n" + CHANNEL + "\nk";

    private final RespConnection connection;
    /** Microseconds since the epoch, by key; 0: not told of. */
    private final long[] arrivedAt;
    private final CompletableFuture<Void> listening;
    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean ended;
    private long repeated;

    /**
     * Subscribes, and is told of what happens from then on.
     *
     * @param keys whose numbers are less than this
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
                    // Nothing has expired for a while, or nothing has been found to have.
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
            throw new IOException("what is no event came: " + message);
        }
        int key = Integer.parseInt(message.substring(HEAD.length()).strip());
        if (arrivedAt[key] == 0) {
            arrivedAt[key] = micros;
            count.incrementAndGet();
        } else {
            repeated++;
        }
    }

    /** Of how many keys it has been told. */
    int count() {
        return count.get();
    }

    /** How often it was told of a key again; after its end. */
    long repeated() {
        return repeated;
    }

    /** Listens no more. @return when it was told of each key, microseconds since the epoch, or 0 */
    long[] end() throws IOException {
        ended = true;
        connection.close();
        try {
            listening.join();
        } catch (CompletionException failed) {
            throw new IOException("who listens: " + failed.getMessage(), failed);
        }
        return arrivedAt;
    }

    @Override
    public void close() throws IOException {
        ended = true;
        connection.close();
    }
}

package io.varve.server.net;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The heap reservation of one encrypted connection, returned when its last holder releases it. Many threads: an atomic
 * counter.
 *
 * <p>The connection holds it, and so does each task of the handshake: a queued task keeps the engine alive even after
 * the client has disconnected. Otherwise a client that repeatedly begins a handshake and disconnects would fill the
 * heap with queued tasks.
 */
final class TlsHeapReservation implements Executor {
    private final Executor handshakes;
    private final Runnable onRelease;
    /** Number of holders; the connection is the first. */
    private final AtomicInteger holders = new AtomicInteger(1);

    TlsHeapReservation(Executor handshakes, Runnable onRelease) {
        this.handshakes = handshakes;
        this.onRelease = onRelease;
    }

    /** Runs a task of the connection's handshake. */
    @Override
    public void execute(Runnable task) {
        if (holders.getAndUpdate(held -> held == 0 ? 0 : held + 1) == 0) {
            // The reservation has ended: results of already received input are not needed.
            throw new RejectedExecutionException("The connection is closed");
        }
        boolean accepted = false;
        try {
            handshakes.execute(() -> {
                try {
                    task.run();
                } finally {
                    releaseAll();
                }
            });
            accepted = true;
        } finally {
            if (!accepted) {
                releaseAll();
            }
        }
    }

    /** Called once by the connection, when it is closed. */
    void releaseAll() {
        if (holders.decrementAndGet() == 0) {
            onRelease.run();
        }
    }
}

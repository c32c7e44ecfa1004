package io.varve.server.net;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What one encrypted connection has of the heap, given back when its last holder lets go. Many threads: an atomic counter.
 *
 * <p>It is held by the connection, and by each task of its handshake: a task that waits for a thread keeps the engine, though its client
 * has gone. Else whoever says hello and leaves, again and again, would fill the heap with what waits.
 */
final class TlsLoan implements Executor {
    private final Executor handshakes;
    private final Runnable giveBack;
    /** The first is the connection. */
    private final AtomicInteger holders = new AtomicInteger(1);

    TlsLoan(Executor handshakes, Runnable giveBack) {
        this.handshakes = handshakes;
        this.giveBack = giveBack;
    }

    /** Has a task of the connection's handshake done. */
    @Override
    public void execute(Runnable task) {
        if (holders.getAndUpdate(held -> held == 0 ? 0 : held + 1) == 0) {
            // It has gone with all that it was lent for: what is found in what had been received is of no use.
            throw new RejectedExecutionException("The connection is closed");
        }
        boolean accepted = false;
        try {
            handshakes.execute(() -> {
                try {
                    task.run();
                } finally {
                    letGo();
                }
            });
            accepted = true;
        } finally {
            if (!accepted) {
                letGo();
            }
        }
    }

    /** Called once by the connection, when it is closed. */
    void letGo() {
        if (holders.decrementAndGet() == 0) {
            giveBack.run();
        }
    }
}

package io.varve.server.net;

import java.util.LinkedHashSet;

import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.persistence.AppendLog;

/**
 * The connections of one event loop whose replies wait until the log is durable. Confined to that event loop, which the
 * log wakes once after a force, and not once for each of them.
 */
final class HeldReplies {
    private final AppendLog log;
    private final EventLoopExecutor loop;
    /** In the order in which they began to wait, which is that of their offsets, or nearly. */
    private final LinkedHashSet<Outgoing> waiting = new LinkedHashSet<>();
    private final Runnable writeTask = this::write;
    private final Runnable releaseTask = this::release;
    /** Called by any thread. */
    private final Runnable durableTask;
    private boolean writeRequested;

    HeldReplies(AppendLog log, EventLoopExecutor loop) {
        this.log = log;
        this.loop = loop;
        durableTask = () -> loop.execute(releaseTask);
    }

    /**
     * Releases a connection's replies once the log is durable up to their {@link Outgoing#heldOffset}. The log is asked
     * to write after this turn of the event loop, whose other clients then share the force.
     */
    void hold(Outgoing replies) {
        waiting.add(replies);
        if (waiting.size() == 1) {
            awaitFirst();
        }
        if (!writeRequested) {
            writeRequested = true;
            loop.execute(writeTask);
        }
    }

    /** Forgets a connection that has ended. */
    void drop(Outgoing replies) {
        if (waiting.remove(replies) && waiting.isEmpty()) {
            log.cancel(durableTask);
        }
    }

    private void awaitFirst() {
        log.whenDurable(waiting.getFirst().heldOffset(), durableTask);
    }

    private void write() {
        writeRequested = false;
        log.writeSoon();
    }

    /** A reply that waits for a later offset than those behind it holds them up, and not for long. */
    private void release() {
        try {
            while (!waiting.isEmpty() && log.isDurable(waiting.getFirst().heldOffset())) {
                waiting.removeFirst().release();
            }
        } finally {
            if (!waiting.isEmpty()) {
                awaitFirst();
            }
        }
    }
}

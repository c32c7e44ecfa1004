package io.varve.server.command;

import io.varve.server.resp.RequestHeapBudget;

/**
 * The heap budget reserved for a deferred reply, until the reply is written or its client has disconnected. Guarded by
 * its own monitor: the thread that computes the reply reserves, and the client's event loop releases.
 */
public final class HeapReservation {
    private final RequestHeapBudget memory;
    private long reserved;
    private boolean ended;

    public HeapReservation(RequestHeapBudget memory) {
        this.memory = memory;
    }

    /** @return whether the bytes were reserved; false if the budget is exhausted or the client has disconnected */
    public synchronized boolean tryReserve(long bytes) {
        if (ended || !memory.tryReserve(bytes)) {
            return false;
        }
        reserved += bytes;
        return true;
    }

    /** Releases a part. */
    public synchronized void release(long bytes) {
        if (!ended) {
            reserved -= bytes;
            memory.release(bytes);
        }
    }

    /** Releases the rest and refuses further reservations. Without effect the second time. */
    public synchronized void end() {
        if (!ended) {
            ended = true;
            memory.release(reserved);
        }
    }
}

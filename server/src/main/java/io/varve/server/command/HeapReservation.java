package io.varve.server.command;

import io.varve.server.resp.RequestHeapBudget;

/**
 * The heap budget reserved for a deferred reply, until the reply is written or its client has disconnected. Guarded by
 * its own monitor: the thread that computes the reply reserves, and the client's event loop releases.
 */
public final class HeapReservation {
    private final RequestHeapBudget memory;
    private long taken;
    private boolean over;

    public HeapReservation(RequestHeapBudget memory) {
        this.memory = memory;
    }

    /** @return whether the bytes were reserved; false if the budget is exhausted or the client has disconnected */
    public synchronized boolean take(long bytes) {
        if (over || !memory.take(bytes)) {
            return false;
        }
        taken += bytes;
        return true;
    }

    /** Releases a part. */
    public synchronized void give(long bytes) {
        if (!over) {
            taken -= bytes;
            memory.give(bytes);
        }
    }

    /** Releases the rest and refuses further reservations. Without effect the second time. */
    public synchronized void end() {
        if (!over) {
            over = true;
            memory.give(taken);
        }
    }
}

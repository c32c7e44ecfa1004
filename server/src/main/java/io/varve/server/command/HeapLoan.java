package io.varve.server.command;

import io.varve.server.resp.ArgumentMemory;

/**
 * What a command that answers later has of the heap's share, until it has been replied or nobody waits for it any more. Guarded by
 * itself: the thread that finds the answer takes, the client's event loop ends it.
 */
public final class HeapLoan {
    private final ArgumentMemory memory;
    private long taken;
    private boolean over;

    public HeapLoan(ArgumentMemory memory) {
        this.memory = memory;
    }

    /** @return whether there was room, and somebody still waits */
    public synchronized boolean take(long bytes) {
        if (over || !memory.take(bytes)) {
            return false;
        }
        taken += bytes;
        return true;
    }

    /** Gives a part back. */
    public synchronized void give(long bytes) {
        if (!over) {
            taken -= bytes;
            memory.give(bytes);
        }
    }

    /** Gives back what is left; from now on nothing is taken. Without effect the second time. */
    synchronized void end() {
        if (!over) {
            over = true;
            memory.give(taken);
        }
    }
}

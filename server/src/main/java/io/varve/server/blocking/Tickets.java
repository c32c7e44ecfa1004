package io.varve.server.blocking;

import java.util.HashMap;
import java.util.Map;

/** Gives out tickets, and knows of what causes changes are. Guarded by the lock of {@link BlockedKeys}. */
final class Tickets {
    private long last;
    /** What a thread's changes come from, where that is more than one change. */
    private final Map<Thread, Long> causes = new HashMap<>();

    /** Of a change that the calling thread has made. */
    Ticket next() {
        long number = ++last;
        return new Ticket(causes.getOrDefault(Thread.currentThread(), number), number);
    }

    /** What the calling thread changes from now on is of one cause. */
    void beginCause() {
        causes.put(Thread.currentThread(), ++last);
    }

    /** What the calling thread changes from now on is of the cause of this ticket. */
    void beginCause(Ticket ticket) {
        causes.put(Thread.currentThread(), ticket.cause());
    }

    /** @return whether there was none: it is to be ended */
    boolean beginCauseUnlessThereIsOne() {
        return causes.putIfAbsent(Thread.currentThread(), ++last) == null;
    }

    void endCause() {
        causes.remove(Thread.currentThread());
    }
}

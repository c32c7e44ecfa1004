package io.varve.server.blocking;

import java.util.HashMap;
import java.util.Map;

/**
 * Issues {@link WakeOrder}s and records the cause of each thread's changes. Guarded by the lock of {@link BlockedKeys}.
 */
final class WakeSequence {
    private long last;
    /** The cause of a thread's changes, if it groups several. */
    private final Map<Thread, Long> causes = new HashMap<>();

    /** The order of a change that the calling thread has made. */
    WakeOrder next() {
        long number = ++last;
        return new WakeOrder(causes.getOrDefault(Thread.currentThread(), number), number);
    }

    /** Starts a new cause for the calling thread's changes. */
    void beginCause() {
        causes.put(Thread.currentThread(), ++last);
    }

    /** Continues the cause of this wake order for the calling thread's changes. */
    void beginCause(WakeOrder wakeOrder) {
        causes.put(Thread.currentThread(), wakeOrder.cause());
    }

    /** @return whether a cause was started, which the caller has to end */
    boolean beginCauseIfNone() {
        return causes.putIfAbsent(Thread.currentThread(), ++last) == null;
    }

    void endCause() {
        causes.remove(Thread.currentThread());
    }
}

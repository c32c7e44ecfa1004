package io.varve.server.blocking;

import java.util.Comparator;

/**
 * The order in which awaited keys are served: by cause, then by change. Immutable. A cause is a command or a
 * transaction, together with all that woken clients do with its changes. As in Redis, one cause is served completely
 * before the next, whatever runs concurrently.
 */
record WakeOrder(long cause, long number) implements Comparable<WakeOrder> {
    private static final Comparator<WakeOrder> ORDER = Comparator.comparingLong(WakeOrder::cause)
            .thenComparingLong(WakeOrder::number);

    @Override
    public int compareTo(WakeOrder other) {
        return ORDER.compare(this, other);
    }
}

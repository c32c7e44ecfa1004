package io.varve.server.blocking;

import java.util.Comparator;

/**
 * When a key that is waited for is served: those of an earlier cause first, and of one cause in the order of the changes. A cause is
 * a command or a transaction, and all that waiters make of what it has changed: before the next command is, as in Redis, whatever runs
 * beside it. Immutable.
 */
record Ticket(long cause, long number) implements Comparable<Ticket> {
    private static final Comparator<Ticket> ORDER = Comparator.comparingLong(Ticket::cause)
            .thenComparingLong(Ticket::number);

    @Override
    public int compareTo(Ticket other) {
        return ORDER.compare(this, other);
    }
}

package io.varve.ycsb.database;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Waits for some hundred microseconds, nearly without using the core, which server and databases may need. Confined to
 * one thread.
 *
 * <p>A parked thread wakes late: by the timer's slack (50 us on Linux) and by the wait for a core, so a park of 120 us
 * takes 175. It therefore parks for less, by the lateness of earlier parks, and polls the clock for the remaining
 * microseconds, in which others may use the core. A wait is never shorter than requested; its real length is returned.
 */
public final class PreciseDelay implements Delay {

    /** For a shorter wait it only polls the clock: a park costs about as much. */
    private static final long SHORTEST_PARK_NANOS = 10_000;
    /** A longer wait for a core says nothing about the next one. */
    private static final long MAX_LATE_NANOS = 200_000;
    /** The weight of one wait in the estimate is one part in 2 to this power. */
    private static final int LEARNING_BITS = 3;

    private final LongSupplier clock;
    private final LongConsumer park;
    private long lateNanos;

    public PreciseDelay() {
        this(System::nanoTime, LockSupport::parkNanos);
    }

    PreciseDelay(LongSupplier clock, LongConsumer park) {
        this.clock = clock;
        this.park = park;
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // Another thread needs the core longer, or none does.
    public long await(long nanos) {
        long start = clock.getAsLong();
        boolean parked = false;
        long now = start;
        while (now - start < nanos) {
            long sleep = nanos - (now - start) - lateNanos;
            if (sleep >= SHORTEST_PARK_NANOS) {
                park.accept(sleep);
                long woken = clock.getAsLong();
                learn(woken - now - sleep);
                parked = true;
                now = woken;
            } else {
                Thread.yield();
                now = clock.getAsLong();
            }
        }
        if (!parked) {
            // Otherwise, after one long wait for a core, no wait would park again.
            learn(0);
        }
        return now - start;
    }

    private void learn(long late) {
        lateNanos += Math.min(Math.max(late, 0), MAX_LATE_NANOS) - lateNanos >> LEARNING_BITS;
    }
}

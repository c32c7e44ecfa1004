package io.varve.ycsb;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Waits some hundred microseconds, nearly without using the core, which server and databases may need. Confined to one
 * thread.
 *
 * <p>A parked thread wakes late: by the timer's slack (50 us on Linux) and until it gets a core, so parking for 120 us takes
 * 175. It is therefore parked for that much less, as it was late before, and looks at the clock for what remains, some microseconds, in which others may have the core. A
 * wait is never shorter than asked for; how long it was is returned.
 */
final class PreciseDelay implements Delay {

    /** For less it looks at the clock only: a park costs about as much. */
    private static final long SHORTEST_PARK_NANOS = 10_000;
    /** Who waited longer for a core than this tells nothing about the next time. */
    private static final long MOST_LATE_NANOS = 200_000;
    /** What is learned of a wait is one part in so many, as a power of two. */
    private static final int LEARNING_BITS = 3;

    private final LongSupplier clock;
    private final LongConsumer park;
    private long lateNanos;

    PreciseDelay() {
        this(System::nanoTime, LockSupport::parkNanos);
    }

    PreciseDelay(LongSupplier clock, LongConsumer park) {
        this.clock = clock;
        this.park = park;
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // Who has the core wants it for longer than is left here, or nobody does.
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
            // Else after one long wait for a core none would park again.
            learn(0);
        }
        return now - start;
    }

    private void learn(long late) {
        lateNanos += Math.min(Math.max(late, 0), MOST_LATE_NANOS) - lateNanos >> LEARNING_BITS;
    }
}

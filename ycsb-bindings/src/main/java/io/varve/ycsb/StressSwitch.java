package io.varve.ycsb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/** Raises the remote database's simulated delay once. Guarded by itself: all clients of a process count on it. */
final class StressSwitch {

    private final StressOptions options;
    private final LongSupplier clock;
    private final AtomicLong operations = new AtomicLong();
    /** The clock at the first operation, plus one where that is 0, which says that there was none. */
    private final AtomicLong started = new AtomicLong();
    private final AtomicReference<@Nullable Switched> switched = new AtomicReference<>();

    /**
     * When it was. Immutable.
     *
     * @param operations counted before
     * @param nanos      since the first
     */
    record Switched(long operations, long nanos) {}

    StressSwitch(StressOptions options, LongSupplier clock) {
        this.options = options;
        this.clock = clock;
    }

    /** An operation begins. */
    void count() {
        if (options.never() || switched.get() != null) {
            return;
        }
        long now = clock.getAsLong();
        started.compareAndSet(0, now == 0 ? 1 : now);
        long nanos = now - started.get();
        long before = operations.getAndIncrement();
        boolean byTime = options.afterOperations() == StressOptions.NEVER;
        boolean due = byTime
                ? nanos >= TimeUnit.SECONDS.toNanos(options.afterSeconds())
                : before >= options.afterOperations();
        if (due) {
            // Of two that count at once the later one may be here first: the other one is under stress, too.
            switched.compareAndSet(null,
                    new Switched(byTime ? before : options.afterOperations(), Math.max(0, nanos)));
        }
    }

    /** What a database's answers are held back by now. */
    long delayNanos(DatabaseOptions database) {
        return database.side() == Side.REMOTE && switched.get() != null
                ? database.delayNanos() * options.factor()
                : database.delayNanos();
    }

    /** Null if it was not yet. */
    @Nullable
    Switched switched() {
        return switched.get();
    }
}

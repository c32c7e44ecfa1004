package io.varve.ycsb.database;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import io.varve.ycsb.option.DatabaseOptions;
import io.varve.ycsb.option.Side;
import io.varve.ycsb.option.StressOptions;
import org.jspecify.annotations.Nullable;

/** Raises the remote database's simulated delay once. Thread-safe: all clients of a process report operations to it. */
public final class StressSwitch {

    private final StressOptions options;
    private final LongSupplier clock;
    private final AtomicLong operations = new AtomicLong();
    /** The clock at the first operation, plus one if it is 0, which means that there was none. */
    private final AtomicLong started = new AtomicLong();
    private final AtomicReference<@Nullable Switched> switched = new AtomicReference<>();

    /**
     * The moment of the switch. Immutable.
     *
     * @param operations number of operations counted before
     * @param nanos time since the first operation, ns
     */
    record Switched(long operations, long nanos) {}

    StressSwitch(StressOptions options, LongSupplier clock) {
        this.options = options;
        this.clock = clock;
    }

    /** Counts the begin of an operation. */
    public void count() {
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
            // If two threads count at once, the later one may arrive here first: the other one is under stress, too.
            switched.compareAndSet(null,
                    new Switched(byTime ? before : options.afterOperations(), Math.max(0, nanos)));
        }
    }

    /** The current simulated delay of a database. */
    long delayNanos(DatabaseOptions database) {
        return database.side() == Side.REMOTE && switched.get() != null
                ? database.delayNanos() * options.factor()
                : database.delayNanos();
    }

    /** Null before the switch. */
    @Nullable
    Switched switched() {
        return switched.get();
    }
}

package io.varve.server.persistence;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** How long the log's thread waits for the disk. The log's thread writes it; any thread reads it. */
public final class LogTimings {
    /** Receives durations, for the latency monitor. */
    @FunctionalInterface
    public interface Listener {
        /**
         * @param event the name of Redis's latency event
         * @param nanos its duration
         */
        void took(String event, long nanos);
    }

    /** Redis counts a force as delayed if writes have waited this long for it. */
    private static final long DELAYED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private volatile Listener listener = (_, _) -> {};
    private final AtomicLong forces = new AtomicLong();
    private final AtomicLong forceNanos = new AtomicLong();
    private final AtomicLong delayedForces = new AtomicLong();

    /** Sets who is told of each duration. */
    public void listener(Listener wanted) {
        listener = wanted;
    }

    void wrote(long nanos) {
        listener.took("aof-write", nanos);
    }

    /** @param always whether clients wait for it */
    void forced(long nanos, boolean always) {
        forces.incrementAndGet();
        forceNanos.addAndGet(nanos);
        if (nanos >= DELAYED_NANOS) {
            delayedForces.incrementAndGet();
        }
        if (always) {
            listener.took("aof-fsync-always", nanos);
        }
    }

    /** Forces to disk so far. */
    public long forces() {
        return forces.get();
    }

    /** Their duration together, ns. */
    public long forceNanos() {
        return forceNanos.get();
    }

    /** Forces that took two seconds or more, during which nothing was written. */
    public long delayedForces() {
        return delayedForces.get();
    }
}

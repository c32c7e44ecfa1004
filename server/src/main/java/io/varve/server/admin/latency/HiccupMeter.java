package io.varve.server.admin.latency;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.server.system.TimeSlice;

/**
 * Measures stalls of the process: a thread sleeps 1 ms at a time and records by how much it overslept. The counts are
 * guarded by {@code this}; the maintenance thread starts and stops the measuring thread.
 *
 * <p>It sees everything that stops the whole process: collections, safepoints, a system that gives the processor to
 * another process. On one core it also sees that another thread of the process held the core. So it never reports less
 * than a request may have waited. The JVM's own log shows the JVM's part of that time.
 */
public final class HiccupMeter {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final TimeSlice slice;
    private volatile boolean enabled;
    private Thread thread = Thread.ofPlatform().unstarted(this::measure);
    private long longestNanos;
    private long longOnes;

    /** @param slice that of the threads that it represents, so that it waits as long for a core as they do */
    public HiccupMeter(TimeSlice slice) {
        this.slice = slice;
    }

    /** Starts or stops the measurement. One thread at a time calls it. */
    public void follow(boolean measuring) {
        if (measuring == enabled && (!measuring || thread.isAlive())) {
            return;
        }
        enabled = measuring;
        if (measuring && !thread.isAlive()) {
            thread = Thread.ofPlatform().daemon().name("varve-hiccups").start(this::measure);
        }
    }

    /** Whether the measuring thread is alive. */
    boolean isMeasuring() {
        return thread.isAlive();
    }

    private void measure() {
        slice.apply();
        long before = System.nanoTime();
        while (enabled) {
            LockSupport.parkNanos(this, PERIOD_NANOS);
            long now = System.nanoTime();
            add(now - before - PERIOD_NANOS);
            before = now;
        }
    }

    /** @param lateNanos how late the thread woke, ns */
    synchronized void add(long lateNanos) {
        longestNanos = Math.max(longestNanos, lateNanos);
        if (lateNanos >= LONG_NANOS) {
            longOnes++;
        }
    }

    /** The longest hiccup since the last reset, in microseconds. */
    public synchronized long longestMicros() {
        return TimeUnit.NANOSECONDS.toMicros(longestNanos);
    }

    /** Number of hiccups of 1 ms or more since the last reset. */
    public synchronized long longOnes() {
        return longOnes;
    }

    public synchronized void reset() {
        longestNanos = 0;
        longOnes = 0;
    }
}

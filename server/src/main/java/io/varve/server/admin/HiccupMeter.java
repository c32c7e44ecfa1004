package io.varve.server.admin;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.server.system.TimeSlice;

/**
 * Notices when this process could not run: a thread that sleeps a millisecond at a time and notes how much longer it slept.
 * The counts are guarded by itself; maintenance starts and stops the thread that measures.
 *
 * <p>It sees what stops the whole process (collections, safepoints, a system that gives the processor to somebody else) and
 * also, where the process has one core, that another of its own threads had it. So it never shows less than a request may
 * have waited, and the JVM's own log says which part of it was the JVM's.
 */
public final class HiccupMeter {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final TimeSlice slice;
    private volatile boolean wanted;
    private Thread thread = Thread.ofPlatform().unstarted(this::measure);
    private long longestNanos;
    private long longOnes;

    /** @param slice that of the threads for which it stands: it waits for a core as long as they do */
    public HiccupMeter(TimeSlice slice) {
        this.slice = slice;
    }

    /** Measures from now on, or no more. Called by one thread at a time. */
    public void follow(boolean measuring) {
        if (measuring == wanted && (!measuring || thread.isAlive())) {
            return;
        }
        wanted = measuring;
        if (measuring && !thread.isAlive()) {
            thread = Thread.ofPlatform().daemon().name("varve-hiccups").start(this::measure);
        }
    }

    /** Whether the thread that measures lives. */
    boolean isMeasuring() {
        return thread.isAlive();
    }

    private void measure() {
        slice.apply();
        long before = System.nanoTime();
        while (wanted) {
            LockSupport.parkNanos(this, PERIOD_NANOS);
            long now = System.nanoTime();
            add(now - before - PERIOD_NANOS);
            before = now;
        }
    }

    /** @param lateNanos how much longer it slept than it was to */
    synchronized void add(long lateNanos) {
        longestNanos = Math.max(longestNanos, lateNanos);
        if (lateNanos >= LONG_NANOS) {
            longOnes++;
        }
    }

    /** The longest since the last reset, in microseconds. */
    public synchronized long longestMicros() {
        return TimeUnit.NANOSECONDS.toMicros(longestNanos);
    }

    /** How many of a millisecond or more there were since the last reset. */
    public synchronized long longOnes() {
        return longOnes;
    }

    public synchronized void reset() {
        longestNanos = 0;
        longOnes = 0;
    }
}

package io.varve.experiments.run.replication;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.HdrHistogram.Recorder;

/**
 * Latencies and counts of the replies to the clients of a steady load. Thread-safe: the load's thread records, and the
 * thread of the run takes intervals.
 *
 * @param latencies times from a request to its reply, ns
 * @param late delays of the generator, ns
 * @param errors error replies
 * @param missed reads without a value
 */
record Replies(Recorder latencies, Recorder late, AtomicLong errors, AtomicLong missed) {
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(600);
    private static final int DIGITS = 3;

    Replies() {
        this(new Recorder(MAX_NANOS, DIGITS), new Recorder(MAX_NANOS, DIGITS), new AtomicLong(), new AtomicLong());
    }

    /** A time that a recorder takes. */
    static long bounded(long nanos) {
        return Math.clamp(nanos, 0, MAX_NANOS);
    }
}

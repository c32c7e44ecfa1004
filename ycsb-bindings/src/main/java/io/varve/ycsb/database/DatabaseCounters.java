package io.varve.ycsb.database;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** The counters and times of one database. Guarded by itself; all clients of a process share it. */
public final class DatabaseCounters {

    final LongAdder fetches = new LongAdder();
    final LongAdder writes = new LongAdder();
    final LongAdder scans = new LongAdder();
    final LongAdder failures = new LongAdder();

    private final LongAdder roundTrips = new LongAdder();
    private final LongAdder databaseNanos = new LongAdder();
    private final LongAdder delays = new LongAdder();
    private final LongAdder delayRequestedNanos = new LongAdder();
    private final LongAdder delayNanos = new LongAdder();
    private final LongAccumulator delayMaxNanos = new LongAccumulator(Math::max, 0);
    private final LongAdder penalties = new LongAdder();
    private final LongAdder penaltyNanos = new LongAdder();

    /** Counts a reply and its duration. */
    void answered(long nanos) {
        roundTrips.increment();
        databaseNanos.add(nanos);
    }

    /** Counts a delayed reply. */
    void delayed(long requestedNanos, long nanos) {
        delays.increment();
        delayRequestedNanos.add(requestedNanos);
        delayNanos.add(nanos);
        delayMaxNanos.accumulate(nanos);
    }

    /** Counts a filled miss and its penalty. */
    public void penalty(long nanos) {
        penalties.increment();
        penaltyNanos.add(nanos);
    }

    CacheAsideSummary.Database summary() {
        return new CacheAsideSummary.Database(fetches.sum(), writes.sum(), scans.sum(), failures.sum(),
                roundTrips.sum(), databaseNanos.sum(), delays.sum(), delayRequestedNanos.sum(), delayNanos.sum(),
                delayMaxNanos.get(), penalties.sum(), penaltyNanos.sum());
    }
}

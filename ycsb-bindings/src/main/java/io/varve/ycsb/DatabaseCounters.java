package io.varve.ycsb;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** What one of the databases was asked and how long it took. Guarded by itself; shared by all clients of a process. */
final class DatabaseCounters {

    final LongAdder fetches = new LongAdder();
    final LongAdder writes = new LongAdder();
    final LongAdder scans = new LongAdder();
    final LongAdder failures = new LongAdder();

    private final LongAdder roundTrips = new LongAdder();
    private final LongAdder databaseNanos = new LongAdder();
    private final LongAdder delays = new LongAdder();
    private final LongAdder delayAskedNanos = new LongAdder();
    private final LongAdder delayNanos = new LongAdder();
    private final LongAccumulator delayMaxNanos = new LongAccumulator(Math::max, 0);
    private final LongAdder penalties = new LongAdder();
    private final LongAdder penaltyNanos = new LongAdder();

    /** It has answered, after so long. */
    void answered(long nanos) {
        roundTrips.increment();
        databaseNanos.add(nanos);
    }

    /** An answer was held back. */
    void delayed(long askedNanos, long nanos) {
        delays.increment();
        delayAskedNanos.add(askedNanos);
        delayNanos.add(nanos);
        delayMaxNanos.accumulate(nanos);
    }

    /** A miss was made good, so long after it. */
    void penalty(long nanos) {
        penalties.increment();
        penaltyNanos.add(nanos);
    }

    CacheAsideSummary.Database summary() {
        return new CacheAsideSummary.Database(fetches.sum(), writes.sum(), scans.sum(), failures.sum(),
                roundTrips.sum(), databaseNanos.sum(), delays.sum(), delayAskedNanos.sum(), delayNanos.sum(),
                delayMaxNanos.get(), penalties.sum(), penaltyNanos.sum());
    }
}

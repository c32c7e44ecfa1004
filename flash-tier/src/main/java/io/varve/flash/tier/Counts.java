package io.varve.flash.tier;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import org.HdrHistogram.ConcurrentHistogram;

/** The counters of the tier. Many threads. */
final class Counts {
    private static final long LONGEST_READ_MICROS = TimeUnit.MINUTES.toMicros(1);

    final LongAdder hits = new LongAdder();
    final LongAdder misses = new LongAdder();
    final LongAdder promotions = new LongAdder();
    final LongAdder loaded = new LongAdder();
    final LongAdder evictions = new LongAdder();
    final LongAdder expired = new LongAdder();
    final LongAdder corrupt = new LongAdder();
    final LongAdder written = new LongAdder();
    final LongAdder shed = new LongAdder();
    final LongAdder notAdmitted = new LongAdder();
    final LongAdder bytesRead = new LongAdder();
    final LongAdder invalidations = new LongAdder();
    private final ConcurrentHistogram reads = new ConcurrentHistogram(LONGEST_READ_MICROS, 2);

    /** How often items were lost that had neither expired nor been evicted: it changes with each loss. */
    long lost() {
        return corrupt.sum() + shed.sum() + invalidations.sum();
    }

    /** Records the duration since a key's request. */
    void read(long nanos) {
        reads.recordValue(Math.clamp(TimeUnit.NANOSECONDS.toMicros(nanos), 0, LONGEST_READ_MICROS));
    }

    long readMicros(double percentile) {
        return reads.getValueAtPercentile(percentile);
    }
}

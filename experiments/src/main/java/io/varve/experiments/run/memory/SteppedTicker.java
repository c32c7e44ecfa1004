package io.varve.experiments.run.memory;

import io.varve.memory.item.Ticker;

/**
 * A clock that the load advances by fixed steps, so that a run gives equal results on every machine. Confined to the
 * thread that does the run.
 */
final class SteppedTicker implements Ticker {
    private static final long START_MILLIS = 1_700_000_000_000L;
    private static final double NANOS_PER_MILLI = 1e6;

    private double nanos;

    @Override
    public long wallMillis() {
        return START_MILLIS + elapsedMillis();
    }

    @Override
    public long nanoTime() {
        return (long) nanos;
    }

    long elapsedMillis() {
        return (long) (nanos / NANOS_PER_MILLI);
    }

    void advanceNanos(double step) {
        nanos += step;
    }
}

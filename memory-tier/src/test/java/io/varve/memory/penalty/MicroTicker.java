package io.varve.memory.penalty;

import io.varve.memory.item.Ticker;

/** A clock that the test advances by microseconds. Confined to the test's thread. */
final class MicroTicker implements Ticker {
    /** A monotonic clock may begin anywhere. */
    private long nanos = Long.MAX_VALUE - 1_000_000_000L;

    void advance(long micros) {
        nanos += 1000 * micros;
    }

    @Override
    public long wallMillis() {
        return 0;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }
}

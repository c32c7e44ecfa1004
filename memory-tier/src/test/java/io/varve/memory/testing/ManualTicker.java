package io.varve.memory.testing;

import io.varve.memory.item.Ticker;

/** A clock that only the test advances. Thread-safe. */
public final class ManualTicker implements Ticker {
    private volatile long wallMillis = 1_700_000_000_000L;
    private volatile long nanos = 1;

    @Override
    public long wallMillis() {
        return wallMillis;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    public synchronized void advanceMillis(long millis) {
        wallMillis = wallMillis + millis;
        nanos = nanos + millis * 1_000_000;
    }
}

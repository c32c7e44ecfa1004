package io.varve.server.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.item.Ticker;

/** A clock that stands still until a test advances it. Thread-safe. */
public final class SettableTicker implements Ticker {
    private final AtomicLong millis = new AtomicLong(1_750_000_000_000L);

    @Override
    public long wallMillis() {
        return millis.get();
    }

    @Override
    public long nanoTime() {
        return TimeUnit.MILLISECONDS.toNanos(millis.get());
    }

    public void pass(long elapsedMillis) {
        millis.addAndGet(elapsedMillis);
    }
}

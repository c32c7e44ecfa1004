package io.varve.server.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.item.Ticker;

/**
 * A clock that stands still until a test advances it, or that advances with each reading of its nanoseconds.
 * Thread-safe.
 */
public final class SettableTicker implements Ticker {
    private final AtomicLong millis = new AtomicLong(1_750_000_000_000L);
    private final long millisPerReading;

    /** A clock that stands still. */
    public SettableTicker() {
        this(0);
    }

    /** @param millisPerReading what each reading takes, so that a program that never ends takes long */
    public SettableTicker(long millisPerReading) {
        this.millisPerReading = millisPerReading;
    }

    @Override
    public long wallMillis() {
        return millis.get();
    }

    @Override
    public long nanoTime() {
        return TimeUnit.MILLISECONDS.toNanos(millis.addAndGet(millisPerReading));
    }

    public void pass(long elapsedMillis) {
        millis.addAndGet(elapsedMillis);
    }
}

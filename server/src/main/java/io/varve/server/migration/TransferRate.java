package io.varve.server.migration;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.varve.memory.item.Ticker;

/** Limits the bytes that are sent in a second. Confined to one thread. */
final class TransferRate {
    /** Shorter debts are not worth a sleep. */
    private static final long MIN_PAUSE_MILLIS = 2;
    /** After a large value, a changed limit applies soon. */
    private static final long MAX_PAUSE_MILLIS = 1_000;
    /** Bytes of an idle time that may be sent at once later. */
    private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Ticker clock;
    private final LongSupplier bytesPerSecond;
    /** When what was sent so far is due, at the permitted rate. */
    private long dueNanos;

    /** @param bytesPerSecond 0: no limit */
    TransferRate(Ticker clock, LongSupplier bytesPerSecond) {
        this.clock = clock;
        this.bytesPerSecond = bytesPerSecond;
        dueNanos = clock.nanoTime();
    }

    /** @return how long to wait after this many bytes more, in milliseconds */
    long pauseMillis(long bytes) {
        long limit = bytesPerSecond.getAsLong();
        if (limit <= 0) {
            return 0;
        }
        long now = clock.nanoTime();
        long duration = (long) (bytes * (double) TimeUnit.SECONDS.toNanos(1) / limit);
        dueNanos = Math.max(dueNanos, now - BURST_NANOS) + duration;
        long pause = TimeUnit.NANOSECONDS.toMillis(dueNanos - now);
        return pause < MIN_PAUSE_MILLIS ? 0 : Math.min(pause, MAX_PAUSE_MILLIS);
    }
}

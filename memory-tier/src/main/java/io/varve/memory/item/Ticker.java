package io.varve.memory.item;

/** The time source of all packages, which a test can replace. Immutable or thread-safe. */
public interface Ticker {
    /** Milliseconds since the epoch, the unit of expiry times. */
    long wallMillis();

    /** Microseconds since the epoch, as fine as the clock is: for display. */
    default long wallMicros() {
        return 1000 * wallMillis();
    }

    /** A monotonic reading in nanoseconds, for durations only. */
    long nanoTime();

    /** The machine's clocks. */
    static Ticker system() {
        return SystemTicker.INSTANCE;
    }
}

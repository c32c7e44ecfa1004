package io.varve.memory.item;

/** Where all rooms take the time from, so that a test can move it. Immutable or thread-safe. */
public interface Ticker {
    /** Milliseconds since the epoch: what expiry times are measured in. */
    long wallMillis();

    /** The same in microseconds, as fine as the clock is: to be shown. */
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

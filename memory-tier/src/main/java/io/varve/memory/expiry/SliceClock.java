package io.varve.memory.expiry;

import io.varve.memory.item.Ticker;

/**
 * Detects when a slice's deadline has passed. Guarded by the shard's lock.
 *
 * <p>Reading the clock costs as much as a few steps of work, so it is read once every {@code stepsPerReading} steps.
 */
final class SliceClock {
    private final Ticker ticker;
    private final int stepsPerReading;
    private long deadlineNanos;
    private int stepsToReading;

    SliceClock(Ticker ticker, int stepsPerReading) {
        this.ticker = ticker;
        this.stepsPerReading = stepsPerReading;
    }

    void begin(long deadline) {
        deadlineNanos = deadline;
        stepsToReading = stepsPerReading;
    }

    /** Counts one step of work; whether the slice must end now. */
    boolean stepEndsSlice() {
        if (--stepsToReading > 0) {
            return false;
        }
        stepsToReading = stepsPerReading;
        return isOver();
    }

    /** Makes the next step read the clock, after work of more than one step. */
    void forceClockCheck() {
        stepsToReading = 1;
    }

    /** Reads the clock; whether the deadline has passed. */
    boolean isOver() {
        return ticker.nanoTime() - deadlineNanos >= 0;
    }
}

package io.varve.server.persistence;

import io.varve.memory.item.Ticker;

/**
 * A clock that stands still at the time of the commands that are run again from a log, so that they come to the same
 * decisions about expiry, and otherwise is the machine's. Thread-safe.
 */
public final class ReplayClock implements Ticker {
    private static final long LIVE = -1;

    private final Ticker machine;
    private volatile long replayedMillis = LIVE;

    public ReplayClock(Ticker machine) {
        this.machine = machine;
    }

    @Override
    public long wallMillis() {
        long replayed = replayedMillis;
        return replayed == LIVE ? machine.wallMillis() : replayed;
    }

    @Override
    public long wallMicros() {
        long replayed = replayedMillis;
        return replayed == LIVE ? machine.wallMicros() : 1000 * replayed;
    }

    @Override
    public long nanoTime() {
        return machine.nanoTime();
    }

    /** The clock that does not stand still. */
    public Ticker machine() {
        return machine;
    }

    /** Stops the clock at a time, milliseconds since the epoch. */
    public void stopAt(long millis) {
        replayedMillis = millis;
    }

    /** Lets the clock run. */
    public void run() {
        replayedMillis = LIVE;
    }
}

package io.varve.memory.item;

import java.time.Instant;

/** The machine's clocks. Immutable. */
enum SystemTicker implements Ticker {
    INSTANCE;

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public long wallMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }
}

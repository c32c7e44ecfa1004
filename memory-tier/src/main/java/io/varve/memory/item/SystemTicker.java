package io.varve.memory.item;

/** The machine's clocks. Immutable. */
enum SystemTicker implements Ticker {
    INSTANCE;

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }
}

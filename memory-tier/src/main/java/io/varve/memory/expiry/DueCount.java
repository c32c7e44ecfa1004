package io.varve.memory.expiry;

/** How far a count of items past their time has come: {@link Expiry#countDue}. Confined to whoever counts. */
public final class DueCount {
    int chunk;
    long items;

    /** What was counted so far. */
    public long items() {
        return items;
    }

    /** Begins the next store, and keeps what was counted. */
    public void nextStore() {
        chunk = 0;
    }
}

package io.varve.memory.expiry;

/**
 * The progress of a count of items past their expiry time: {@link Expiry#countDue}. Confined to the counting thread.
 */
public final class DueCount {
    int chunk;
    long items;

    /** The count so far. */
    public long items() {
        return items;
    }

    /** Begins the next store, and keeps the count. */
    public void nextStore() {
        chunk = 0;
    }
}

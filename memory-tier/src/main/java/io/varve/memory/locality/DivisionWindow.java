package io.varve.memory.locality;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells when so many accesses have been made that memory is to be divided anew (pRedis, section 3.3). Thread-safe: shards tell of their accesses
 * many at a time, and one of them is told.
 */
public final class DivisionWindow {
    /** The paper's. */
    public static final long DEFAULT_ACCESSES = 1_000_000;

    private final long accesses;
    private final AtomicLong made = new AtomicLong();

    /**
     * @param accesses of a window, 1 or more
     * @throws IllegalArgumentException if there are none
     */
    public DivisionWindow(long accesses) {
        if (accesses < 1) {
            throw new IllegalArgumentException("A window has 1 access or more, not " + accesses);
        }
        this.accesses = accesses;
    }

    /**
     * Accesses were made.
     *
     * @param more 0 or more
     * @return whether a window ends with one of them, or several do
     */
    public boolean add(long more) {
        long before = made.getAndAdd(more);
        return before / accesses != (before + more) / accesses;
    }
}

package io.varve.server.resp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the tables of giant requests may take of the heap, over all connections. Thread-safe.
 *
 * <p>A client may announce two thousand million arguments, and each takes bytes of the heap when it arrives, however
 * short it is: without a limit of its own it would end the process long before the query buffer's limit is met.
 */
public final class ArgumentMemory {
    /** A table of up to so many entries is not charged. */
    public static final int FREE_ENTRIES = 4096;

    private final long limitBytes;
    private final AtomicLong taken = new AtomicLong();

    public ArgumentMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * Three quarters of the heap: what the server needs beside them does not grow.
     *
     * @param others bytes of it that are others' already
     */
    public static ArgumentMemory ofHeapBeside(long others) {
        return new ArgumentMemory((Runtime.getRuntime().maxMemory() - others) / 4 * 3);
    }

    /** @return whether there was room; if not, nothing is taken */
    public boolean take(long bytes) {
        if (taken.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        taken.addAndGet(-bytes);
        return false;
    }

    public void give(long bytes) {
        taken.addAndGet(-bytes);
    }

    /** Bytes in use. */
    public long takenBytes() {
        return taken.get();
    }
}

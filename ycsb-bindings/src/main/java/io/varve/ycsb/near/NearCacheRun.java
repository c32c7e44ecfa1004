package io.varve.ycsb.near;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of all near caches of a process; the last client that ends prints them. Counters may be incremented by
 * any thread; the number of clients is guarded by {@code this}.
 */
public final class NearCacheRun {

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder invalidations = new LongAdder();
    private final LongAdder overtaken = new LongAdder();
    private int clients;
    private boolean used;

    /** Registers a client before its use, so that a fast client does not end the run that a slow one begins. */
    public synchronized void join() {
        clients++;
    }

    /** A client has a near cache. */
    synchronized void use() {
        used = true;
    }

    /** Ends a client's part; the last one prints the counters, if any client had a near cache. */
    public synchronized void leave(PrintStream to) {
        clients--;
        if (clients == 0 && used) {
            used = false;
            print(to);
        }
    }

    /** Prints in the format of YCSB's own measurements, and begins anew. */
    private void print(PrintStream to) {
        long hit = hits.sumThenReset();
        long missed = misses.sumThenReset();
        to.println("[NEAR-CACHE], Hits, " + hit);
        to.println("[NEAR-CACHE], Misses, " + missed);
        to.println(String.format(Locale.ROOT, "[NEAR-CACHE], HitRatio, %.5f",
                hit + missed == 0 ? 0 : (double) hit / (hit + missed)));
        to.println("[NEAR-CACHE], Invalidations, " + invalidations.sumThenReset());
        to.println("[NEAR-CACHE], LoadsOvertaken, " + overtaken.sumThenReset());
    }

    void hit() {
        hits.increment();
    }

    void missed() {
        misses.increment();
    }

    /** The server has reported a change. */
    void invalidated() {
        invalidations.increment();
    }

    /** A record was read but not kept. */
    void overtaken() {
        overtaken.increment();
    }
}

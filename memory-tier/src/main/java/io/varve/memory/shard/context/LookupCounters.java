package io.varve.memory.shard.context;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Hits and misses of one session's reads without a lock. Written by the session's thread, read by any.
 *
 * <p>Counters of each session, and not of each shard, keep cores from writing to a common cache line. For the same
 * reason they lie in the middle of an array of two cache lines.
 */
public final class LookupCounters {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int LENGTH = 32;
    private static final int HITS = LENGTH / 2;
    private static final int MISSES = HITS + 1;

    private final long[] counts = new long[LENGTH];

    LookupCounters() {}

    public void hit() {
        ELEMENT.setOpaque(counts, HITS, counts[HITS] + 1);
    }

    public void miss() {
        ELEMENT.setOpaque(counts, MISSES, counts[MISSES] + 1);
    }

    long hits() {
        return (long) ELEMENT.getOpaque(counts, HITS);
    }

    long misses() {
        return (long) ELEMENT.getOpaque(counts, MISSES);
    }
}

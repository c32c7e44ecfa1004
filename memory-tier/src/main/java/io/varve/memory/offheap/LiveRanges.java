package io.varve.memory.offheap;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The native ranges that may be touched, for the checked mode of {@link Memory}. Guarded by its concurrent map; empty
 * and unused when the mode is off.
 *
 * <p>Memory that others own (a network buffer, an arena of a test) is announced with {@link #add} by who hands it in.
 */
public final class LiveRanges {
    private static final ConcurrentSkipListMap<Long, Long> ENDS_BY_START = new ConcurrentSkipListMap<>();

    private static final LongAdder CHECKS = new LongAdder();

    private LiveRanges() {}

    /** How many accesses to native memory were verified since the start: what a call adds to it is what it reads and writes. */
    public static long checks() {
        return CHECKS.sum();
    }

    public static void add(long address, long length) {
        if (Memory.CHECKED && length > 0) {
            // Ranges that begin inside the new one were given back by owners who did not say so, and hide it.
            ENDS_BY_START.subMap(address, false, address + length, false).clear();
            ENDS_BY_START.merge(address, address + length, Math::max);
        }
    }

    public static void remove(long address) {
        if (Memory.CHECKED) {
            ENDS_BY_START.remove(address);
        }
    }

    static void check(long address, long length) {
        CHECKS.increment();
        if (length == 0) {
            return;
        }
        Map.Entry<Long, Long> range = ENDS_BY_START.floorEntry(address);
        if (length < 0 || range == null || length > range.getValue() - address) {
            throw new IndexOutOfBoundsException("No live range holds " + length + " bytes at 0x"
                    + Long.toHexString(address));
        }
    }
}

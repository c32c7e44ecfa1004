package io.varve.memory.offheap;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.StampedLock;

/**
 * The native ranges that may be accessed, for the checked mode of {@link Memory}. Written under its lock and read
 * optimistically; empty and unused when the mode is off. A check allocates nothing, so a test in checked mode can
 * measure the allocations of the code under test.
 *
 * <p>A caller that passes in memory of others (a network buffer, an arena of a test) registers it with {@link #add}.
 */
public final class LiveRanges {
    private static final int MIN_RANGES = 1024;

    private static final LongAdder CHECKS = new LongAdder();

    private static final StampedLock LOCK = new StampedLock();
    /**
     * Starts and ends alternating, ordered by start: {@code 2 * count} of them are in use. A reader without the lock
     * may see any mixture.
     */
    private static long[] bounds = new long[2 * MIN_RANGES];
    private static int count;

    private LiveRanges() {}

    /**
     * The number of verified accesses to native memory since the start: its increase over a call is the number of that
     * call's reads and writes.
     */
    public static long checks() {
        return CHECKS.sum();
    }

    public static void add(long address, long length) {
        if (Memory.CHECKED && length > 0) {
            long stamp = LOCK.writeLock();
            try {
                put(address, address + length);
            } finally {
                LOCK.unlockWrite(stamp);
            }
        }
    }

    public static void remove(long address) {
        if (Memory.CHECKED) {
            long stamp = LOCK.writeLock();
            try {
                int at = floor(bounds, count, address);
                if (at >= 0 && bounds[2 * at] == address) {
                    replace(at, at + 1, 0);
                }
            } finally {
                LOCK.unlockWrite(stamp);
            }
        }
    }

    static void check(long address, long length) {
        CHECKS.increment();
        if (length == 0) {
            return;
        }
        long stamp = LOCK.tryOptimisticRead();
        boolean live = stamp != 0 && holds(address, length);
        if (!live || !LOCK.validate(stamp)) {
            stamp = LOCK.readLock();
            try {
                live = holds(address, length);
            } finally {
                LOCK.unlockRead(stamp);
            }
        }
        if (!live) {
            throw new IndexOutOfBoundsException("No live range holds " + length + " bytes at 0x"
                    + Long.toHexString(address));
        }
    }

    private static boolean holds(long address, long length) {
        long[] now = bounds;
        int at = floor(now, Math.min(count, now.length / 2), address);
        return at >= 0 && length >= 0 && length <= now[2 * at + 1] - address;
    }

    private static void put(long start, long end) {
        int at = floor(bounds, count, start);
        boolean known = at >= 0 && bounds[2 * at] == start;
        int from = known ? at : at + 1;
        long last = known ? Math.max(end, bounds[2 * at + 1]) : end;
        // Ranges that begin inside the new one were freed by owners that did not report it; they would hide the new
        // one.
        int behind = floor(bounds, count, end - 1) + 1;
        replace(from, behind, 1);
        bounds[2 * from] = start;
        bounds[2 * from + 1] = last;
    }

    /** Replaces the ranges from {@code from} up to {@code to} (exclusive) with space for {@code many} ranges. */
    private static void replace(int from, int to, int many) {
        int next = count - (to - from) + many;
        if (2 * next > bounds.length) {
            bounds = Arrays.copyOf(bounds, 2 * bounds.length);
        }
        System.arraycopy(bounds, 2 * to, bounds, 2 * (from + many), 2 * (count - to));
        count = next;
    }

    /** The index of the last of {@code count} ranges that starts at or before {@code address}; -1 if there is none. */
    private static int floor(long[] bounds, int count, long address) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (bounds[2 * middle] <= address) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }
}

package io.varve.memory.offheap;

import java.util.Arrays;
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

    private static final int PAGE_BITS = 10;
    private static final int KNOWN_PAGES = Memory.CHECKED ? 1 << 16 : 0;

    private static final StampedLock LOCK = new StampedLock();
    /**
     * Starts and ends alternating, ordered by start: {@code 2 * count} of them are in use. A reader without the lock
     * may see any mixture.
     */
    private static long[] bounds = new long[2 * MIN_RANGES];
    private static int count;
    /**
     * Pages of {@code 1 << PAGE_BITS} bytes that lie wholly inside a live range: the page number {@code p} at index
     * {@code p % KNOWN_PAGES}, or 0. Tests make millions of accesses, and this saves most of them the search. Pages are
     * noted while the lock is held for reading, so a range that is being removed cannot come back.
     */
    private static final long[] knownPages = new long[KNOWN_PAGES];

    private static long checks;

    private LiveRanges() {}

    /**
     * The number of verified accesses to native memory since the start: its increase over a call is the number of that
     * call's reads and writes, if no other thread accesses memory meanwhile. It is not atomic: that would be slower
     * than the access.
     */
    public static long checks() {
        return checks;
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
                    forgetPages(address, bounds[2 * at + 1]);
                    replace(at, at + 1, 0);
                }
            } finally {
                LOCK.unlockWrite(stamp);
            }
        }
    }

    static void check(long address, long length) {
        checks++;
        if (!isInKnownPage(address, length)) {
            search(address, length);
        }
    }

    private static boolean isInKnownPage(long address, long length) {
        long page = address >>> PAGE_BITS;
        return length > 0 && address + length - 1 >>> PAGE_BITS == page && knownPages[index(page)] == page && page != 0;
    }

    private static void search(long address, long length) {
        if (length == 0) {
            return;
        }
        long stamp = LOCK.tryOptimisticRead();
        long page = address >>> PAGE_BITS;
        if (stamp != 0 && holds(address, length) && !holds(page << PAGE_BITS, 1 << PAGE_BITS) && LOCK.validate(stamp)) {
            return;
        }
        stamp = LOCK.readLock();
        try {
            if (!holds(address, length)) {
                throw new IndexOutOfBoundsException("No live range holds " + length + " bytes at 0x"
                        + Long.toHexString(address));
            }
            if (holds(page << PAGE_BITS, 1 << PAGE_BITS)) {
                knownPages[index(page)] = page;
            }
        } finally {
            LOCK.unlockRead(stamp);
        }
    }

    private static int index(long page) {
        return (int) page & KNOWN_PAGES - 1;
    }

    private static void forgetPages(long start, long end) {
        long first = start >>> PAGE_BITS;
        long pages = (end - 1 >>> PAGE_BITS) - first + 1;
        if (pages >= KNOWN_PAGES) {
            Arrays.fill(knownPages, 0);
        } else {
            for (long page = first; page < first + pages; page++) {
                knownPages[index(page)] = 0;
            }
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
        if (behind > from || at >= 0 && bounds[2 * at + 1] > start) {
            Arrays.fill(knownPages, 0);
        }
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

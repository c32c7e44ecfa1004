package io.varve.memory.segment;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * The segments of all shards: one range of address space, cut into segments of one size. Guarded by its own lock;
 * {@link #address} reads only what never changes.
 *
 * <p>A segment is in use (a shard owns it), retained (free, with resident pages) or bare (never used, or its pages
 * returned to the system). The budget is charged for segments in use and retained ones, but only for their extent, the
 * part that may be filled. A shard that holds little takes small extents. A freed segment becomes retained and is the
 * first to be reused. {@link #trim}, which requests never call, makes those segments bare that stayed unused between
 * two of its calls. Resident memory therefore falls after a flush and does not fluctuate with every cleaning.
 *
 * <p>Every address of the reservation can be read at any time without a fault. A batch may therefore prefetch items
 * through stale locations.
 */
public final class SegmentPool implements AutoCloseable {
    /** The result of a refused {@link #acquire}. */
    public static final int NONE = -1;

    /** The number of free segments that stay resident even if unused: the next writes find them warm. */
    static final int KEEP_RETAINED = 4;

    /** A guard behind the last segment, so that reading ahead across its end does not fault. */
    private static final long GUARD_BYTES = Regions.MIN_BYTES;

    /** Returning this much to the system takes some ten microseconds, acceptable under a shard's lock. */
    private static final int MAX_SURPLUS_BYTES = 256 << 10;

    private static final int FIRST_TABLE_LENGTH = 16;

    /** Segments are unavailable while their pages are returned, so only a few are returned at a time. */
    private static final int GIVEN_BACK_AT_ONCE = 8;

    private final MemoryBudget budget;
    private final LargeItems largeItems;
    private final int segmentBytes;
    private final int segmentShift;
    private final int maxSegments;
    private final long base;
    private final long reservedBytes;

    /** Replaced when it grows. ORDER: an entry is set before its id is handed out. */
    private volatile Segment[] segments = new Segment[FIRST_TABLE_LENGTH];
    /** Ids of retained segments: pushed and popped at the end, trimmed at the start. */
    private int[] retained = new int[FIRST_TABLE_LENGTH];
    private int retainedCount;
    /** The minimum of {@link #retainedCount} since the last trim: that many segments were not needed. */
    private int minRetained;
    private int[] bare = new int[FIRST_TABLE_LENGTH];
    private int bareCount;
    private int nextFresh;
    private int inUse;
    private int returning;
    private long chargedBytes;
    /** Charged bytes of free segments. Written under the lock, read without it. */
    private final AtomicLong freeBytes = new AtomicLong();
    private boolean closed;

    /**
     * @param reserveBytes address space for segments; it bounds a later rise of maxmemory, and costs nothing until
     *     it is written (without mmap, all of it is resident at once)
     * @param segmentBytes a power of two from 4 KiB to 8 MiB
     * @throws IllegalArgumentException if the sizes do not fit each other or 25 bits of segment id
     * @throws OutOfMemoryError if the system refuses the reservation, with the remedies
     */
    public SegmentPool(Regions regions, MemoryBudget budget, long reserveBytes, int segmentBytes) {
        SegmentSizing.require(segmentBytes);
        long count = reserveBytes / segmentBytes;
        if (count < 1 || count > Location.MAX_SEGMENT) {
            throw new IllegalArgumentException(
                    "A pool of " + reserveBytes + " bytes would have " + count + " segments of "
                            + segmentBytes + " bytes: expected 1 to " + Location.MAX_SEGMENT
                            + "; a larger segment-size makes fewer");
        }
        this.budget = budget;
        this.segmentBytes = segmentBytes;
        segmentShift = Integer.numberOfTrailingZeros(segmentBytes);
        maxSegments = (int) count;
        reservedBytes = (count << segmentShift) + GUARD_BYTES;
        base = regions.reserve(reservedBytes);
        if (base == 0) {
            throw new OutOfMemoryError(
                    reservedBytes + " bytes of address space cannot be reserved: lower maxmemory, or raise"
                            + " the system's limit (ulimit -v; where vm.overcommit_memory is 2, vm.overcommit_ratio)");
        }
        LiveRanges.add(base, reservedBytes);
        largeItems = new LargeItems(regions, budget);
    }

    /**
     * Acquires a segment for a shard to fill.
     *
     * @param extentBytes the bytes to fill, a multiple of the page size, up to a segment. Only these are charged.
     *     If the pool has few addresses left for its budget, it enlarges the extent, up to whole segments
     * @return its id, or {@link #NONE} if budget or address space are used up
     */
    public int acquire(int extentBytes) {
        while (true) {
            long missing = -budget.availableBytes();
            int id = missing > 0 && !budget.isOverdrawn() ? NONE : tryAcquire(extentBytes);
            // The free memory may consist of many small extents: they must be returned before a larger one fits.
            if (id != NONE || returnMemory(Math.max(missing, extentBytes)) == 0) {
                return id;
            }
        }
    }

    /**
     * As {@link #acquire}, for a cleaner's target segment. If the budget is used up (the limit was lowered below the
     * present memory), it is exceeded, because the segment being cleaned will be freed.
     */
    public int acquireForCleaning(int extentBytes) {
        int id = acquire(extentBytes);
        if (id != NONE) {
            return id;
        }
        synchronized (this) {
            if (closed || bareCount == 0 && nextFresh == maxSegments) {
                return NONE;
            }
            budget.charge(extentBytes);
            id = bareCount > 0 ? bare[--bareCount] : fresh();
            inUse++;
            segments[id].extentBytes(extentBytes);
            chargedBytes += extentBytes;
        }
        return id;
    }

    private int tryAcquire(int wantedBytes) {
        int id;
        int extentBytes;
        int surplus;
        synchronized (this) {
            if (closed) {
                return NONE;
            }
            extentBytes = affordable(wantedBytes);
            id = takeRetained(extentBytes, MAX_SURPLUS_BYTES);
            if (id == NONE) {
                id = takeBare(extentBytes);
            }
            if (id == NONE) {
                id = takeRetained(extentBytes, segmentBytes);
            }
            if (id == NONE) {
                return NONE;
            }
            inUse++;
            surplus = segments[id].extentBytes() - extentBytes;
            segments[id].extentBytes(extentBytes);
            chargedBytes -= surplus;
        }
        if (surplus > 0) {
            // Resident because the shards held more earlier. The caller's shard lock is held meanwhile, hence the
            // bound.
            Regions.discard(segmentAddress(id) + extentBytes, surplus);
            budget.release(surplus);
        }
        return id;
    }

    /**
     * The extent with which the remaining addresses, used one segment per extent, suffice for the rest of the budget.
     */
    private int affordable(int extentBytes) {
        long addressable = (long) (maxSegments - nextFresh + bareCount) << segmentShift;
        long left = budget.availableBytes();
        if (addressable - left >= left / 2) {
            return extentBytes;
        }
        return addressable - left >= left / 4 ? Math.max(extentBytes, segmentBytes / 8) : segmentBytes;
    }

    /**
     * The segment that was freed last among those whose charge suffices, or can be raised; {@link #NONE} if there is
     * none.
     *
     * @param maxSurplus the most bytes by which it may be larger
     */
    private int takeRetained(int extentBytes, int maxSurplus) {
        for (int place = retainedCount - 1; place >= 0; place--) {
            int id = retained[place];
            int charged = segments[id].extentBytes();
            if (charged - extentBytes > maxSurplus) {
                continue;
            }
            if (charged >= extentBytes || budget.tryCharge(extentBytes - charged)) {
                System.arraycopy(retained, place + 1, retained, place, --retainedCount - place);
                freeBytes.addAndGet(-charged);
                minRetained = Math.min(minRetained, retainedCount);
                return id;
            }
        }
        return NONE;
    }

    private int takeBare(int extentBytes) {
        if (bareCount == 0 && nextFresh == maxSegments || !budget.tryCharge(extentBytes)) {
            return NONE;
        }
        return bareCount > 0 ? bare[--bareCount] : fresh();
    }

    private int fresh() {
        int id = nextFresh++;
        Segment[] table = segments;
        if (id == table.length) {
            table = Arrays.copyOf(table, table.length * 2);
        }
        table[id] = new Segment(id);
        segments = table;
        return id;
    }

    /**
     * Takes a segment back. It stays resident and charged until it is handed out again or {@link #trim} finds it idle.
     */
    public synchronized void free(int id) {
        assert inUse > 0 && segment(id).state() == SegmentState.FREE : id + " is " + segment(id).state();
        inUse--;
        retained = push(retained, retainedCount++, id);
        freeBytes.addAndGet(segments[id].extentBytes());
    }

    /**
     * Returns the pages of segments that stayed free since the last call, except a few; of all free ones, if more is
     * charged than the limit allows. Maintenance calls it occasionally, requests never.
     *
     * @return the bytes that are no longer charged
     */
    public long trim() {
        int idle;
        synchronized (this) {
            idle = budget.availableBytes() < 0 ? retainedCount : minRetained - KEEP_RETAINED;
        }
        long bytes = returnSegments(idle, Long.MAX_VALUE);
        synchronized (this) {
            minRetained = retainedCount;
        }
        return bytes;
    }

    /**
     * Returns free segments at once, until {@code bytes} are uncharged or none is free: for callers that need the
     * budget for something else (an index's table, a large run).
     *
     * @return the bytes that are no longer charged
     */
    public long returnMemory(long bytes) {
        return returnSegments(Integer.MAX_VALUE, bytes);
    }

    /** Returns the segments that were free longest, at most {@code max}, and stops after {@code wantedBytes}. */
    private long returnSegments(int max, long wantedBytes) {
        long given = 0;
        int left = max;
        while (left > 0 && given < wantedBytes) {
            int[] ids = takeLongestFree(Math.min(left, GIVEN_BACK_AT_ONCE), wantedBytes - given);
            if (ids.length == 0) {
                break;
            }
            left -= ids.length;
            given += returnMemory(ids);
        }
        return given;
    }

    private synchronized int[] takeLongestFree(int max, long wantedBytes) {
        int count = 0;
        long bytes = 0;
        while (!closed && count < Math.min(max, retainedCount) && bytes < wantedBytes) {
            bytes += segments[retained[count++]].extentBytes();
        }
        int[] ids = Arrays.copyOf(retained, count);
        System.arraycopy(retained, count, retained, 0, retainedCount - count);
        retainedCount -= count;
        minRetained = Math.max(0, minRetained - count);
        returning += count;
        return ids;
    }

    private long returnMemory(int[] ids) {
        long bytes = 0;
        // Without the lock: the system takes up to a millisecond for 8 MiB.
        for (int id : ids) {
            int extentBytes = segments[id].extentBytes();
            Regions.discard(segmentAddress(id), extentBytes);
            bytes += extentBytes;
        }
        synchronized (this) {
            for (int id : ids) {
                segments[id].extentBytes(0);
                bare = push(bare, bareCount++, id);
            }
            returning -= ids.length;
            chargedBytes -= bytes;
            // In this order: a reader in between sees the memory twice rather than not at all.
            budget.release(bytes);
            freeBytes.addAndGet(-bytes);
        }
        return bytes;
    }

    private static int[] push(int[] ids, int count, int id) {
        int[] grown = count == ids.length ? Arrays.copyOf(ids, count * 2) : ids;
        grown[count] = id;
        return grown;
    }

    /** The start address of a segment. */
    public long segmentAddress(int segmentId) {
        return base + ((long) segmentId << segmentShift);
    }

    /** The address of an item's header, for a location in a segment or of a large item. */
    public long address(long location) {
        if (Location.isLarge(location)) {
            return largeItems.address(location);
        }
        return base + ((long) Location.segment(location) << segmentShift) + Location.offset(location);
    }

    /**
     * Whether a location, which may be garbage read without a lock, lies in the reserved address space. The offset is
     * checked because one beyond a segment could lead beyond the last.
     */
    public boolean holds(long location) {
        return Long.compareUnsigned(location >>> Location.OFFSET_BITS, maxSegments) < 0
                && Location.offset(location) < segmentBytes;
    }

    /** Whether as many bytes from a location on, which {@link #holds} accepts, lie in its segment. */
    public boolean holds(long location, int bytes) {
        return Location.offset(location) + bytes <= segmentBytes;
    }

    /** The accounts of a segment that was handed out once. */
    Segment segment(int id) {
        return segments[id];
    }

    /** The large items of all shards. */
    public LargeItems largeItems() {
        return largeItems;
    }

    public int segmentBytes() {
        return segmentBytes;
    }

    /** Reserved address space, bytes. */
    public long reservedBytes() {
        return reservedBytes;
    }

    /** The number of segments that the address space holds. */
    public int maxSegments() {
        return maxSegments;
    }

    public synchronized int segmentsInUse() {
        return inUse;
    }

    /** Free segments that are charged. */
    public synchronized int segmentsFree() {
        return retainedCount + returning;
    }

    /** Bytes charged for segments, in use and free. */
    public synchronized long bytes() {
        return chargedBytes;
    }

    /** Whether segments of this many bytes can be acquired, as far as that can be known without a lock. */
    boolean fitsUncharged(long bytes) {
        return budget.availableBytes() + freeBytes.get() >= bytes;
    }

    /** Bytes charged for free segments. */
    public long freeBytes() {
        return freeBytes.get();
    }

    /** Releases all large items and the reservation. SAFETY: nothing may read any of its addresses afterwards. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        largeItems.releaseAll();
        budget.release(chargedBytes);
        LiveRanges.remove(base);
        Regions.release(base, reservedBytes);
    }
}

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
 * <p>A segment is in use (a shard has it), retained (free, its pages still resident) or bare (never used, or its pages
 * given back). In use and retained ones are charged to the budget, bare ones are not; and they are charged only as far as
 * they may be filled, their extent: a shard that holds little takes small parts of segments. A freed segment is retained, and
 * the next that is asked for; {@link #trim}, off the request's way, makes those bare that nobody needed between two calls
 * of it, so that resident memory falls after a flush and does not swing with every clean.
 *
 * <p>Every address of the reservation can be read at any time without a fault, so that a batch may touch items ahead of
 * their use through locations that are stale.
 */
public final class SegmentPool implements AutoCloseable {
    /** What {@link #acquire} answers when it is refused. */
    public static final int NONE = -1;

    /** As many free segments stay resident however long nobody needs them: the next writes find them warm. */
    static final int KEEP_RETAINED = 4;

    /** Behind the last segment, so that reading ahead across its end does not fault. */
    private static final long GUARD_BYTES = Regions.MIN_BYTES;

    /** So much is given back to the system within some ten microseconds, for a caller who holds a shard's lock. */
    private static final int MOST_SURPLUS_BYTES = 256 << 10;

    private static final int FIRST_TABLE_LENGTH = 16;

    /** While their pages go back, segments are there for nobody: a few at a time. */
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
    /** Ids of retained segments: freed at the end, handed out from the end, trimmed at the start. */
    private int[] retained = new int[FIRST_TABLE_LENGTH];
    private int retainedCount;
    /** The fewest that were retained at any moment since the last trim: so many were not needed. */
    private int leastRetained;
    private int[] bare = new int[FIRST_TABLE_LENGTH];
    private int bareCount;
    private int nextFresh;
    private int inUse;
    private int givingBack;
    private long chargedBytes;
    /** Charged bytes of free segments. Written under the lock, read without. */
    private final AtomicLong freeBytes = new AtomicLong();
    private boolean closed;

    /**
     * @param reserveBytes address space for segments; it bounds how far maxmemory can be raised, and costs nothing until
     *                     it is written (where the system has no mmap, all of it is resident at once)
     * @param segmentBytes a power of two from 4 KiB to 8 MiB
     * @throws IllegalArgumentException if the sizes do not fit each other or 25 bits of segment id
     * @throws OutOfMemoryError         if the system refuses the reservation, with what helps
     */
    public SegmentPool(Regions regions, MemoryBudget budget, long reserveBytes, int segmentBytes) {
        SegmentSizing.require(segmentBytes);
        long count = reserveBytes / segmentBytes;
        if (count < 1 || count > Location.MAX_SEGMENT) {
            throw new IllegalArgumentException("A pool of " + reserveBytes + " bytes has " + count + " segments of "
                    + segmentBytes + " bytes: allowed is 1 to " + Location.MAX_SEGMENT
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
     * A segment for a shard to fill.
     *
     * @param extentBytes how much of it is to be filled: a multiple of the page size, up to a segment. Only so much is
     *                    charged. A pool that has few addresses for its budget left gives more, and then whole segments
     * @return its id, or {@link #NONE} if budget or address space are used up
     */
    public int acquire(int extentBytes) {
        while (true) {
            long missing = -budget.leftBytes();
            int id = missing > 0 && !budget.isOverdrawn() ? NONE : tryAcquire(extentBytes);
            // What is free may be many small extents: they have to go before a larger one fits.
            if (id != NONE || giveBack(Math.max(missing, extentBytes)) == 0) {
                return id;
            }
        }
    }

    /**
     * As {@link #acquire}, for a cleaner to move items to: where the budget is used up (the limit was lowered below what is
     * held), it is exceeded, because the segment that is being cleaned comes back for it.
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
            id = takeRetained(extentBytes, MOST_SURPLUS_BYTES);
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
            // Resident from a time when the shards held more. The caller's lock is held meanwhile: hence the bound.
            Regions.discard(segmentAddress(id) + extentBytes, surplus);
            budget.release(surplus);
        }
        return id;
    }

    /** So much of a segment that the addresses left suffice, in whole segments, for what is left of the budget. */
    private int affordable(int extentBytes) {
        long addressable = (long) (maxSegments - nextFresh + bareCount) << segmentShift;
        long left = budget.leftBytes();
        if (addressable - left >= left / 2) {
            return extentBytes;
        }
        return addressable - left >= left / 4 ? Math.max(extentBytes, segmentBytes / 8) : segmentBytes;
    }

    /**
     * The segment that was freed last and whose charge suffices, or can be raised; {@link #NONE} if there is none.
     *
     * @param mostSurplus by how many bytes it may be larger at most
     */
    private int takeRetained(int extentBytes, int mostSurplus) {
        for (int place = retainedCount - 1; place >= 0; place--) {
            int id = retained[place];
            int charged = segments[id].extentBytes();
            if (charged - extentBytes > mostSurplus) {
                continue;
            }
            if (charged >= extentBytes || budget.tryCharge(extentBytes - charged)) {
                System.arraycopy(retained, place + 1, retained, place, --retainedCount - place);
                freeBytes.addAndGet(-charged);
                leastRetained = Math.min(leastRetained, retainedCount);
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

    /** Takes a segment back. It stays resident and charged until it is handed out again or {@link #trim} finds it idle. */
    public synchronized void free(int id) {
        assert inUse > 0 && segment(id).state() == SegmentState.FREE : id + " is " + segment(id).state();
        inUse--;
        retained = push(retained, retainedCount++, id);
        freeBytes.addAndGet(segments[id].extentBytes());
    }

    /**
     * Called by maintenance now and then, never on the request's way: gives back the pages of segments that were free at
     * the last call and ever since, but a few; of all free ones, if more is charged than the limit allows.
     *
     * @return how many bytes are no longer charged
     */
    public long trim() {
        int idle;
        synchronized (this) {
            idle = budget.leftBytes() < 0 ? retainedCount : leastRetained - KEEP_RETAINED;
        }
        long bytes = giveBackSegments(idle, Long.MAX_VALUE);
        synchronized (this) {
            leastRetained = retainedCount;
        }
        return bytes;
    }

    /**
     * Gives back free segments at once, until {@code bytes} are no longer charged or none is free: for who needs the
     * budget for something else (an index's table, a large run).
     *
     * @return how many bytes are no longer charged
     */
    public long giveBack(long bytes) {
        return giveBackSegments(Integer.MAX_VALUE, bytes);
    }

    /** The longest free first, at most so many, and no more once {@code wantedBytes} are reached. */
    private long giveBackSegments(int most, long wantedBytes) {
        long given = 0;
        int left = most;
        while (left > 0 && given < wantedBytes) {
            int[] ids = takeLongestFree(Math.min(left, GIVEN_BACK_AT_ONCE), wantedBytes - given);
            if (ids.length == 0) {
                break;
            }
            left -= ids.length;
            given += giveBack(ids);
        }
        return given;
    }

    private synchronized int[] takeLongestFree(int most, long wantedBytes) {
        int count = 0;
        long bytes = 0;
        while (!closed && count < Math.min(most, retainedCount) && bytes < wantedBytes) {
            bytes += segments[retained[count++]].extentBytes();
        }
        int[] ids = Arrays.copyOf(retained, count);
        System.arraycopy(retained, count, retained, 0, retainedCount - count);
        retainedCount -= count;
        leastRetained = Math.max(0, leastRetained - count);
        givingBack += count;
        return ids;
    }

    private long giveBack(int[] ids) {
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
            givingBack -= ids.length;
            chargedBytes -= bytes;
            // In this order: who looks in between sees room twice rather than not at all.
            budget.release(bytes);
            freeBytes.addAndGet(-bytes);
        }
        return bytes;
    }

    private static int[] push(int[] ids, int count, int id) {
        int[] roomy = count == ids.length ? Arrays.copyOf(ids, count * 2) : ids;
        roomy[count] = id;
        return roomy;
    }

    /** Where a segment starts. */
    public long segmentAddress(int segmentId) {
        return base + ((long) segmentId << segmentShift);
    }

    /** Where an item's header is, of a location in a segment or of a large item's. */
    public long address(long location) {
        if (Location.isLarge(location)) {
            return largeItems.address(location);
        }
        return base + ((long) Location.segment(location) << segmentShift) + Location.offset(location);
    }

    /**
     * Whether a location, which may be garbage read without a lock, points into the reserved address space: an offset
     * that no segment has could lead beyond the last.
     */
    public boolean holds(long location) {
        return Long.compareUnsigned(location >>> Location.OFFSET_BITS, maxSegments) < 0
                && Location.offset(location) < segmentBytes;
    }

    /** What is known of a segment that was handed out once. */
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

    /** Address space taken, bytes. */
    public long reservedBytes() {
        return reservedBytes;
    }

    /** How many segments there is address space for. */
    public int maxSegments() {
        return maxSegments;
    }

    public synchronized int segmentsInUse() {
        return inUse;
    }

    /** Free segments that are charged. */
    public synchronized int segmentsFree() {
        return retainedCount + givingBack;
    }

    /** Bytes charged for segments, in use and free. */
    public synchronized long bytes() {
        return chargedBytes;
    }

    /** Whether segments of so many bytes can be acquired, as far as that can be told without a lock. */
    boolean isThereFor(long bytes) {
        return budget.leftBytes() + freeBytes.get() >= bytes;
    }

    /** Bytes charged for free segments. */
    public long freeBytes() {
        return freeBytes.get();
    }

    /** Lets all large items go and ends the reservation. SAFETY: nothing may read any of its addresses afterwards. */
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

package io.varve.memory.offheap;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Allocates and frees native memory in regions whose size is a power of two. Thread-safe: guarded by its own lock.
 *
 * <p>A freed region's pages return to the system, but its addresses stay mapped and serve the next request of that
 * size. An address that was valid once can therefore be read at any later time without a fault. This lets a batch
 * prefetch index lines and items without a lock: it may read stale or zero bytes, and uses none of them. The price is
 * address space, at most twice the peak.
 *
 * <p>Without mmap (see {@link NativeCalls}), regions come from one arena. They are zero-filled at once, so they are
 * resident until exit. They count against the JVM's limit of direct memory ({@code -XX:MaxDirectMemorySize}), beyond
 * which they are refused.
 */
public final class Regions {
    /** The smallest region, bytes: a page. */
    public static final long MIN_BYTES = 4096;

    /** The system reclaims the pages of a smaller region within some 50 microseconds. */
    static final long RETIRE_FROM_BYTES = 1 << 20;
    /** The most bytes that may be resident beyond the charged ones. */
    static final long MAX_RETIRED_BYTES = 64 << 20;

    /**
     * A region that waits for {@link #discardRetired}. Immutable.
     *
     * @param charge the charge released with its pages; 0 if it was released when the region was retired
     */
    private record Retired(long address, long bytes, MemoryBudget budget, long charge) {}

    private final ArrayDeque<Retired> retired = new ArrayDeque<>();
    /** Bytes of retired regions whose charge was released. */
    private long retiredBytes;
    /** The charge of the other retired regions. */
    private volatile long deferredBytes;
    /** Held while retired regions are discarded: a second caller then finds them discarded. */
    private final ReentrantLock discarding = new ReentrantLock();
    private final Map<Long, ArrayDeque<Long>> freeBySize = new HashMap<>();
    private final LongUnaryOperator system;
    private final boolean mapped;

    public Regions() {
        this(NativeCalls.AVAILABLE);
    }

    /** @param mapped whether memory comes from mmap; else from an arena */
    Regions(boolean mapped) {
        this(mapped, mapped ? NativeCalls::map : arena());
    }

    /** @param system takes a number of bytes and returns the address of that much exclusive memory, or 0 */
    Regions(boolean mapped, LongUnaryOperator system) {
        this.mapped = mapped;
        this.system = system;
    }

    private static LongUnaryOperator arena() {
        Arena arena = Arena.ofAuto();
        return bytes -> NativeCalls.allocateInArena(arena, bytes, MIN_BYTES);
    }

    /** Whether memory becomes resident only when it is written, so that address space costs nothing. */
    public boolean mapped() {
        return mapped;
    }

    /**
     * Allocates zeroed memory, aligned to a page.
     *
     * @param bytes a power of two, at least {@link #MIN_BYTES}
     * @return the address; 0 if the system refuses
     */
    public synchronized long allocate(long bytes) {
        requirePowerOfTwo(bytes);
        ArrayDeque<Long> free = freeBySize.get(bytes);
        Long reused = free == null ? null : free.pollFirst();
        long address = reused != null ? reused : reserve(bytes);
        if (address != 0) {
            LiveRanges.add(address, bytes);
        }
        return address;
    }

    /** Frees a region from {@link #allocate}; resident memory falls at once. */
    public void free(long address, long bytes) {
        requirePowerOfTwo(bytes);
        // Without the lock: the system takes some 100 ms for 512 MiB, and no other thread can have the region yet.
        discard(address, bytes, mapped);
        LiveRanges.remove(address);
        synchronized (this) {
            freeBySize.computeIfAbsent(bytes, size -> new ArrayDeque<>()).addFirst(address);
        }
    }

    /**
     * As {@link #free}, for callers that hold a contended lock. A region whose pages the system would take long to
     * reclaim waits for {@link #discardRetired}. Its charge is released at once while few bytes are waiting, and
     * otherwise with its pages. This bounds the resident memory beyond the charge.
     *
     * @param charge the bytes that were charged to the budget
     */
    public void retire(long address, long bytes, MemoryBudget budget, long charge) {
        requirePowerOfTwo(bytes);
        if (bytes < RETIRE_FROM_BYTES) {
            free(address, bytes);
            budget.release(charge);
            return;
        }
        boolean little;
        synchronized (this) {
            little = retiredBytes + bytes <= MAX_RETIRED_BYTES;
            retiredBytes += little ? bytes : 0;
            deferredBytes += little ? 0 : charge;
            retired.add(new Retired(address, bytes, budget, little ? 0 : charge));
        }
        if (little) {
            budget.release(charge);
        }
    }

    /**
     * Returns retired regions to the system. Called without a lock, by maintenance and by threads that are short of
     * memory.
     *
     * @return the bytes of charge that it released
     */
    public long discardRetired() {
        discarding.lock();
        try {
            long released = 0;
            for (Retired region = nextRetired(); region != null; region = nextRetired()) {
                free(region.address, region.bytes);
                region.budget.release(region.charge);
                released(region.charge);
                released += region.charge;
            }
            return released;
        } finally {
            discarding.unlock();
        }
    }

    private synchronized void released(long charge) {
        deferredBytes -= charge;
    }

    /** The charge that {@link #discardRetired} would release, or is releasing. */
    public long deferredBytes() {
        return deferredBytes;
    }

    private synchronized @Nullable Retired nextRetired() {
        Retired region = retired.poll();
        if (region != null && region.charge == 0) {
            retiredBytes -= region.bytes;
        }
        return region;
    }

    /**
     * Reserves a range of address space permanently; none of it is resident until written. Zero if the system refuses.
     *
     * @param bytes a multiple of the page size
     */
    public synchronized long reserve(long bytes) {
        return system.applyAsLong(bytes);
    }

    /** Returns the pages of a range to the system and leaves it mapped, reading as zeros. */
    public static void discard(long address, long bytes) {
        discard(address, bytes, NativeCalls.AVAILABLE);
    }

    private static void discard(long address, long bytes, boolean mapped) {
        if (!mapped || !NativeCalls.discard(address, bytes)) {
            // Reused memory must read as zeros, even if the system refuses (as for locked pages).
            Memory.fill(address, bytes, (byte) 0);
        }
    }

    /** Ends a reservation. SAFETY: nothing may read the range afterwards, not even ahead of use. */
    public static void release(long address, long bytes) {
        if (NativeCalls.AVAILABLE) {
            NativeCalls.unmap(address, bytes);
        }
    }

    private static void requirePowerOfTwo(long bytes) {
        if (bytes < MIN_BYTES || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(
                    "The size of a region must be a power of two of at least " + MIN_BYTES + ", not "
                            + bytes);
        }
    }
}

package io.varve.memory.offheap;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Hands out native memory in regions whose size is a power of two, and takes them back. Guarded by its own lock; many
 * threads may call.
 *
 * <p>A region that was freed is given back to the system but stays mapped, and is handed out again for the next request
 * of its size. So an address that was valid once can be read at any later time without a fault, which is what lets a
 * batch touch index lines and items ahead of their use without taking a lock: what it reads may be stale or zero, and
 * nothing read ahead is used. The price is address space, at most twice the peak.
 *
 * <p>Where the system has no mmap (see {@link NativeCalls}), regions come from one arena: they are zero-filled at once, so
 * resident, stay resident until exit, and count against the JVM's limit of direct memory
 * ({@code -XX:MaxDirectMemorySize}); past it they are refused.
 */
public final class Regions {
    /** The smallest region, bytes: a page. */
    public static final long MIN_BYTES = 4096;

    /** The system gets the pages of a smaller region back within some 50 microseconds. */
    static final long RETIRE_FROM_BYTES = 1 << 20;
    /** So much may be resident beyond what is charged. */
    static final long MAX_RETIRED_BYTES = 64 << 20;

    /** @param charge that is released when it is discarded; 0 if it was released when it was retired */
    private record Retired(long address, long bytes, MemoryBudget budget, long charge) {}

    private final ArrayDeque<Retired> retired = new ArrayDeque<>();
    /** Of those whose charge was released. */
    private long retiredBytes;
    /** What is charged for the others, until it was released. */
    private volatile long deferredBytes;
    /** Held while retired regions are discarded: who comes second finds them discarded. */
    private final ReentrantLock discarding = new ReentrantLock();
    private final Map<Long, ArrayDeque<Long>> freeBySize = new HashMap<>();
    private final LongUnaryOperator system;
    private final boolean mapped;

    public Regions() {
        this(NativeCalls.AVAILABLE);
    }

    /**
     * @param mapped whether memory comes from mmap; else from an arena
     */
    Regions(boolean mapped) {
        this(mapped, mapped ? NativeCalls::map : arena());
    }

    /**
     * @param system takes a number of bytes, and answers where so many are that nobody else has, or 0
     */
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
     * Zeroed memory, aligned to a page.
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

    /** Takes back what {@link #allocate} handed out; resident memory falls at once. */
    public void free(long address, long bytes) {
        requirePowerOfTwo(bytes);
        // Without the lock: the system takes some 100 ms for 512 MiB, and nobody else can have the region yet.
        discard(address, bytes, mapped);
        LiveRanges.remove(address);
        synchronized (this) {
            freeBySize.computeIfAbsent(bytes, size -> new ArrayDeque<>()).addFirst(address);
        }
    }

    /**
     * As {@link #free}, for who holds a lock that others wait for: a region of which the system would take long to get the
     * pages back waits for {@link #discardRetired}. What it was charged is released at once as long as little waits, and else
     * with its pages: so much more than what is charged is never resident.
     *
     * @param charge what it was charged in the budget, bytes
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
     * Gives what was retired back to the system. Called without a lock: by maintenance, and by who is short of memory.
     *
     * @return bytes whose charge was released by it
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

    /** What {@link #discardRetired} would release, or is releasing. */
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
     * Reserves a range of address space for good; none of it is resident until written. Zero if the system refuses.
     *
     * @param bytes a multiple of the page size
     */
    public synchronized long reserve(long bytes) {
        return system.applyAsLong(bytes);
    }

    /** Gives the pages of a range back to the system and leaves it mapped, reading as zeros. */
    public static void discard(long address, long bytes) {
        discard(address, bytes, NativeCalls.AVAILABLE);
    }

    private static void discard(long address, long bytes, boolean mapped) {
        if (!mapped || !NativeCalls.giveBack(address, bytes)) {
            // What is handed out again must read as zeros, whether or not the system takes it (locked pages it does not).
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
            throw new IllegalArgumentException("A region's size is a power of two from " + MIN_BYTES + ", not "
                    + bytes);
        }
    }
}

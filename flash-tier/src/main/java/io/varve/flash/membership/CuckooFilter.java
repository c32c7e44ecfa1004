package io.varve.flash.membership;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A cuckoo filter over hashes: it may report a hash that it does not hold, always reports one that it holds, and
 * supports removal (Fan, Andersen, Kaminsky and Mitzenmacher: Cuckoo Filter, CoNEXT 2014). Writers are serialized by a
 * lock, readers take none.
 *
 * <p>Each hash is stored as a fingerprint of ten bits in one of two buckets of four:
 *
 * <pre>
 *          40 bits: one bucket
 *   | f | f | 0 | f |     0: free          first + second = sum(fingerprint)   modulo the number of buckets,
 *                                          so each is found from the other, whatever the number is
 * </pre>
 *
 * <p>At 94 % of the slots a hash takes 1.33 bytes, and one in 128 absent hashes is reported. A filter that is fuller
 * than its capacity keeps the few hashes that find no slot in a map.
 *
 * <p>A fingerprint that moves is in both buckets for a moment. A reader that finds nothing during a move reports a
 * possible match.
 */
public final class CuckooFilter {
    private static final int SLOTS = 4;
    private static final int FINGERPRINT_BITS = 10;
    private static final int FINGERPRINT_MASK = (1 << FINGERPRINT_BITS) - 1;
    private static final int BUCKET_BYTES = SLOTS * FINGERPRINT_BITS / Byte.SIZE;
    private static final long BUCKET_MASK = (1L << SLOTS * FINGERPRINT_BITS) - 1;
    /** Fraction of the slots that are used at capacity. */
    private static final double LOAD = 0.94;
    /** Maximum number of buckets that a search for a free slot visits: at most five moves. */
    private static final int MAX_EXAMINED = 2048;
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;
    private static final long MIX = 0xBF58_476D_1CE4_E5B9L;
    private static final int MIX_SHIFT = 32;
    /** A bit in the lowest place of each slot. */
    private static final long ONES = 1L | 1L << FINGERPRINT_BITS | 1L << 2 * FINGERPRINT_BITS
            | 1L << 3 * FINGERPRINT_BITS;
    private static final long HIGHEST = ONES << FINGERPRINT_BITS - 1;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final VarHandle WORDS = WORD.varHandle();

    private final MemorySegment bytes;
    private final long buckets;
    private final ReentrantLock lock = new ReentrantLock();
    /** Hashes that found no slot, with their multiplicities. */
    private final Map<Long, Integer> beside = new ConcurrentHashMap<>();
    /** Odd while a fingerprint moves. */
    private final AtomicLong moves = new AtomicLong();
    private final AtomicLong count = new AtomicLong();

    // The search for a free slot: visited buckets, their predecessors, and the slot to move. Guarded by the lock.
    private final long[] examined = new long[MAX_EXAMINED];
    private final int[] from = new int[MAX_EXAMINED];
    private final int[] outOf = new int[MAX_EXAMINED];

    /**
     * @param arena owner of its memory
     * @param capacity hashes, 1 or more
     * @throws IllegalArgumentException if the capacity is out of its range
     */
    public CuckooFilter(Arena arena, long capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("The capacity of a cuckoo filter is at least one hash, not " + capacity);
        }
        buckets = (long) Math.ceil(capacity / LOAD / SLOTS) + 1;
        // A bucket, including the last one, is read as a word.
        bytes = arena.allocate(buckets * BUCKET_BYTES + Long.BYTES - BUCKET_BYTES, Long.BYTES);
    }

    /** Adds a hash of 64 well-mixed bits; a hash that is added twice must be removed twice. */
    public void add(long hash) {
        lock.lock();
        try {
            // Counted before it is visible, so that every thread that sees it also sees it counted.
            count.incrementAndGet();
            int fingerprint = fingerprint(hash);
            long first = first(hash);
            if (!put(first, fingerprint) && !put(other(first, fingerprint), fingerprint)
                    && !makeSpace(first, fingerprint)) {
                beside.merge(hash, 1, Integer::sum);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes a hash that was added. Removal of any other hash would remove one with an equal fingerprint.
     *
     * @return false if the filter certainly did not hold it
     */
    public boolean remove(long hash) {
        lock.lock();
        try {
            boolean was = beside.containsKey(hash);
            if (was) {
                beside.computeIfPresent(hash, (_, times) -> times == 1 ? null : times - 1);
            } else {
                was = removeFrom(hash);
            }
            if (was) {
                count.decrementAndGet();
            }
            return was;
        } finally {
            lock.unlock();
        }
    }

    private boolean removeFrom(long hash) {
        int fingerprint = fingerprint(hash);
        long first = first(hash);
        return clear(first, fingerprint) || clear(other(first, fingerprint), fingerprint);
    }

    /** Whether the filter may hold the hash: false is certain. */
    public boolean mightContain(long hash) {
        long before = moves.get();
        int fingerprint = fingerprint(hash);
        long first = first(hash);
        if (slotOf(read(first), fingerprint) >= 0 || slotOf(read(other(first, fingerprint)), fingerprint) >= 0
                || !beside.isEmpty() && beside.containsKey(hash)) {
            return true;
        }
        VarHandle.loadLoadFence();
        // It may have been moving from the one to the other.
        return (before & 1) != 0 || moves.get() != before;
    }

    /** Number of hashes. */
    public long count() {
        return count.get();
    }

    /** Memory in bytes, beside some objects of fixed size and the few hashes without a slot. */
    public long ramBytes() {
        return bytes.byteSize();
    }

    /** Number of hashes without a slot. */
    public int countBeside() {
        return beside.values().stream().mapToInt(Integer::intValue).sum();
    }

    private boolean put(long bucket, int fingerprint) {
        long word = read(bucket);
        int slot = slotOf(word, 0);
        if (slot < 0) {
            return false;
        }
        write(bucket, with(word, slot, fingerprint));
        return true;
    }

    private boolean clear(long bucket, int fingerprint) {
        long word = read(bucket);
        int slot = slotOf(word, fingerprint);
        if (slot < 0) {
            return false;
        }
        // A move may just have put another equal fingerprint into the other bucket: a concurrent reader of both must
        // report a possible match.
        moves.addAndGet(2);
        VarHandle.storeStoreFence();
        write(bucket, with(word, slot, 0));
        return true;
    }

    /**
     * Searches, breadth first, for a bucket with a free slot, such that moves to it free a slot in one of the hash's
     * own buckets. Then it makes the moves, the last one first, so that each fingerprint is in two places before it is
     * in one.
     */
    private boolean makeSpace(long first, int fingerprint) {
        examined[0] = first;
        examined[1] = other(first, fingerprint);
        from[0] = -1;
        from[1] = -1;
        int end = 2;
        for (int at = 0; at < end; at++) {
            long word = read(examined[at]);
            for (int slot = 0; slot < SLOTS && end < MAX_EXAMINED; slot++) {
                if (isOnTheWay(at, examined[at], slot)) {
                    continue;
                }
                examined[end] = other(examined[at], at(word, slot));
                from[end] = at;
                outOf[end] = slot;
                if (slotOf(read(examined[end]), 0) >= 0) {
                    long freed = move(end);
                    return put(freed, fingerprint);
                }
                end++;
            }
        }
        return false;
    }

    /** Whether the path that leads here moves this slot already: it cannot be moved twice. */
    private boolean isOnTheWay(int place, long bucket, int slot) {
        for (int at = place; from[at] >= 0; at = from[at]) {
            if (examined[from[at]] == bucket && outOf[at] == slot) {
                return true;
            }
        }
        return false;
    }

    /** @return the bucket, of the two at the start, that has a free slot */
    private long move(int end) {
        moves.incrementAndGet();
        VarHandle.storeStoreFence();
        int at = end;
        while (from[at] >= 0) {
            long source = examined[from[at]];
            long word = read(source);
            int moved = at(word, outOf[at]);
            put(examined[at], moved);
            write(source, with(read(source), outOf[at], 0));
            at = from[at];
        }
        moves.incrementAndGet();
        return examined[at];
    }

    private long read(long bucket) {
        return (long) WORDS.get(bytes, bucket * BUCKET_BYTES) & BUCKET_MASK;
    }

    /** The next bucket's bits in the word stay unchanged: no other thread writes. */
    private void write(long bucket, long word) {
        long offset = bucket * BUCKET_BYTES;
        long old = (long) WORDS.get(bytes, offset);
        WORDS.set(bytes, offset, old & ~BUCKET_MASK | word);
        VarHandle.storeStoreFence();
    }

    private static int at(long word, int slot) {
        return (int) (word >>> slot * FINGERPRINT_BITS) & FINGERPRINT_MASK;
    }

    private static long with(long word, int slot, int fingerprint) {
        int shift = slot * FINGERPRINT_BITS;
        return word & ~((long) FINGERPRINT_MASK << shift) | (long) fingerprint << shift;
    }

    /** The first slot with the fingerprint, or -1: all four are compared at once. */
    private static int slotOf(long word, int fingerprint) {
        long difference = word ^ ONES * fingerprint;
        // The highest bit of a slot is set where the difference is zero; a borrow can set it wrongly only above such a
        // slot.
        long zero = difference - ONES & ~difference & HIGHEST;
        return zero == 0 ? -1 : Long.numberOfTrailingZeros(zero) / FINGERPRINT_BITS;
    }

    /** A fingerprint, 1 to 1023. */
    private static int fingerprint(long hash) {
        return 1 + (int) Math.unsignedMultiplyHigh(mixed(hash), FINGERPRINT_MASK);
    }

    private long first(long hash) {
        return Math.unsignedMultiplyHigh(mixed(hash + STEP), buckets);
    }

    private long other(long bucket, int fingerprint) {
        long other = Math.unsignedMultiplyHigh(mixed(fingerprint), buckets) - bucket;
        return other < 0 ? other + buckets : other;
    }

    private static long mixed(long value) {
        long mixed = (value ^ value >>> MIX_SHIFT) * MIX;
        mixed = (mixed ^ mixed >>> MIX_SHIFT) * STEP;
        return mixed ^ mixed >>> MIX_SHIFT;
    }
}

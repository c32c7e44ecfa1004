package io.varve.memory.index;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * One table of index buckets with its overflow. Guarded by the shard's lock; address and mask are final, so a reader
 * without the lock that holds the object sees a consistent pair.
 *
 * <p>An insert tries these places in order: the home bucket, as a native; the home's extension bucket; the same
 * extension bucket after its natives were displaced along their own extension buckets; the overflow. The extension
 * bucket is one of five candidates by quadratic probing. It is the one with the fewest used slots when it is first
 * needed, and stays while entries may be in it. A lookup thus reads at most two index buckets, and searches the
 * overflow only if the home bucket is marked.
 *
 * <p>The paper rehashes if displacement fails. At a load of 0.87, seven slots hold 6.1 entries in the mean, and one
 * home bucket in some hundreds has more than the 14 that it and its extension can hold. A large table would then double
 * long before it is full, and keys chosen to share one home bucket would double it without end. The overflow avoids
 * both.
 */
final class IndexTable {
    static final int MIN_BUCKETS = (int) (Regions.MIN_BYTES / IndexBucketLayout.BUCKET_BYTES);
    /** The longest displacement path in buckets. Longer ones hardly ever succeed and cost a cache miss per bucket. */
    static final int MAX_DISPLACEMENTS = 8;
    private static final int[] PROBES = {1, 4, 9, 16, 25};
    /**
     * Overflow entries count towards the load up to this share of the slots, so that chosen keys cannot make the table
     * grow.
     */
    private static final int OVERFLOW_SHARE = 32;
    /**
     * The share of the growth threshold below which a table shrinks. After shrinking, it needs two thirds more entries
     * to double, which prevents oscillation.
     */
    private static final double SHRINK_SHARE = 0.3;
    /** The part of the shrink threshold below which a table is sparse. */
    private static final int SPARSE_PART = 4;
    private static final double CROWDED_LOAD = 0.95;
    /** The share of the growth threshold above which doubling a crowded table is worth it. */
    private static final double WORTH_DOUBLING_SHARE = 0.7;

    /** Whether the budget has to allow a table, and out of which part. */
    enum Charge {
        UNCONDITIONAL, UP_TO_LIMIT, BESIDE_RESERVE
    }

    final long address;
    final long mask;
    final Overflow overflow;
    private final Regions regions;
    private final MemoryBudget budget;
    private final long growAt;
    private final long shrinkBelow;
    private final long[] path = new long[MAX_DISPLACEMENTS + 1];
    /** Used slots of all buckets, without the overflow. */
    private long used;
    /** Whether it is for entries to come. */
    private boolean keepsSize;

    private IndexTable(long address, long buckets, KeyVerifier verifier, Regions regions, MemoryBudget budget,
            double growLoad) {
        this.address = address;
        this.mask = buckets - 1;
        this.regions = regions;
        this.budget = budget;
        this.overflow = new Overflow(mask, verifier, regions, budget);
        this.growAt = (long) (buckets * IndexBucketLayout.SLOTS * growLoad);
        this.shrinkBelow = buckets <= MIN_BUCKETS ? 0 : (long) (growAt * SHRINK_SHARE);
    }

    /**
     * Opens an empty table with a power of two of buckets; null if its memory is refused.
     *
     * @param charge whether the budget has to allow it
     */
    static @Nullable IndexTable open(long buckets, KeyVerifier verifier, Regions regions, MemoryBudget budget,
            double growLoad, Charge charge) {
        long bytes = buckets << IndexBucketLayout.BUCKET_SHIFT;
        boolean allowed = switch (charge) {
            case UNCONDITIONAL -> {
                budget.charge(bytes);
                yield true;
            }
            case UP_TO_LIMIT -> budget.tryCharge(bytes);
            case BESIDE_RESERVE -> budget.tryChargeBesideReserve(bytes);
        };
        if (!allowed) {
            return null;
        }
        long address = regions.allocate(bytes);
        if (address == 0) {
            budget.release(bytes);
            return null;
        }
        return new IndexTable(address, buckets, verifier, regions, budget, growLoad);
    }

    /** Frees all memory. It stays mapped, so a stale read of a line is harmless. */
    void release() {
        overflow.release();
        regions.retire(address, tableBytes(), budget, tableBytes());
        used = 0;
    }

    /** The smallest power of two of buckets that holds so many entries without growing. */
    static long bucketsFor(long entries, double growLoad) {
        double buckets = entries / (IndexBucketLayout.SLOTS * growLoad);
        return buckets < MIN_BUCKETS ? MIN_BUCKETS : Long.highestOneBit((long) buckets) << 1;
    }

    long buckets() {
        return mask + 1;
    }

    long slots() {
        return buckets() * IndexBucketLayout.SLOTS;
    }

    long used() {
        return used;
    }

    long bytes() {
        return tableBytes() + overflow.bytes();
    }

    private long tableBytes() {
        return buckets() << IndexBucketLayout.BUCKET_SHIFT;
    }

    boolean growDue() {
        return load() >= growAt;
    }

    /** Whether the table is so full that searches are long: evicting items for a larger table is worth it. */
    boolean isCrowded() {
        return load() >= slots() * CROWDED_LOAD;
    }

    /** Whether twice as many buckets would still be full enough not to shrink soon. */
    boolean isWorthDoubling() {
        return load() >= growAt * WORTH_DOUBLING_SHARE;
    }

    boolean shrinkDue() {
        return load() < shrinkBelow && !keepsSize;
    }

    /** Whether it stays as large as it is, however few entries it has. */
    void keepsSize(boolean keeps) {
        keepsSize = keeps;
    }

    /** Whether the table is so empty that it should have shrunk long ago, but was refused the memory. */
    boolean isSparse() {
        return load() < shrinkBelow / SPARSE_PART;
    }

    private long load() {
        return used + Math.min(overflow.count(), slots() / OVERFLOW_SHARE);
    }

    long bucketAddress(long bucket) {
        return IndexBucketLayout.address(address, bucket);
    }

    /** Adds an entry, whose item must already be at the location; false, with nothing changed, if memory is refused. */
    boolean insert(long hash, long location) {
        long home = IndexBucketLayout.home(hash, mask);
        long bucket = bucketAddress(home);
        int slot = IndexBucketLayout.freeSlot(bucket);
        if (slot < IndexBucketLayout.SLOTS) {
            IndexBucketLayout.put(bucket, slot, IndexBucketLayout.tag(hash), location, true);
            used++;
            return true;
        }
        return insertBeyondHome(home, bucket, hash, location);
    }

    private boolean insertBeyondHome(long home, long bucket, long hash, long location) {
        long extension = IndexBucketLayout.next(bucket);
        if (extension == IndexBucketLayout.NO_BUCKET) {
            extension = leastUsed(home);
        }
        long extensionAddress = bucketAddress(extension);
        if (IndexBucketLayout.freeSlot(extensionAddress) < IndexBucketLayout.SLOTS || displace(extension, home)) {
            IndexBucketLayout.next(bucket, extension);
            IndexBucketLayout.put(extensionAddress, IndexBucketLayout.freeSlot(extensionAddress),
                    IndexBucketLayout.tag(hash), location, false);
            used++;
            return true;
        }
        if (!overflow.add(hash, location)) {
            return false;
        }
        IndexBucketLayout.overflowed(bucket, true);
        return true;
    }

    /** Among the five candidates for an extension bucket, the first with the fewest used slots. */
    private long leastUsed(long home) {
        long best = IndexBucketLayout.NO_BUCKET;
        int fewest = IndexBucketLayout.SLOTS + 1;
        for (int probe : PROBES) {
            long candidate = home + probe & mask;
            int usedSlots = IndexBucketLayout.usedSlots(bucketAddress(candidate));
            if (usedSlots < fewest) {
                fewest = usedSlots;
                best = candidate;
            }
        }
        return best;
    }

    static boolean isProbeOf(long home, long extension, long mask) {
        for (int probe : PROBES) {
            if ((home + probe & mask) == extension) {
                return true;
            }
        }
        return false;
    }

    /**
     * Frees a slot in a full bucket by moving one of its natives to its extension bucket, a native of that one to its
     * own extension bucket, and so on. It changes nothing if the path does not end within the bound.
     *
     * <p>The path is first searched and then moved along backwards. Each step depends on the bucket alone, so a cyclic
     * path never ends at a free slot: a path that ends contains no bucket twice.
     *
     * @param home the home bucket that needs the slot. INVARIANT: it is not on the path, because its extension
     *     bucket may not be recorded yet
     */
    private boolean displace(long bucket, long home) {
        path[0] = bucket;
        for (int depth = 0; depth < MAX_DISPLACEMENTS; depth++) {
            long from = bucketAddress(path[depth]);
            if (path[depth] == home || IndexBucketLayout.natives(from) == 0) {
                return false;
            }
            long to = IndexBucketLayout.next(from);
            if (to == IndexBucketLayout.NO_BUCKET) {
                to = leastUsed(path[depth]);
            }
            path[depth + 1] = to;
            if (to != home && IndexBucketLayout.usedSlots(bucketAddress(to)) < IndexBucketLayout.SLOTS) {
                moveAlong(depth);
                return true;
            }
        }
        return false;
    }

    private void moveAlong(int last) {
        for (int depth = last; depth >= 0; depth--) {
            long from = bucketAddress(path[depth]);
            long to = bucketAddress(path[depth + 1]);
            int slot = Integer.numberOfTrailingZeros(IndexBucketLayout.natives(from));
            IndexBucketLayout.put(to, IndexBucketLayout.freeSlot(to), IndexBucketLayout.tag(from, slot),
                    IndexBucketLayout.location(from, slot), false);
            IndexBucketLayout.clear(from, slot);
            IndexBucketLayout.next(from, path[depth + 1]);
        }
    }

    /** Empties a slot, and refills it from the overflow if the home bucket has entries there. */
    void remove(long home, long bucket, int slot) {
        IndexBucketLayout.clear(bucket, slot);
        used--;
        long homeAddress = bucketAddress(home);
        if (IndexBucketLayout.overflowed(homeAddress)) {
            int node = overflow.firstOfHome(home);
            if (node != Overflow.NONE) {
                IndexBucketLayout.put(bucket, slot, IndexBucketLayout.tag(overflow.hash(node)), overflow.location(node),
                        bucket == homeAddress);
                used++;
                removeOverflow(home, node);
            }
        }
        if (bucket != homeAddress && IndexBucketLayout.foreigners(bucket) == 0) {
            IndexBucketLayout.next(homeAddress, IndexBucketLayout.NO_BUCKET);
        }
    }

    /** Removes an overflow entry; with the last one, also the home bucket's mark. */
    void removeOverflow(long home, int node) {
        overflow.remove(node);
        if (overflow.firstOfHome(home) == Overflow.NONE) {
            IndexBucketLayout.overflowed(bucketAddress(home), false);
        }
    }

    /**
     * Prefetches the items of a home bucket for {@link #moveHome}.
     *
     * @return a value to be consumed, so that the reads are not optimised away
     */
    long touchHome(long home, KeyVerifier verifier) {
        long bucket = bucketAddress(home);
        long sum = touch(bucket, IndexBucketLayout.natives(bucket), verifier);
        long extension = IndexBucketLayout.next(bucket);
        if (extension != IndexBucketLayout.NO_BUCKET) {
            long extensionAddress = bucketAddress(extension);
            sum += touch(extensionAddress, IndexBucketLayout.foreigners(extensionAddress), verifier);
        }
        return sum;
    }

    private static long touch(long bucket, int slots, KeyVerifier verifier) {
        long sum = 0;
        for (int left = slots; left != 0; left &= left - 1) {
            sum += verifier.touch(IndexBucketLayout.location(bucket, Integer.numberOfTrailingZeros(left)));
        }
        return sum;
    }

    /**
     * Moves all entries of a home bucket to another table.
     *
     * @param overflowLimit the most overflow entries to move, so that a step stays short
     * @return whether all were moved; false also if the other table's memory is refused. The rest stays findable
     *     here
     */
    boolean moveHome(long home, IndexTable to, KeyVerifier verifier, int overflowLimit) {
        long bucket = bucketAddress(home);
        for (int left = IndexBucketLayout.natives(bucket); left != 0; left &= left - 1) {
            int slot = Integer.numberOfTrailingZeros(left);
            long location = IndexBucketLayout.location(bucket, slot);
            if (!moveSlot(bucket, slot, verifier.hashOf(location), location, to)) {
                return false;
            }
        }
        return moveExtension(home, bucket, to, verifier) && moveOverflow(home, to, overflowLimit);
    }

    private boolean moveExtension(long home, long bucket, IndexTable to, KeyVerifier verifier) {
        long extension = IndexBucketLayout.next(bucket);
        if (extension == IndexBucketLayout.NO_BUCKET) {
            return true;
        }
        long extensionAddress = bucketAddress(extension);
        for (int left = IndexBucketLayout.foreigners(extensionAddress); left != 0; left &= left - 1) {
            int slot = Integer.numberOfTrailingZeros(left);
            long location = IndexBucketLayout.location(extensionAddress, slot);
            long hash = verifier.hashOf(location);
            if (IndexBucketLayout.home(hash, mask) == home
                    && !moveSlot(extensionAddress, slot, hash, location, to)) {
                return false;
            }
        }
        IndexBucketLayout.next(bucket, IndexBucketLayout.NO_BUCKET);
        return true;
    }

    private boolean moveSlot(long bucket, int slot, long hash, long location, IndexTable to) {
        if (!to.insert(hash, location)) {
            return false;
        }
        IndexBucketLayout.clear(bucket, slot);
        used--;
        return true;
    }

    private boolean moveOverflow(long home, IndexTable to, int limit) {
        for (int moved = 0; IndexBucketLayout.overflowed(bucketAddress(home)); moved++) {
            int node = overflow.firstOfHome(home);
            if (moved == limit || !to.insert(overflow.hash(node), overflow.location(node))) {
                return false;
            }
            removeOverflow(home, node);
        }
        return true;
    }

    /**
     * Visits all entries of a home bucket.
     *
     * @param overflowLimit the most overflow entries to visit
     */
    void visitHome(long home, KeyVerifier verifier, LocationVisitor visitor, int overflowLimit) {
        long bucket = bucketAddress(home);
        for (int left = IndexBucketLayout.natives(bucket); left != 0; left &= left - 1) {
            visitor.visit(IndexBucketLayout.location(bucket, Integer.numberOfTrailingZeros(left)));
        }
        long extension = IndexBucketLayout.next(bucket);
        if (extension != IndexBucketLayout.NO_BUCKET) {
            long extensionAddress = bucketAddress(extension);
            for (int left = IndexBucketLayout.foreigners(extensionAddress); left != 0; left &= left - 1) {
                long location = IndexBucketLayout.location(extensionAddress, Integer.numberOfTrailingZeros(left));
                if (IndexBucketLayout.home(verifier.hashOf(location), mask) == home) {
                    visitor.visit(location);
                }
            }
        }
        if (IndexBucketLayout.overflowed(bucket)) {
            int left = overflowLimit;
            for (int node = overflow.firstOfHome(home); node != Overflow.NONE
                    && left-- > 0; node = overflow.nextOfHome(node)) {
                visitor.visit(overflow.location(node));
            }
        }
    }

    /** The number of spots for a sample of this table: its slots and the nodes of its overflow. */
    long spots() {
        return slots() + overflow.count();
    }

    /** The location at a spot, or {@link Index#NONE} if it is empty. */
    long locationAt(long spot) {
        if (spot >= slots()) {
            return overflow.location((int) (spot - slots()) + 1);
        }
        long bucket = bucketAddress(spot / IndexBucketLayout.SLOTS);
        int slot = (int) (spot % IndexBucketLayout.SLOTS);
        boolean valid = (IndexBucketLayout.valid(bucket) & 1 << slot) != 0;
        return valid ? IndexBucketLayout.location(bucket, slot) : Index.NONE;
    }
}

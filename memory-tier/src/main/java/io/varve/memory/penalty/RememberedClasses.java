package io.varve.memory.penalty;

import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the classes of keys whose items were evicted, in memory of a fixed size (pRedis, section 3.1). Guarded by
 * its owner's lock: each shard has its own.
 *
 * <p>An item in memory has its class in its header; its key is added here when it is evicted. There are two
 * generations, each a tree of Bloom filters ({@link ClassTree}). Keys are added to the younger one. When it is full, it
 * replaces the older one, which is dropped, and a new one begins. A key that is evicted again after that is added
 * again. Recently evicted keys are therefore remembered, and no key has to be removed from a Bloom filter, which is
 * impossible.
 *
 * <p><b>Capacity.</b> A generation is full after {@link #ADDITIONS_A_LINE} additions for each of its lines. A key makes
 * one addition, and one more for each bit of its class that is 1: three on average over all classes. In 16 MiB that is
 * 1.3 million keys a generation, so 1.3 to 2.6 million in all. It is 0.8 to 1.6 million if all are of class 15, and 3.9
 * to 7.9 million if all are of class 0.
 *
 * <p><b>Errors.</b> With 30 additions of 7 bits in 512, apart from variance between lines, a node of a full generation
 * has a false-positive rate of 0.1 to 0.2 %. An unknown key appears known if either generation seems to contain it. A
 * known key gets a wrong class, always a higher one, if one of up to four left branches says right, or if the younger
 * generation wrongly contains it. Both happen to fewer than one key in a hundred, whatever its class.
 *
 * <p>A key that was evicted with two classes within one generation has the higher one until that generation is dropped.
 */
public final class RememberedClasses implements AutoCloseable {
    /** The result of {@link #classOf} for a key that is not remembered. */
    public static final int NONE = -1;
    /** The size in the paper's Table 3, for all shards together. */
    public static final long DEFAULT_BYTES = 16 << 20;
    /** The smallest possible size: two regions. */
    public static final long MIN_BYTES = 2 * Regions.MIN_BYTES;

    static final int ADDITIONS_A_LINE = 30;

    private final Regions regions;
    private final MemoryBudget budget;
    /** Bytes of a generation. */
    private final long bytes;
    private final long capacity;
    private ClassTree younger;
    private ClassTree older;
    /** Keys of the younger generation that are also in the older. */
    private long again;

    private RememberedClasses(long younger, long older, long bytes, Regions regions, MemoryBudget budget) {
        this.bytes = bytes;
        this.regions = regions;
        this.budget = budget;
        this.younger = new ClassTree(younger, bytes);
        this.older = new ClassTree(older, bytes);
        capacity = (bytes >>> ClassTree.LINE_SHIFT) * ADDITIONS_A_LINE;
    }

    /**
     * Opens an empty memory; null if the budget or the system refuses it.
     *
     * @param bytes a power of two, {@link #MIN_BYTES} or more
     * @throws IllegalArgumentException if it is not
     */
    public static @Nullable RememberedClasses open(long bytes, Regions regions, MemoryBudget budget) {
        if (bytes < MIN_BYTES || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(
                    "The size must be a power of two of at least " + MIN_BYTES + ", not " + bytes);
        }
        long generation = bytes / 2;
        long first = BudgetedRegion.open(generation, regions, budget);
        if (first == 0) {
            return null;
        }
        long second = BudgetedRegion.open(generation, regions, budget);
        if (second == 0) {
            regions.retire(first, generation, budget, generation);
            return null;
        }
        return new RememberedClasses(first, second, generation, regions, budget);
    }

    /**
     * Remembers the class of an evicted item.
     *
     * @param penaltyClass 0 to 15
     */
    public void remember(long hash, int penaltyClass) {
        assert penaltyClass >= 0 && penaltyClass < PenaltyRanges.MAX_CLASSES : penaltyClass;
        int known = younger.classOf(hash);
        if (known == penaltyClass) {
            return;
        }
        if (younger.additions() >= capacity) {
            beginGeneration();
        }
        again += known == NONE && older.classOf(hash) != NONE ? 1 : 0;
        younger.add(hash, penaltyClass);
    }

    /**
     * The class with which a key's item was evicted, 0 to 15; {@link #NONE} if it is not remembered. An error gives a
     * higher class, possibly one in which nothing was ever evicted.
     */
    public int classOf(long hash) {
        int known = younger.classOf(hash);
        return known == NONE ? older.classOf(hash) : known;
    }

    /** Drops the older generation, makes the younger one the older, and begins a new one. */
    private void beginGeneration() {
        ClassTree dropped = older;
        older = younger;
        younger = renewed(dropped);
        again = 0;
    }

    private ClassTree renewed(ClassTree dropped) {
        long address = regions.allocate(bytes);
        if (address == 0) {
            Regions.discard(dropped.address(), bytes);
            return new ClassTree(dropped.address(), bytes);
        }
        // Not the same memory cleared: the shard's lock is held, and other threads should not wait until megabytes are
        // zeroed.
        budget.charge(bytes);
        regions.retire(dropped.address(), bytes, budget, bytes);
        return new ClassTree(address, bytes);
    }

    /** Forgets everything. */
    public void clear() {
        beginGeneration();
        beginGeneration();
    }

    /** The number of remembered keys; a key that changed its class within a generation counts twice. */
    public long keys() {
        return younger.keys() + older.keys() - again;
    }

    /** Off-heap bytes. */
    public long bytes() {
        return 2 * bytes;
    }

    @Override
    public void close() {
        regions.retire(younger.address(), bytes, budget, bytes);
        regions.retire(older.address(), bytes, budget, bytes);
    }
}

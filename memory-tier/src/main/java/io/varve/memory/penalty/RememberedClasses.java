package io.varve.memory.penalty;

import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the classes of keys whose items were evicted, in memory of a fixed size (pRedis, section 3.1). Guarded by its owner's lock: a
 * shard has one of its own.
 *
 * <p>An item that is there has its class in its header and is not in here; it comes in when it is evicted. There are two generations, each a
 * tree of Bloom filters ({@link ClassTree}). Keys are added to the younger one; when that is full the older is dropped, the younger is the older one from
 * then on, and a new one begins. A key that is evicted again after that is added again. So what was evicted lately is remembered, and nothing has to be taken out of a
 * Bloom filter, which cannot be done.
 *
 * <p><b>How many.</b> A generation is full when {@link #ADDITIONS_A_LINE} additions have been made for each of its lines, where a key makes one and one
 * more for each bit of its class that is 1: three on average over all classes. In 16 MiB that is 1.3 million keys a generation, so 1.3 to 2.6
 * million in all; 0.8 to 1.6 million if all are of class 15, and 3.9 to 7.9 million if all are of class 0.
 *
 * <p><b>How wrong.</b> With 30 additions of 7 bits in 512, give or take what chance does to a line, a node of a full generation says yes in
 * error at 0.1 to 0.2 %. A key that was never here passes for one that was if either generation says so; one that is here is told a wrong class, always a
 * higher one, if one of up to four nodes where it goes left says right, or the younger generation takes it for its own. So both happen to fewer than
 * one key in a hundred, whatever its class.
 *
 * <p>A key that was evicted with two classes within one generation has the higher one until that generation goes.
 */
public final class RememberedClasses implements AutoCloseable {
    /** What {@link #classOf} answers for a key that is not remembered. */
    public static final int NONE = -1;
    /** The paper's Table 3, for all shards together. */
    public static final long DEFAULT_BYTES = 16 << 20;
    /** The least that is possible: two regions. */
    public static final long MIN_BYTES = 2 * Regions.MIN_BYTES;

    static final int ADDITIONS_A_LINE = 30;

    private final Regions regions;
    private final MemoryBudget budget;
    /** Of a generation. */
    private final long bytes;
    private final long capacity;
    private ClassTree younger;
    private ClassTree older;
    /** Keys of the younger generation that the older has too. */
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
     * A memory without keys; null if the budget or the system refuses it.
     *
     * @param bytes a power of two, {@link #MIN_BYTES} or more
     * @throws IllegalArgumentException if it is not
     */
    public static @Nullable RememberedClasses open(long bytes, Regions regions, MemoryBudget budget) {
        if (bytes < MIN_BYTES || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("The size is a power of two from " + MIN_BYTES + ", not " + bytes);
        }
        long generation = bytes / 2;
        long first = Charged.open(generation, regions, budget);
        if (first == 0) {
            return null;
        }
        long second = Charged.open(generation, regions, budget);
        if (second == 0) {
            regions.retire(first, generation, budget, generation);
            return null;
        }
        return new RememberedClasses(first, second, generation, regions, budget);
    }

    /**
     * An item is evicted: its class is remembered.
     *
     * @param penaltyClass 0 to 15
     */
    public void remember(long hash, int penaltyClass) {
        assert penaltyClass >= 0 && penaltyClass < PenaltyRanges.MOST : penaltyClass;
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
     * The class with which a key's item was evicted, 0 to 15; {@link #NONE} if it is not remembered. In error it is a higher one, and may be one in which nothing
     * was ever evicted.
     */
    public int classOf(long hash) {
        int known = younger.classOf(hash);
        return known == NONE ? older.classOf(hash) : known;
    }

    /** The younger generation is full: it is the older one now. */
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
        // Not the same memory emptied: the shard's lock is held, and others do not wait for megabytes to be filled with zeros.
        budget.charge(bytes);
        regions.retire(dropped.address(), bytes, budget, bytes);
        return new ClassTree(address, bytes);
    }

    /** Forgets everything. */
    public void clear() {
        beginGeneration();
        beginGeneration();
    }

    /** How many keys are remembered; one that changed its class within a generation counts twice. */
    public long keys() {
        return younger.keys() + older.keys() - again;
    }

    /** Off the heap. */
    public long bytes() {
        return 2 * bytes;
    }

    @Override
    public void close() {
        regions.retire(younger.address(), bytes, budget, bytes);
        regions.retire(older.address(), bytes, budget, bytes);
    }
}

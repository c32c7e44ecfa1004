package io.varve.memory.segment;

import java.util.Arrays;
import java.util.SplittableRandom;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.jspecify.annotations.Nullable;

/**
 * The large items of all shards: a table from an item's number to its {@link LargeRun}. Guarded by its own lock; the
 * shard that owns an item reads its entry without it.
 *
 * <p>A run takes address space of a power of two, and memory for the pages that it needs. Only those pages are charged.
 *
 * <p>SAFETY: the memory of a released run may serve another run at once. Nothing may prefetch through a large location:
 * hints skip locations that {@link Location#isLarge} accepts.
 */
public final class LargeItems {
    private static final int MAX_ITEMS = Location.MAX_OFFSET + 1;
    private static final int FIRST_TABLE_LENGTH = 16;
    /** A run of at least this size has twice the address space, so that its value can double in place. */
    private static final long GROWTH_RESERVE_FROM_BYTES = 1 << 20;

    private final Regions regions;
    private final MemoryBudget budget;

    /** Replaced when it grows, never shrunk. ORDER: an entry is set before any reader knows its location. */
    private volatile @Nullable LargeRun[] runs = new LargeRun[FIRST_TABLE_LENGTH];
    /** The numbers of each shard's items, in no order. */
    private int[][] ofShard = new int[0][];
    private int[] countOfShard = new int[0];
    private int[] freeNumbers = new int[FIRST_TABLE_LENGTH];
    private int freeCount;
    private int nextNumber;
    private int count;
    private long chargedBytes;

    public LargeItems(Regions regions, MemoryBudget budget) {
        this.regions = regions;
        this.budget = budget;
    }

    /**
     * Allocates a run with one holder, the caller; null if the budget or the system refuses it. Its bytes are zero.
     *
     * @param headroom bytes before the value, at least the size of header and key
     * @param valueLength bytes of the value, or of its capacity
     */
    public @Nullable LargeRun allocate(int headroom, int valueLength) {
        long bytes = (long) headroom + valueLength;
        long charge = roundUpToPage(bytes);
        if (!budget.tryCharge(charge)) {
            return null;
        }
        long regionBytes = regionBytes(bytes);
        if (bytes >= GROWTH_RESERVE_FROM_BYTES && regions.mapped()) {
            regionBytes <<= 1;
        }
        long start = regions.allocate(regionBytes);
        if (start == 0) {
            budget.release(charge);
            return null;
        }
        synchronized (this) {
            chargedBytes += charge;
        }
        return new LargeRun(this, start, regionBytes, headroom, valueLength, charge);
    }

    /**
     * Assigns a run to an item: the table takes over the caller's hold.
     *
     * @param itemAddress the address of the header, in the run's headroom, so that the key ends where the value
     *     starts
     * @param shard the shard whose lock guards the item
     * @return the item's location
     * @throws CacheFullException if there are as many large items as 23 bits can number; the run is released then.
     *     A larger segment-size makes fewer items large
     */
    public synchronized long adopt(LargeRun run, long itemAddress, int shard) {
        assert itemAddress >= run.start() && itemAddress <= run.address() : itemAddress;
        int number;
        if (freeCount > 0) {
            number = freeNumbers[--freeCount];
        } else if (nextNumber < MAX_ITEMS) {
            number = nextNumber++;
        } else {
            run.release();
            throw CacheFullException.INSTANCE;
        }
        @Nullable
        LargeRun[] table = runs;
        if (number == table.length) {
            table = Arrays.copyOf(table, table.length * 2);
        }
        run.itemAddress(itemAddress);
        enter(shard, number, run);
        table[number] = run;
        runs = table;
        count++;
        return Location.ofLarge(number);
    }

    /** Whether a run has address space for a longer value. */
    public boolean hasAddressesFor(LargeRun run, int valueLength) {
        return roundUpToPage((long) run.headroom() + valueLength) <= run.regionBytes();
    }

    /**
     * Grows a run in place. It gets memory to the end of the last page that the value needs, because the rest of that
     * page costs nothing. The caller holds the lock of the item's shard.
     *
     * @param valueLength more than its capacity; its {@linkplain #hasAddressesFor address space} must suffice
     * @throws CacheFullException if the budget refuses the memory
     */
    public void extend(LargeRun run, int valueLength) {
        assert valueLength > run.capacity() && hasAddressesFor(run, valueLength)
                : valueLength + " of " + run.capacity();
        long bytes = roundUpToPage((long) run.headroom() + valueLength);
        long more = bytes - run.chargedBytes();
        if (more > 0 && !budget.tryCharge(more)) {
            throw CacheFullException.of(more);
        }
        run.extended((int) Math.min(bytes - run.headroom(), Integer.MAX_VALUE - run.headroom()), bytes);
        synchronized (this) {
            chargedBytes += more;
        }
    }

    /** The run of a large item. */
    public LargeRun run(long location) {
        LargeRun run = runs[Location.largeNumber(location)];
        if (run == null) {
            throw new IllegalStateException("No large item has number " + Location.largeNumber(location));
        }
        return run;
    }

    /**
     * A random large item of a shard. The caller holds the lock of that shard, so the item cannot be freed.
     *
     * @return its location, or {@link Location#NONE} if the shard has none
     */
    public synchronized long sample(int shard, SplittableRandom random) {
        int own = shard < countOfShard.length ? countOfShard[shard] : 0;
        return own == 0 ? Location.NONE : Location.ofLarge(ofShard[shard][random.nextInt(own)]);
    }

    private void enter(int shard, int number, LargeRun run) {
        if (shard >= countOfShard.length) {
            ofShard = Arrays.copyOf(ofShard, shard + 1);
            countOfShard = Arrays.copyOf(countOfShard, shard + 1);
        }
        int[] numbers = ofShard[shard] == null ? new int[FIRST_TABLE_LENGTH] : ofShard[shard];
        int place = countOfShard[shard]++;
        if (place == numbers.length) {
            numbers = Arrays.copyOf(numbers, place * 2);
        }
        numbers[place] = number;
        ofShard[shard] = numbers;
        run.entered(shard, place);
    }

    /** Removes a run from its shard's list; the last one takes its place. */
    private void remove(LargeRun run) {
        int[] numbers = ofShard[run.shard()];
        int last = numbers[--countOfShard[run.shard()]];
        numbers[run.place()] = last;
        LargeRun moved = runs[last];
        if (moved != null) {
            moved.entered(run.shard(), run.place());
        }
    }

    /** The address of the item's header. */
    long address(long location) {
        return run(location).itemAddress();
    }

    /** Removes an item: its number may be reused, and the table releases its hold on the run. */
    public void release(long location) {
        LargeRun run;
        synchronized (this) {
            run = run(location);
            int number = Location.largeNumber(location);
            remove(run);
            runs[number] = null;
            if (freeCount == freeNumbers.length) {
                freeNumbers = Arrays.copyOf(freeNumbers, freeCount * 2);
            }
            freeNumbers[freeCount++] = number;
            count--;
        }
        run.release();
    }

    /** Releases the table's holds on all runs. */
    void releaseAll() {
        for (LargeRun run : runs) {
            if (run != null) {
                run.release();
            }
        }
        synchronized (this) {
            runs = new LargeRun[FIRST_TABLE_LENGTH];
            ofShard = new int[0][];
            countOfShard = new int[0];
            freeCount = 0;
            nextNumber = 0;
            count = 0;
        }
    }

    /** The number of large items. */
    public synchronized int count() {
        return count;
    }

    /** Bytes charged for runs, including those that no item holds. */
    public synchronized long chargedBytes() {
        return chargedBytes;
    }

    void free(LargeRun run) {
        regions.retire(run.start(), run.regionBytes(), budget, run.chargedBytes());
        synchronized (this) {
            chargedBytes -= run.chargedBytes();
        }
    }

    /** The charge for a run of this size: whole pages. */
    public static long roundUpToPage(long bytes) {
        return Math.max(bytes, 1) + Regions.MIN_BYTES - 1 & -Regions.MIN_BYTES;
    }

    private static long regionBytes(long bytes) {
        long pages = roundUpToPage(bytes);
        long highest = Long.highestOneBit(pages);
        return highest == pages ? pages : highest << 1;
    }
}

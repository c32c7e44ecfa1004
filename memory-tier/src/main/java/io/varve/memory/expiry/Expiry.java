package io.varve.memory.expiry;

import java.util.function.Consumer;
import java.util.function.IntPredicate;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;

/**
 * The expiry times of a shard's items, and the cycle that removes expired items. Guarded by the shard's lock.
 *
 * <p>An item that expires has exactly one entry here (the paper's single-bucket constraint). The item holds the entry's
 * id as its back link, so each operation below is O(1):
 *
 * <pre>
 *   item (the owner's bytes)                       entry (here)
 *   +--------------------+---------------+         +------------------+
 *   | expiry time, 6     | back link, 4  |--------&gt;| location, 6      |
 *   +--------------------+---------------+         +------------------+
 *            ^------------------------------------------------|
 * </pre>
 *
 * <p>This class implements what the algorithms share: entries in cells, one cell for each entry. An algorithm chooses
 * the cell of an expiry time, and the cells that a cycle visits: {@link WheelExpiry}, {@link BucketExpiry},
 * {@link RandomExpiry}.
 *
 * <p>All times are milliseconds since the epoch, from 0 up to {@link #MAX_MILLIS}.
 */
public abstract sealed class Expiry permits WheelExpiry, BucketExpiry, RandomExpiry {
    /** The latest expiry time: what 48 bits hold. */
    public static final long MAX_MILLIS = (1L << 48) - 1;

    /** The most time buckets: each level of the wheel has an array of that length. */
    public static final int MAX_BUCKETS = 1 << 16;

    /** The result of {@link #sample} when there is no entry. */
    public static final long NONE = -1;

    /** The bytes of an entry in a full chunk, rounded up. */
    public static final int BYTES_PER_ENTRY = Math.ceilDiv(ChunkLayout.BYTES, ChunkLayout.SLOTS);

    /** Steps of work between two readings of the clock: removing 16 items takes a few microseconds. */
    private static final int STEPS_PER_READING = 16;

    final EntryStore store;
    final ExpiryOwner owner;
    final SliceClock slice;

    Expiry(int cells, Setting setting) {
        owner = setting.owner;
        store = new EntryStore(cells, setting.regions, setting.budget, setting.owner);
        slice = new SliceClock(setting.ticker, setting.stepsPerReading);
    }

    /** The constructor arguments of all algorithms. Immutable. */
    record Setting(int baseMillis, int buckets, Regions regions, MemoryBudget budget, Ticker ticker, ExpiryOwner owner,
            int stepsPerReading) {
        Setting {
            if (baseMillis < 1) {
                throw new IllegalArgumentException("expire-bucket-base-ms must be at least 1, not " + baseMillis);
            }
            if (buckets < 2 || buckets > MAX_BUCKETS) {
                throw new IllegalArgumentException(
                        "expire-buckets must be from 2 to " + MAX_BUCKETS + ", not " + buckets
                                + "; raise expire-bucket-base-ms to cover longer times");
            }
        }
    }

    /**
     * @param baseMillis BASE, the width of a time bucket, at least 1
     * @param buckets NUM_BUCKETS, from 2 to {@link #MAX_BUCKETS}
     */
    public static Expiry create(ExpireAlgorithm algorithm, int baseMillis, int buckets, Regions regions,
            MemoryBudget budget, Ticker ticker, ExpiryOwner owner) {
        return create(algorithm, new Setting(baseMillis, buckets, regions, budget, ticker, owner, STEPS_PER_READING));
    }

    static Expiry create(ExpireAlgorithm algorithm, Setting setting) {
        return switch (algorithm) {
            case WHEEL -> new WheelExpiry(setting);
            case BUCKET -> new BucketExpiry(setting);
            case RANDOM -> new RandomExpiry(setting);
        };
    }

    /**
     * Adds an item that has no entry.
     *
     * @return the entry's id, not negative: the item's back link
     * @throws CacheFullException if memory is full; nothing is changed then
     */
    public final int add(long location, long expireAtMillis, long nowMillis) {
        assert expireAtMillis >= 0 && expireAtMillis <= MAX_MILLIS : "expiry time " + expireAtMillis;
        int cell = cellFor(expireAtMillis, nowMillis);
        int entry = store.add(cell, location);
        occupied(cell, expireAtMillis);
        return entry;
    }

    /** Removes an item's entry. Another item's entry may move into its place: {@link ExpiryOwner#entryMoved}. */
    public final void remove(int entry, long expireAtMillis) {
        assert isAtHome(store.cellOf(entry), expireAtMillis)
                : "entry " + entry + " is not where expiry time " + expireAtMillis + " belongs";
        int cell = store.remove(entry);
        if (store.isEmpty(cell)) {
            vacated(cell);
        }
    }

    /**
     * Whether an item's entry may stay in its cell when the item gets that new expiry time: the caller then only
     * updates the item. An algorithm that checks items again at their old time allows a later one.
     */
    public boolean mayStay(long oldExpireAtMillis, long newExpireAtMillis) {
        return oldExpireAtMillis == newExpireAtMillis;
    }

    /**
     * Gives an item a new expiry time, if {@link #mayStay} requires a move. It charges the memory budget
     * unconditionally, because the number of entries stays.
     *
     * @param location the present location of the item
     * @param oldExpireAtMillis the item's former time
     * @return the entry's new id
     * @throws CacheFullException if the system refuses memory; nothing is changed then
     */
    public final int move(int entry, long location, long oldExpireAtMillis, long newExpireAtMillis, long nowMillis) {
        assert newExpireAtMillis >= 0 && newExpireAtMillis <= MAX_MILLIS : "expiry time " + newExpireAtMillis;
        int cell = store.cellOf(entry);
        assert isAtHome(cell, oldExpireAtMillis)
                : "entry " + entry + " is not where expiry time " + oldExpireAtMillis + " belongs";
        // As if removed first (section 3.2): an item that is alone in its bucket must not block itself.
        boolean alone = store.isAlone(entry);
        long held = alone ? vacated(cell) : 0;
        int target = cellFor(newExpireAtMillis, nowMillis);
        if (target == cell) {
            occupied(cell, newExpireAtMillis);
            store.relocate(entry, location);
            return entry;
        }
        if (alone) {
            occupied(cell, held);
        }
        int moved = store.addMoved(target, location);
        occupied(target, newExpireAtMillis);
        remove(entry, oldExpireAtMillis);
        return moved;
    }

    /** Moves the entry of an item that has changed its own time, if the system has the memory for it. */
    final void resend(int entry, long oldExpireAtMillis, long newExpireAtMillis, long nowMillis) {
        long location = store.location(entry);
        try {
            owner.entryMoved(location, move(entry, location, oldExpireAtMillis, newExpireAtMillis, nowMillis));
        } catch (CacheFullException refused) {
            // The entry stays at the old time: the cycle reads the item's own time there.
            return;
        }
    }

    /** Updates the location of an item that has moved in memory; its time and its back link stay. */
    public final void relocate(int entry, long newLocation) {
        store.relocate(entry, newLocation);
    }

    /** Starts a cycle, due every expire-cycle-ms; a previous one that was not {@link CycleStatus#DONE} is given up. */
    public abstract void beginCycle(long nowMillis);

    /**
     * Works on the cycle until it is done or {@link Ticker#nanoTime} has passed the deadline, which is noticed within a
     * few microseconds. However early the deadline, a slice does some work.
     *
     * @param deadlineNanos a reading of the ticker plus the slice's length
     */
    public final CycleStatus runSlice(long nowMillis, long deadlineNanos) {
        slice.begin(deadlineNanos);
        if (expireDue(nowMillis) == CycleStatus.MORE) {
            return CycleStatus.MORE;
        }
        while (store.compactStep()) {
            if (slice.stepEndsSlice()) {
                return CycleStatus.MORE;
            }
        }
        return CycleStatus.DONE;
    }

    /** The location of a uniformly random entry, or {@link #NONE}; it may be past its time. */
    public final long sample(long random) {
        int entry = store.sample(random);
        return entry < 0 ? NONE : store.location(entry);
    }

    /** The number of items with an entry. */
    public final long size() {
        return store.size();
    }

    /** Native bytes held, as charged to the budget. */
    public final long bytes() {
        return store.bytes();
    }

    /** Shows every entry's location once, in no order. */
    public final void forEach(LocationVisitor visitor) {
        store.forEach(visitor);
    }

    /**
     * Continues to count the items that are past their time and not reclaimed, until the end or the deadline, which is
     * noticed within a few microseconds. However early the deadline, some are counted.
     *
     * <p>It reads only items of time buckets that have begun; sampling keeps no buckets, so all items are read. The
     * count is exact if nothing changes between its slices. An entry that moves between slices may be missed or counted
     * twice.
     *
     * @param deadlineNanos a reading of the ticker plus the slice's length
     * @return whether all are counted
     */
    public final boolean countDue(DueCount count, long nowMillis, long deadlineNanos) {
        slice.begin(deadlineNanos);
        IntPredicate begun = cell -> mayHoldDue(cell, nowMillis);
        LocationVisitor visitor = location -> {
            if (owner.expireAtMillis(location) < nowMillis) {
                count.items++;
            }
        };
        while (count.chunk < store.chunks()) {
            int read = store.visitChunk(count.chunk++, begun, visitor);
            // A header costs a cache line, and each item another.
            if (read > 0 ? slice.isOver() : slice.stepEndsSlice()) {
                return count.chunk >= store.chunks();
            }
        }
        return true;
    }

    /** Whether an item of this cell may be past its time. */
    abstract boolean mayHoldDue(int cell, long nowMillis);

    /** Frees all memory; the expiry is not used afterwards. */
    public final void release() {
        store.release();
    }

    /** Checks all cells and reports each violated invariant; reads each item's expiry time from the owner. */
    public final void checkIntegrity(Consumer<String> problems) {
        store.checkIntegrity((cell, entry, location) -> {
            long expireAtMillis = owner.expireAtMillis(location);
            if (!isAtHome(cell, expireAtMillis)) {
                problems.accept("entry " + entry + " at cell " + cell + " expires at " + expireAtMillis);
            }
        }, problems);
        checkBuckets(problems);
    }

    /** The cell that takes an item of this expiry time now. */
    abstract int cellFor(long expireAtMillis, long nowMillis);

    /** Reports an entry that was put into the cell. */
    abstract void occupied(int cell, long expireAtMillis);

    /**
     * Reports that the cell has lost its last entry.
     *
     * @return a moment of the time that it held
     */
    abstract long vacated(int cell);

    /** Whether an item of this expiry time may be in the cell. */
    abstract boolean isAtHome(int cell, long expireAtMillis);

    /** The algorithm's part of a slice. */
    abstract CycleStatus expireDue(long nowMillis);

    abstract void checkBuckets(Consumer<String> problems);

    /** Expires the cell's last item. */
    final void expireLast(int cell) {
        long location = store.last(cell);
        removeLast(cell);
        owner.expire(location);
    }

    final void removeLast(int cell) {
        store.removeLast(cell);
        if (store.isEmpty(cell)) {
            vacated(cell);
        }
    }

    /**
     * Moves the cell's last item, which is at this location, to another cell.
     *
     * @return false if the system refuses the memory for it; nothing is changed then
     */
    final boolean moveLast(int cell, int target, long location, long expireAtMillis) {
        assert target != cell : "cell " + cell + " would not become empty";
        int entry;
        try {
            entry = store.addMoved(target, location);
        } catch (CacheFullException refused) {
            return false;
        }
        occupied(target, expireAtMillis);
        removeLast(cell);
        owner.entryMoved(location, entry);
        return true;
    }
}

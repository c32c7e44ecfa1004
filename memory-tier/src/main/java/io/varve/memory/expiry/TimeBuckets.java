package io.varve.memory.expiry;

import java.util.function.Consumer;

/**
 * A ring of time buckets of one width: the paper's {@code buckets} and {@code times[]} (section 3.1.1), and each level
 * of the wheel. Guarded by the shard's lock.
 *
 * <p>A moment's time is its quotient by the width; its bucket is that time modulo the number of buckets
 * ({@code timestampToBucketId}, section 3.2). A bucket holds one time at a time:
 *
 * <pre>
 *   width 1000 ms, 4 buckets      bucket    0       1       2       3
 *                                 times   [ 8 ]   [ - ]   [ 6 ]   [ 7 ]
 *                                 cell    {a,b}    { }    {c}    {d,e,f}
 *
 *   an item for 6,700 ms joins c; one for 9,100 ms takes bucket 1; one for 10,000 ms finds bucket 2 taken
 * </pre>
 *
 * <p>The paper marks a free bucket by time 0. This class uses {@link #FREE}, because 0 is a valid time: the first of a
 * coarse level, whose times are small.
 */
final class TimeBuckets {
    static final long FREE = -1;

    /** In place of a cell: the bucket holds another time. */
    static final int TAKEN = -1;

    private final long widthMillis;
    private final int firstCell;
    /** {@link #noTimes} until the first entry. */
    private long[] times;
    /** Shared by all rings of as many buckets, and never written. */
    private final long[] noTimes;
    private int occupied;

    /** @param firstCell the cell of bucket 0 in the entry store; bucket i has the i-th after it */
    TimeBuckets(long widthMillis, int buckets, int firstCell) {
        this.widthMillis = widthMillis;
        this.firstCell = firstCell;
        noTimes = EmptyArrays.longs(buckets, FREE);
        times = noTimes;
    }

    int count() {
        return times.length;
    }

    /** The number of buckets that hold a time. */
    int occupied() {
        return occupied;
    }

    long timeOf(long millis) {
        return millis / widthMillis;
    }

    int bucketOf(long time) {
        return (int) (time % times.length);
    }

    /** The time that the bucket holds, or {@link #FREE}. */
    long time(int bucket) {
        return times[bucket];
    }

    int cell(int bucket) {
        return firstCell + bucket;
    }

    /** Whether the time of this cell has begun: some of its items may be past theirs. */
    boolean hasBegun(int cell, long nowMillis) {
        long time = times[cell - firstCell];
        return time != FREE && time <= timeOf(nowMillis);
    }

    /** The cell for items of this time, or {@link #TAKEN}. */
    int cellFor(long time) {
        int bucket = bucketOf(time);
        long held = times[bucket];
        return held == FREE || held == time ? firstCell + bucket : TAKEN;
    }

    /** Reports an entry for this moment in the cell that {@link #cellFor} gave. */
    @SuppressWarnings("ReferenceEquality") // the shared array, not one that is equal
    void occupy(int cell, long expireAtMillis) {
        int bucket = cell - firstCell;
        if (times[bucket] == FREE) {
            if (times == noTimes) {
                times = noTimes.clone();
            }
            times[bucket] = timeOf(expireAtMillis);
            occupied++;
        }
    }

    /**
     * Reports that the cell is empty: another time may take its bucket ({@code removeFromBucket}, section 3.2).
     *
     * @return a moment of the time that it held
     */
    long vacate(int cell) {
        long time = times[cell - firstCell];
        times[cell - firstCell] = FREE;
        occupied--;
        return time * widthMillis;
    }

    /** Checks that exactly the cells with entries have a time. */
    void checkIntegrity(EntryStore store, Consumer<String> problems) {
        int counted = 0;
        for (int bucket = 0; bucket < times.length; bucket++) {
            if (times[bucket] != FREE) {
                counted++;
                if (bucketOf(times[bucket]) != bucket) {
                    problems.accept("bucket " + bucket + " holds time " + times[bucket]);
                }
            }
            if (store.isEmpty(cell(bucket)) != (times[bucket] == FREE)) {
                problems.accept("cell " + cell(bucket) + (store.isEmpty(cell(bucket)) ? " is empty" : " has entries")
                        + " but its time is " + times[bucket]);
            }
        }
        if (counted != occupied) {
            problems.accept(occupied + " buckets recorded as occupied, but " + counted + " counted");
        }
    }
}

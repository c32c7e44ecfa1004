package io.varve.memory.expiry;

import java.util.function.Consumer;

import io.varve.memory.item.CacheFullException;

/**
 * The paper's hybrid [1], as published: time buckets first, Redis's sampling with what time is left. Guarded by the
 * shard's lock.
 *
 * <pre>
 *   times[]     [ 9 ] [ - ] [ 5 ] [ 6 ] ...        current_bucket_id goes round
 *   buckets     {a,b}  { }  {c,d}  {e}  ...                          overflow {x, y, z}
 *                            ^ current                 in "expires" only: left to sampling
 * </pre>
 *
 * <p>An item whose bucket holds another time is in no bucket. It stays in the paper's {@code expires} alone, here the
 * overflow cell, even after the bucket has become free, until it is given a new time or sampling finds it. So buckets
 * that reach no further than one TTL ({@code NUM_BUCKETS x BASE}, section 3.4.4) degrade to sampling. The wheel
 * ({@link WheelExpiry}) does not.
 *
 * <p>[1] Guochao Xie, Yeh-Ching Chung: Bucket-Based Expiration Algorithm: Improving Eviction Efficiency for In-Memory
 * Key-Value Database. MEMSYS 2020. Algorithms 3 and 4, section 3.2.
 */
final class BucketExpiry extends Expiry {
    /** What came of a visit to a bucket (section 3.1.2). */
    enum BucketStatus {
        /** The bucket holds nothing. */
        EMPTY,
        /** The slice is over; the bucket may hold more. */
        EXCEED_TIME_LIMIT,
        /** All its items were let go. */
        SUCCESS,
        /** Its period has not passed. */
        TIME_UNREACHED
    }

    private final TimeBuckets buckets;
    private final int overflowCell;
    private final RandomRounds rounds;
    private int currentBucketId;
    private int bucketsToVisit;

    BucketExpiry(Setting setting) {
        super(setting.buckets() + 1, setting);
        buckets = new TimeBuckets(setting.baseMillis(), setting.buckets(), 0);
        overflowCell = setting.buckets();
        rounds = new RandomRounds(this, setting.ticker());
    }

    @Override
    public void beginCycle(long nowMillis) {
        bucketsToVisit = buckets.count();
        rounds.beginCycle();
    }

    /** Algorithm 3, {@code activeExpiration}. A bucket that the slice could not finish stays the current one. */
    @Override
    CycleStatus expireDue(long nowMillis) {
        while (bucketsToVisit > 0) {
            if (expireBucket(currentBucketId, nowMillis) == BucketStatus.EXCEED_TIME_LIMIT) {
                return CycleStatus.MORE;
            }
            currentBucketId = (currentBucketId + 1) % buckets.count();
            bucketsToVisit--;
        }
        return rounds.run(nowMillis);
    }

    /** Algorithm 4. The bucket's items are all past their time once the clock's time is greater than the bucket's. */
    BucketStatus expireBucket(int bucketId, long nowMillis) {
        if (buckets.time(bucketId) == TimeBuckets.FREE) {
            return BucketStatus.EMPTY;
        }
        if (buckets.timeOf(nowMillis) <= buckets.time(bucketId)) {
            return BucketStatus.TIME_UNREACHED;
        }
        int cell = buckets.cell(bucketId);
        while (!store.isEmpty(cell)) {
            if (!passLast(cell, nowMillis)) {
                return BucketStatus.TIME_UNREACHED;
            }
            if (slice.stepEndsSlice()) {
                return BucketStatus.EXCEED_TIME_LIMIT;
            }
        }
        return BucketStatus.SUCCESS;
    }

    /**
     * The cell's last item is past its time: it goes, or what of it is past; if it has another time then it is sent where that belongs, and
     * if that is past, or nothing can go now, to the overflow. False if the system refuses the memory for it.
     */
    private boolean passLast(int cell, long nowMillis) {
        long location = store.last(cell);
        long old = owner.expireAtMillis(location);
        long left = old < nowMillis ? owner.pastItsTime(location, nowMillis) : old;
        if (left == ExpiryOwner.GOES) {
            expireLast(cell);
            return true;
        }
        slice.hurry();
        if (left == ExpiryOwner.NEVER) {
            removeLast(cell);
            return true;
        }
        int target = left < nowMillis ? overflowCell : cellFor(left, nowMillis);
        long moved = store.last(cell);
        int entry;
        try {
            entry = store.addMoved(target, moved);
        } catch (CacheFullException refused) {
            return false;
        }
        occupied(target, left);
        removeLast(cell);
        owner.entryMoved(moved, entry);
        return true;
    }

    @Override
    int cellFor(long expireAtMillis, long nowMillis) {
        int cell = buckets.cellFor(buckets.timeOf(expireAtMillis));
        return cell == TimeBuckets.TAKEN ? overflowCell : cell;
    }

    @Override
    void occupied(int cell, long expireAtMillis) {
        if (cell != overflowCell) {
            buckets.occupy(cell, expireAtMillis);
        }
    }

    @Override
    long vacated(int cell) {
        return cell == overflowCell ? 0 : buckets.vacate(cell);
    }

    @Override
    boolean mayHoldDue(int cell, long nowMillis) {
        return cell == overflowCell || buckets.hasBegun(cell, nowMillis);
    }

    @Override
    boolean isAtHome(int cell, long expireAtMillis) {
        return cell == overflowCell || buckets.time(cell) == buckets.timeOf(expireAtMillis);
    }

    @Override
    void checkBuckets(Consumer<String> problems) {
        buckets.checkIntegrity(store, problems);
    }
}

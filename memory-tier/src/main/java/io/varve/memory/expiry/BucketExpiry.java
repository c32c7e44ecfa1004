package io.varve.memory.expiry;

import java.util.function.Consumer;

/**
 * The paper's hybrid [1], as published: time buckets first, then Redis's sampling in the remaining time. Guarded by the
 * shard's lock.
 *
 * <pre>
 *   times[]     [ 9 ] [ - ] [ 5 ] [ 6 ] ...        current_bucket_id goes round
 *   buckets     {a,b}  { }  {c,d}  {e}  ...                          overflow {x, y, z}
 *                            ^ current                 in "expires" only: found by sampling
 * </pre>
 *
 * <p>An item whose bucket holds another time is in no bucket. It stays in the paper's {@code expires} alone, here the
 * overflow cell, even after the bucket becomes free. It leaves when it gets a new time or sampling finds it. Buckets
 * that cover less than one TTL ({@code NUM_BUCKETS x BASE}, section 3.4.4) thus degrade to sampling. The wheel
 * ({@link WheelExpiry}) does not.
 *
 * <p>[1] Guochao Xie, Yeh-Ching Chung: Bucket-Based Expiration Algorithm: Improving Eviction Efficiency for In-Memory
 * Key-Value Database. MEMSYS 2020. Algorithms 3 and 4, section 3.2.
 */
final class BucketExpiry extends Expiry {
    /** The result of a visit to a bucket (section 3.1.2). */
    enum BucketStatus {
        /** The bucket holds nothing. */
        EMPTY,
        /** The slice is over; the bucket may hold more. */
        EXCEED_TIME_LIMIT,
        /** All its items were removed. */
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

    /** Algorithm 4. All items of the bucket are past their time once the clock's time is greater than the bucket's. */
    BucketStatus expireBucket(int bucketId, long nowMillis) {
        if (buckets.time(bucketId) == TimeBuckets.FREE) {
            return BucketStatus.EMPTY;
        }
        if (buckets.timeOf(nowMillis) <= buckets.time(bucketId)) {
            return BucketStatus.TIME_UNREACHED;
        }
        int cell = buckets.cell(bucketId);
        while (!store.isEmpty(cell)) {
            if (!expireLastDue(cell, nowMillis)) {
                return BucketStatus.TIME_UNREACHED;
            }
            if (slice.stepEndsSlice()) {
                return BucketStatus.EXCEED_TIME_LIMIT;
            }
        }
        return BucketStatus.SUCCESS;
    }

    /**
     * Expires the cell's last item, or its due parts. An item that gets another time moves to the cell of that time, or
     * to the overflow if that time is past or nothing can be removed now.
     *
     * @return false if the system refuses the memory for it
     */
    private boolean expireLastDue(int cell, long nowMillis) {
        long location = store.last(cell);
        long old = owner.expireAtMillis(location);
        long left = old < nowMillis ? owner.expireDue(location, nowMillis) : old;
        if (left == ExpiryOwner.EXPIRED) {
            expireLast(cell);
            return true;
        }
        slice.forceClockCheck();
        if (left == ExpiryOwner.NEVER) {
            removeLast(cell);
            return true;
        }
        int target = left < nowMillis ? overflowCell : cellFor(left, nowMillis);
        return moveLast(cell, target, store.last(cell), left);
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

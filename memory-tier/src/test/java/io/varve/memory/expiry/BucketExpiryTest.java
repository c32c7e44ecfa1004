package io.varve.memory.expiry;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the paper's bucket algorithm with the examples of the paper. */
class BucketExpiryTest extends ExpiryContractTest {
    @Override
    ExpireAlgorithm algorithm() {
        return ExpireAlgorithm.BUCKET;
    }

    /** Section 3.3 of the paper, step by step: 3 buckets of 1 s, a cycle each second that can let two items go. */
    @Test
    void theExampleOfThePaper() {
        long a = 'a';
        long b = 'b';
        long c = 'c';
        long d = 'd';
        long e = 'e';
        FakeItems items = new FakeItems(ExpireAlgorithm.BUCKET, 1000, 3, 1, 1L << 20);
        items.nanosPerExpire = 1;
        items.set(a, 1023);
        items.set(b, 2100);
        items.set(c, 2020);
        assertEquals(1, items.expiry.store.cellOf(items.entryOf(a)));
        assertEquals(2, items.expiry.store.cellOf(items.entryOf(b)));
        assertEquals(2, items.expiry.store.cellOf(items.entryOf(c)));
        limitedCycle(items, 0);

        items.nowMillis = 1000;
        items.set(a, 2023);
        items.set(d, 2450);
        items.remove(c);
        assertEquals(2, items.expiry.store.cellOf(items.entryOf(a)), "a has left bucket 1");
        assertTrue(items.expiry.store.isEmpty(1));
        limitedCycle(items, 0);

        items.nowMillis = 2000;
        items.set(e, 5015);
        assertEquals(3, items.expiry.store.cellOf(items.entryOf(e)), "bucket 2 holds time 2, so e is in expires only");
        limitedCycle(items, 0);

        // A bucket is a set: which two of its three go first is left open.
        items.nowMillis = 3000;
        limitedCycle(items, 2);
        assertEquals(2, items.count());
        items.nowMillis = 4000;
        limitedCycle(items, 1);
        assertEquals(1, items.count());
        assertTrue(items.has(e));
        items.check("after the illustration");

        items.nowMillis = 6000;
        limitedCycle(items, 1);
        assertFalse(items.has(e), "sampling has found it");
    }

    private static void limitedCycle(FakeItems items, int expected) {
        int before = items.expired.size();
        items.expiry.beginCycle(items.nowMillis);
        CycleStatus status = items.expiry.runSlice(items.nowMillis, items.nanos + 2);
        assertEquals(expected, items.expired.size() - before, "at " + items.nowMillis);
        assertEquals(expected == 2 ? CycleStatus.MORE : CycleStatus.DONE, status, "at " + items.nowMillis);
    }

    @Test
    void expireBucket_returnsEachStatus() {
        FakeItems items = new FakeItems(ExpireAlgorithm.BUCKET, 1000, 3, 1, 1L << 20);
        BucketExpiry expiry = (BucketExpiry) items.expiry;
        items.nanosPerExpire = 1;
        items.set(1, 1000);
        items.set(2, 1999);
        expiry.slice.begin(1);
        assertEquals(BucketExpiry.BucketStatus.EMPTY, expiry.expireBucket(0, 0));
        assertEquals(BucketExpiry.BucketStatus.TIME_UNREACHED, expiry.expireBucket(1, 1999));
        items.nowMillis = 2000;
        assertEquals(BucketExpiry.BucketStatus.EXCEED_TIME_LIMIT, expiry.expireBucket(1, 2000));
        expiry.slice.begin(100);
        assertEquals(BucketExpiry.BucketStatus.SUCCESS, expiry.expireBucket(1, 2000));
        assertEquals(BucketExpiry.BucketStatus.EMPTY, expiry.expireBucket(1, 2000));
        items.check("at the end");
    }

    @Test
    void anItemAloneInItsBucketDoesNotBlockItself() {
        FakeItems items = new FakeItems(ExpireAlgorithm.BUCKET, 1000, 3);
        items.set(1, 1500);
        int entry = items.entryOf(1);
        items.set(1, 4500);
        assertEquals(entry, items.entryOf(1));
        assertEquals(1, items.expiry.store.cellOf(items.entryOf(1)), "time 4 has taken over bucket 1");
        items.check("moved");
        items.set(2, 4999);
        items.set(2, 1500);
        assertEquals(3, items.expiry.store.cellOf(items.entryOf(2)), "item 1 does stand in the way");
    }

    /**
     * Section 4.5.2: buckets that reach one TTL degrade, because the bucket of now + TTL is the one of now. Twice the
     * TTL does not.
     */
    @Test
    void bucketsThatReachOneTtlDegradeToSampling() {
        assertNotEquals(0, itemsOutsideBuckets(60));
        assertEquals(0, itemsOutsideBuckets(120));
    }

    private static int itemsOutsideBuckets(int buckets) {
        FakeItems items = new FakeItems(ExpireAlgorithm.BUCKET, 1000, buckets);
        int outside = 0;
        long location = 0;
        for (items.nowMillis = START_MILLIS; items.nowMillis < START_MILLIS + 150_000; items.nowMillis += 100) {
            items.set(++location, items.nowMillis + 60_000);
            if (items.expiry.store.cellOf(items.entryOf(location)) == buckets) {
                outside++;
            }
            items.cycle();
        }
        return outside;
    }

    @Test
    void theCurrentBucketStaysAfterTheTimeLimit() {
        FakeItems items = new FakeItems(ExpireAlgorithm.BUCKET, 1000, 3, 1, 1L << 20);
        items.nanosPerExpire = 1;
        for (long location = 0; location < 6; location++) {
            items.set(location, location < 3 ? 100 : 1100);
        }
        items.nowMillis = 5000;
        for (int i = 0; i < 3; i++) {
            items.expiry.beginCycle(items.nowMillis);
            assertEquals(CycleStatus.MORE, items.expiry.runSlice(items.nowMillis, items.nanos + 1));
        }
        assertEquals(List.of(2L, 1L, 0L), items.expired, "all of bucket 0 before any of bucket 1");
    }
}

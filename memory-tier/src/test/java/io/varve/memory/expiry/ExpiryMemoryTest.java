package io.varve.memory.expiry;

import java.util.Arrays;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the memory of a million TTLs, with the four TTLs of the paper's workloads. Confined to the test's thread. */
class ExpiryMemoryTest {
    private static final int ITEMS = 1_000_000;

    /** In the item: the expiry time, 48 bits, and the back link, 32. */
    private static final int BYTES_IN_ITEM = 6 + 4;

    private final long[] expireAt = new long[ITEMS];
    private final int[] entries = new int[ITEMS];
    private final FakeItems ticker = new FakeItems(ExpireAlgorithm.RANDOM, 1, 2);

    @ParameterizedTest
    @EnumSource(ExpireAlgorithm.class)
    void aTtlCostsSixteenBytesAndAFewPercent(ExpireAlgorithm algorithm) {
        Arrays.fill(expireAt, -1);
        MemoryBudget budget = new MemoryBudget(1L << 30);
        Expiry expiry = Expiry.create(algorithm, 1000, 120, new Regions(), budget, ticker, new ArrayItems());
        long now = ExpiryContractTest.START_MILLIS;
        int[] ttlSeconds = {15, 30, 45, 60};
        // They arrive within 14 s, so that none is due while they do.
        for (int i = 0; i < ITEMS; i++) {
            long arrival = now + 14_000L * i / ITEMS;
            expireAt[i] = arrival + ttlSeconds[i % ttlSeconds.length] * 1000L;
            entries[i] = expiry.add(i, expireAt[i], arrival);
        }
        checkCost(expiry, "full");
        // Half of the TTLs pass: what is left costs no more each.
        now += 14_000 + 31_000;
        for (int cycles = 0; cycles < 20; cycles++) {
            expiry.beginCycle(now);
            assertEquals(CycleStatus.DONE, expiry.runSlice(now, FakeItems.NO_DEADLINE));
        }
        // Sampling may stop at any round by chance; buckets let all go whose period has passed.
        assertTrue(algorithm == ExpireAlgorithm.RANDOM || expiry.size() < 0.55 * ITEMS, "left " + expiry.size());
        checkCost(expiry, "after half expired");
        expiry.release();
        assertEquals(0, budget.chargedBytes());
    }

    private static void checkCost(Expiry expiry, String when) {
        double cost = BYTES_IN_ITEM + (double) expiry.bytes() / expiry.size();
        System.out.printf("ExpiryMemoryTest: %.3f bytes for a TTL, %s, %d entries%n", cost, when, expiry.size());
        assertTrue(cost <= 16.8, cost + " bytes for a TTL " + when);
    }

    /** Items whose location is their index in two arrays. Confined to the test's thread. */
    private final class ArrayItems implements ExpiryOwner {
        @Override
        public long expireAtMillis(long location) {
            return expireAt[(int) location];
        }

        @Override
        public void entryMoved(long location, int entry) {
            entries[(int) location] = entry;
        }

        @Override
        public void expire(long location) {
            assertTrue(expireAt[(int) location] >= 0, "expired twice");
            expireAt[(int) location] = -1;
        }
    }
}

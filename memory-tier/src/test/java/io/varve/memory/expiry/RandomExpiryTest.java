package io.varve.memory.expiry;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the rounds of sampling, as in Redis. */
class RandomExpiryTest extends ExpiryContractTest {
    @Override
    ExpireAlgorithm algorithm() {
        return ExpireAlgorithm.RANDOM;
    }

    /** The clock is read every 10 rounds of 20. */
    @Override
    int maxPerSlice() {
        return 200;
    }

    /** There is no bucket that an entry could be wrong in. */
    @Override
    int faultsSeenForAStrayEntry() {
        return 0;
    }

    @Test
    void aRoundWithAtMostAQuarterExpiredIsTheLast() {
        int cycles = 200;
        int atMostOneRound = 0;
        for (int i = 0; i < cycles; i++) {
            FakeItems items = items();
            items.nanos = i;
            // 2 % are past their time: a round of 20 finds more than 5 of them about never.
            for (long location = 0; location < 1000; location++) {
                items.set(location, location % 50 == 0 ? START_MILLIS - 1 : START_MILLIS + 1000);
            }
            items.cycle();
            if (items.expired.size() <= 5) {
                atMostOneRound++;
            }
        }
        assertEquals(cycles, atMostOneRound);
    }

    /** Six of ten are past their time: cycle after cycle takes more than a round's worth, down to about a quarter. */
    @Test
    void roundsContinueWhileMoreThanAQuarterExpired() {
        FakeItems items = items();
        for (long location = 0; location < 10_000; location++) {
            items.set(location, location % 10 < 6 ? START_MILLIS - 1 : START_MILLIS + 1000);
        }
        items.cycle();
        assertTrue(items.expired.size() > RandomRounds.SAMPLES, "expired " + items.expired.size());
        for (int i = 0; i < 100; i++) {
            items.cycle();
        }
        double lingering = (items.count() - 4000) / (double) items.count();
        assertTrue(lingering < 0.3, "share past its time: " + lingering);
        assertTrue(lingering > 0, "sampling does not find the last ones");
    }

    @Test
    void theLastItemsAreSampledUntilNoneRemains() {
        FakeItems items = items();
        for (long location = 0; location < 25; location++) {
            items.set(location, START_MILLIS - 1);
        }
        items.cycle();
        assertEquals(0, items.count());
    }
}

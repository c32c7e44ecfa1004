package io.varve.memory.expiry;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The contract of every expiry algorithm, with the paper's best setting: 120 buckets of one second. */
abstract class ExpiryContractTest {
    static final long START_MILLIS = 1_700_000_000_000L;

    abstract ExpireAlgorithm algorithm();

    final FakeItems items(int stepsPerReading, long limitBytes) {
        FakeItems items = new FakeItems(algorithm(), 1000, 120, stepsPerReading, limitBytes);
        items.nowMillis = START_MILLIS;
        return items;
    }

    final FakeItems items() {
        return items(16, 1L << 30);
    }

    @Test
    void anItemExpiresAfterItsTimeAndNotBefore() {
        FakeItems items = items();
        items.set(7, START_MILLIS + 5000);
        items.nowMillis = START_MILLIS + 5000;
        items.cycle();
        assertTrue(items.has(7), "not past its time yet");
        items.nowMillis = START_MILLIS + 6001;
        items.cycle();
        assertFalse(items.has(7));
        assertEquals(List.of(7L), items.expired);
        items.check("at the end");
    }

    @Test
    void anItemAddedPastItsTimeExpiresInTheNextCycle() {
        FakeItems items = items();
        items.set(1, START_MILLIS - 2000);
        items.set(2, 0);
        items.cycle();
        assertEquals(0, items.count());
    }

    @Test
    void overwritingOneKeyAMillionTimesLeavesOneEntry() {
        FakeItems items = items();
        for (int i = 0; i < 1_000_000; i++) {
            items.set(1, START_MILLIS + 1 + i * 37L % 200_000);
        }
        assertEquals(1, items.expiry.size());
        assertTrue(items.expiry.bytes() <= EntryStore.SLAB_BYTES, "bytes " + items.expiry.bytes());
        items.check("after a million");
    }

    @Test
    void aRemovedItemNeverExpires() {
        FakeItems items = items();
        for (long location = 0; location < 100; location++) {
            items.set(location, START_MILLIS + 1000);
        }
        for (long location = 0; location < 100; location += 2) {
            items.remove(location);
        }
        items.nowMillis = START_MILLIS + 3000;
        items.cycle();
        assertEquals(0, items.count());
        assertEquals(50, items.expired.size());
        assertTrue(items.expired.stream().allMatch(location -> location % 2 == 1));
    }

    @Test
    void aNewTimeIsUsedWhetherLaterOrEarlier() {
        FakeItems items = items();
        items.set(1, START_MILLIS + 1000);
        items.set(2, START_MILLIS + 50_000);
        items.set(1, START_MILLIS + 50_000);
        items.set(2, START_MILLIS + 1000);
        items.nowMillis = START_MILLIS + 3000;
        items.cycle();
        assertEquals(List.of(2L), items.expired);
        assertTrue(items.has(1));
    }

    @Test
    void aRelocatedItemExpiresAtItsNewLocation() {
        FakeItems items = items();
        items.set(1, START_MILLIS + 1000);
        items.relocate(1, (1L << 48) - 1);
        items.check("relocated");
        items.nowMillis = START_MILLIS + 3000;
        items.cycle();
        assertEquals(List.of((1L << 48) - 1), items.expired);
    }

    @Test
    void aFullBudgetRefusesAnAddWithoutChange() {
        FakeItems items = items(16, EntryStore.SLAB_BYTES);
        long location = 0;
        while (items.budget.availableBytes() > 0 || location % ChunkLayout.SLOTS != 0
                || location < EntryStore.CHUNKS_PER_SLAB * ChunkLayout.SLOTS) {
            items.set(location++, START_MILLIS + 10_000);
        }
        long refused = location;
        assertThrows(CacheFullException.class, () -> items.set(refused, START_MILLIS + 10_000));
        items.check("after the refusal");
        assertEquals(refused, items.expiry.size());
        items.set(3, START_MILLIS + 90_000);
        items.check("a new time is not refused");
    }

    @Test
    void aSliceEndsSoonAfterItsDeadlineAndTheNextContinues() {
        FakeItems items = items();
        items.nanosPerExpire = 1000;
        for (long location = 0; location < 1000; location++) {
            items.set(location, START_MILLIS + 1000);
        }
        items.nowMillis = START_MILLIS + 3000;
        items.expiry.beginCycle(items.nowMillis);
        int slices = 0;
        int seen = 0;
        for (CycleStatus status = CycleStatus.MORE; status == CycleStatus.MORE; slices++) {
            status = items.expiry.runSlice(items.nowMillis, items.nanos + 10_000);
            int expired = items.expired.size() - seen;
            seen = items.expired.size();
            assertTrue(expired <= maxPerSlice(), "expired in one slice: " + expired);
        }
        assertEquals(0, items.count());
        assertTrue(slices >= 1000 / maxPerSlice(), "slices " + slices);
    }

    /** 10 µs at 1 µs each, noticed at the next reading of the clock. */
    int maxPerSlice() {
        return 16;
    }

    @Test
    void aSliceAfterTheCycleIsDoneDoesNothing() {
        FakeItems items = items();
        items.cycle();
        items.set(1, START_MILLIS - 5000);
        assertEquals(CycleStatus.DONE, items.expiry.runSlice(items.nowMillis, FakeItems.NO_DEADLINE));
        assertTrue(items.has(1), "expiry waits for the next cycle");
        items.cycle();
        assertFalse(items.has(1));
    }

    @Test
    void massExpiryReleasesMemory() {
        FakeItems items = items();
        for (long location = 0; location < 100_000; location++) {
            items.set(location, START_MILLIS + 1 + location % 60_000);
        }
        long full = items.expiry.bytes();
        assertTrue(full >= 6 * 100_000, "bytes " + full);
        items.nowMillis = START_MILLIS + 62_000;
        items.cycle();
        assertEquals(0, items.count());
        assertEquals(0, items.expiry.bytes());
        items.check("after all expired");
    }

    @Test
    void samplesComeFromAllEntries() {
        FakeItems items = items();
        assertEquals(Expiry.NONE, items.expiry.sample(1));
        for (long location = 0; location < 500; location++) {
            items.set(location, START_MILLIS + location * 1000);
        }
        Set<Long> seen = new HashSet<>();
        for (long i = 0; i < 20_000; i++) {
            seen.add(items.expiry.sample(i));
        }
        assertEquals(500, seen.size());
    }

    @Test
    void integrityCheckDetectsAWrongBackLink() {
        FakeItems items = items();
        items.set(1, START_MILLIS + 1000);
        items.set(2, START_MILLIS + 90_000);
        int entry = items.entryOf(2);
        items.expiry.relocate(entry, 1);
        List<String> problems = new ArrayList<>();
        items.expiry.checkIntegrity(problems::add);
        assertEquals(faultsSeenForAStrayEntry(), problems.size(), problems.toString());
    }

    /** An entry in a bucket of another time. */
    int faultsSeenForAStrayEntry() {
        return 1;
    }

    @Test
    void releaseFreesAllMemory() {
        FakeItems items = items();
        for (long location = 0; location < 10_000; location++) {
            items.set(location, START_MILLIS + location * 10);
        }
        items.expiry.release();
        assertEquals(0, items.budget.chargedBytes());
        assertEquals(0, items.expiry.bytes());
    }

    @Test
    void invalidSettingsAreRefused() {
        for (int[] setting : new int[][] {{0, 120}, {-1, 120}, {1000, 1}, {1000, Expiry.MAX_BUCKETS + 1}}) {
            FakeItems owner = items();
            assertThrows(IllegalArgumentException.class, () -> Expiry.create(algorithm(), setting[0], setting[1],
                    new Regions(), new MemoryBudget(1), owner, owner));
        }
    }
}

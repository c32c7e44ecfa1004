package io.varve.memory.expiry;

import java.util.SplittableRandom;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.RefusingRegions;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the levels of the wheel, and what only the wheel does with late, postponed and refused entries. */
class WheelExpiryTest extends ExpiryContractTest {
    @Override
    ExpireAlgorithm algorithm() {
        return ExpireAlgorithm.WHEEL;
    }

    @ParameterizedTest
    @CsvSource({"1000, 120, 6", "1, 2, 48", "1, 65536, 3", "2147483647, 65536, 2", "1000, 2, 39"})
    void theLastLevelHasABucketForEveryTime(int baseMillis, int buckets, int levels) {
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, baseMillis, buckets);
        assertEquals(levels, ((WheelExpiry) items.expiry).levelCount());
        double reach = baseMillis * Math.pow(buckets, levels);
        assertTrue(reach > Expiry.MAX_MILLIS && reach / buckets <= Expiry.MAX_MILLIS, "reach " + reach);
        items.set(1, Expiry.MAX_MILLIS);
        items.check("the latest time");
        items.nowMillis = Expiry.MAX_MILLIS;
        items.cycle();
        assertTrue(items.has(1));
    }

    /** The picture in the class's essay: BASE 1 s, NUM_BUCKETS 4, the clock at 21 s. */
    @ParameterizedTest
    @CsvSource({"20, waiting", "21, 0", "24, 0", "25, 1", "35, 1", "36, 2", "79, 2", "80, 3"})
    void anItemIsPutOnTheFinestLevelThatReachesIt(long second, String level) {
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, 1000, 4);
        items.nowMillis = 21_000;
        items.set(1, second * 1000);
        assertEquals(level, levelOf(items, 1, 4));
    }

    /** A slab full of items of one far bucket; when its period begins they need chunks that there are not. */
    @Test
    void itemsStayAndExpireLaterIfTheSystemRefusesMemory() {
        boolean[] refuses = {false};
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, 1000, 4, 16, 1L << 30,
                RefusingRegions.of(_ -> refuses[0]));
        int count = EntryStore.CHUNKS_PER_SLAB * ChunkLayout.SLOTS;
        items.nowMillis = 21_000;
        for (int i = 0; i < count; i++) {
            items.set(i, 29_000 + i % 2000);
        }
        assertEquals("1", levelOf(items, 0, 4));
        refuses[0] = true;
        assertThrows(CacheFullException.class, () -> items.set(0, 24_000));
        items.check("refused a new time");
        items.nowMillis = 28_500;
        items.cycle();
        items.check("refused a cycle");
        assertEquals(count, items.expiry.size());
        refuses[0] = false;
        items.cycle();
        items.check("has memory again");
        assertEquals("0", levelOf(items, 0, 4));
        items.nowMillis = 40_000;
        items.cycle();
        assertEquals(count, items.expired.size());
    }

    private static String levelOf(FakeItems items, long location, int buckets) {
        int level = items.expiry.store.cellOf(items.entryOf(location)) / buckets;
        return level < ((WheelExpiry) items.expiry).levelCount() ? Integer.toString(level) : "waiting";
    }

    @Test
    void aPostponedTimeMovesTheEntryWhenTheOldTimeComes() {
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, 1000, 4);
        items.nowMillis = 21_000;
        items.set(1, 22_500);
        items.set(2, 22_600);
        int entry = items.entryOf(1);
        for (long millis = 22_500; millis <= 26_500; millis += 100) {
            items.set(1, millis);
            assertEquals(entry, items.entryOf(1), "the write leaves the entry where it is");
        }
        items.check("after the writes");
        items.nowMillis = 23_000;
        items.cycle();
        items.check("when the old time has come");
        assertTrue(items.has(1));
        assertFalse(items.has(2));
        items.nowMillis = 26_400;
        items.cycle();
        assertTrue(items.has(1));
        items.nowMillis = 27_000;
        items.cycle();
        assertFalse(items.has(1));
    }

    @Test
    void anEarlierTimeAfterAPostponementMovesTheEntryAtOnce() {
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, 1000, 4);
        items.nowMillis = 21_000;
        items.set(1, 23_500);
        items.set(1, 80_000);
        items.set(1, 24_500);
        items.check("in a bucket of its own");
        items.set(1, 22_500);
        items.check("brought forward once more");
        items.nowMillis = 23_000;
        items.cycle();
        assertFalse(items.has(1));
        items.check("gone");
    }

    /** With an advancing clock and a cycle every BASE, each item is removed a BASE after its time, after few moves. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 7})
    void entriesMoveAtMostOncePerLevelAndExpireOnTime(int buckets) {
        int count = 1000;
        int[] moves = new int[count];
        long[] expireAt = new long[count];
        boolean[] expired = new boolean[count];
        long[] now = {1_000_003};
        Ticker ticker = new FakeItems(ExpireAlgorithm.RANDOM, 1, 2);
        Expiry expiry = Expiry.create(ExpireAlgorithm.WHEEL, 10, buckets, new Regions(), new MemoryBudget(1L << 30),
                ticker, new ExpiryOwner() {
                    @Override
                    public long expireAtMillis(long location) {
                        return expireAt[(int) location];
                    }

                    @Override
                    public void entryMoved(long location, int entry) {
                        moves[(int) location]++;
                    }

                    @Override
                    public void expire(long location) {
                        assertTrue(expireAt[(int) location] < now[0]);
                        expired[(int) location] = true;
                    }
                });
        long seed = new SplittableRandom().nextLong();
        System.out.println("WheelExpiryTest seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        int[] levelsAbove = new int[count];
        for (int i = 0; i < count; i++) {
            expireAt[i] = now[0] + random.nextLong(20_000);
            levelsAbove[i] = expiry.store.cellOf(expiry.add(i, expireAt[i], now[0])) / buckets;
        }
        for (int i = 0; i < 2_010; i++) {
            now[0] += 10;
            expiry.beginCycle(now[0]);
            assertEquals(CycleStatus.DONE, expiry.runSlice(now[0], FakeItems.NO_DEADLINE));
            for (int location = 0; location < count; location++) {
                assertTrue(expired[location] || expireAt[location] / 10 >= now[0] / 10, "late with seed " + seed);
            }
        }
        for (int location = 0; location < count; location++) {
            assertTrue(expired[location]);
            assertTrue(moves[location] <= levelsAbove[location], "moves " + moves[location] + " from level "
                    + levelsAbove[location] + " with seed " + seed);
        }
    }

    /** The setting in which the paper's algorithm degrades (section 4.5.2). */
    @Test
    void bucketsThatReachOneTtlDoNotDegrade() {
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, 1000, 60);
        long location = 0;
        for (items.nowMillis = START_MILLIS; items.nowMillis < START_MILLIS + 150_000; items.nowMillis += 100) {
            items.set(++location, items.nowMillis + 60_000);
            items.cycle();
            assertTrue(items.count() <= 611, "61 seconds of items, not " + items.count());
        }
        assertTrue(items.expired.size() > 850, "expired " + items.expired.size());
    }

    /** A bucket held by an overdue time, because no cycle has run since: the newcomer is neither lost nor early. */
    @Test
    void anItemWithAnOverdueBucketUsesACoarserLevelAndExpiresOnTime() {
        FakeItems items = new FakeItems(ExpireAlgorithm.WHEEL, 1000, 4);
        items.nowMillis = 20_000;
        items.set(1, 21_500);
        items.nowMillis = 24_000;
        items.set(2, 25_500);
        assertEquals("0", levelOf(items, 1, 4));
        assertEquals("waiting", levelOf(items, 2, 4), "level 1 has begun the period from 24 s");
        items.set(3, 24_500);
        assertEquals("0", levelOf(items, 3, 4));
        items.cycle();
        items.cycle();
        assertFalse(items.has(1));
        assertEquals("0", levelOf(items, 2, 4));
        items.nowMillis = 26_000;
        items.cycle();
        assertEquals(0, items.count());
    }

    /** Set back by an hour, one cycle lifts what lies beyond the reach; then buckets serve the new present again. */
    @Test
    void oneCycleRecoversFromAClockSetBack() {
        FakeItems items = items();
        for (long location = 0; location < 2000; location++) {
            items.set(location, START_MILLIS + location * 50);
        }
        items.nowMillis = START_MILLIS - 3_600_000;
        items.cycle();
        assertEquals(2000, items.count(), "nothing expires early");
        items.check("set back");
        for (long location = 2000; location < 4000; location++) {
            items.set(location, items.nowMillis + (location - 2000) * 50);
            assertEquals("0", levelOf(items, location, 120));
        }
        for (int i = 0; i < 102; i++) {
            items.nowMillis += 1000;
            items.cycle();
        }
        assertEquals(2000, items.expired.size());
        items.nowMillis = START_MILLIS + 101_000;
        items.cycle();
        assertEquals(0, items.count());
    }

    @Test
    void aYearAheadIsOneCycleAway() {
        FakeItems items = items();
        for (long location = 0; location < 1000; location++) {
            items.set(location, START_MILLIS + location * 86_400_000L);
        }
        items.nowMillis = START_MILLIS + 365 * 86_400_000L + 1000;
        items.cycle();
        assertEquals(366, items.expired.size());
        items.check("a year later");
    }
}

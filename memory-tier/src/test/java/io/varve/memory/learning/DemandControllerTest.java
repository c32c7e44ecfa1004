package io.varve.memory.learning;

import java.util.stream.IntStream;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.InMemoryCache;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.report.DemandReport;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests classes that are dumped in their valleys and woken. Confined to the test's thread. */
class DemandControllerTest extends ValleyHarness {
    @Test
    void theSecondValleyDumpsTheClassAndNothingElse() {
        toTheValley();
        assertThat(report().slots()).isEqualTo(3 * PHASE + 2);
        assertThat(report().dumps()).isOne();
        assertThat(report().dumpedItems()).isEqualTo(KEYS);
        assertThat(report().dumping()).isFalse();
        DemandReport.OfClass reported = report().classes().get(PERIODIC);
        assertThat(reported.dumped()).isTrue();
        assertThat(reported.periodic()).isTrue();
        assertThat(reported.intervalSlots()).isEqualTo(2 * PHASE);
        assertThat(report().classes().get(STEADY).dumps()).isZero();
        assertThat(secondary.items).hasSize(KEYS);
        for (int i = 0; i < KEYS; i++) {
            assertThat(isInMemory(key(PERIODIC, i))).isFalse();
            assertThat(secondary.classes).containsEntry(key(PERIODIC, i), PERIODIC);
            assertThat(isInMemory(key(STEADY, i))).isTrue();
        }
        assertThat(fixture.cache.stats().evicted()).isZero();
        assertThat(secondary.loads).isEmpty();
    }

    @Test
    void aSingleSlowSlotDumpsNothing() {
        fill();
        slots(PHASE, 2);
        slots(PHASE, 0);
        for (int i = 0; i < 20; i++) {
            slots(2, 2);
            slot(0);
        }
        assertThat(report().dumps()).isZero();
        assertThat(secondary.items).isEmpty();
    }

    @Test
    void consecutiveMissesWakeTheClass() {
        String stays = "x".repeat(100);
        set(PERIODIC, "stays", stays);
        secondary.longest = stays.length() - 1;
        toTheValley();
        for (int i = 0; i < MISSES - 1; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        assertThat(get("stays")).as("a hit").isNotNull();
        for (int i = MISSES; i < 2 * MISSES - 1; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
            assertThat(get(key(STEADY, i))).as("of another class").isNotNull();
        }
        fixture.maintainFully();
        assertThat(secondary.loads).isEmpty();
        assertThat(report().classes().get(PERIODIC).dumped()).isTrue();

        assertThat(get(key(PERIODIC, 2 * MISSES))).isNotNull();
        fixture.maintainFully();
        assertThat(secondary.loads).containsExactly(PERIODIC);
        assertThat(report().wakes()).isOne();
        assertThat(report().classes().get(PERIODIC).dumped()).isFalse();
        assertThat(fixture.cache.admitLoaded(PERIODIC, 100)).isTrue();
    }

    /**
     * A few keys take many of the reads: they return first, and repeated requests for them say nothing about the
     * others.
     */
    @Test
    void hitsOnPromotedItemsDoNotCountAsHits() {
        toTheValley();
        secondary.items.remove(key(PERIODIC, 1));
        assertThat(get(key(PERIODIC, 0))).isNotNull();
        assertThat(get(key(PERIODIC, 1))).as("lost").isNull();
        set(PERIODIC, key(PERIODIC, 1), "filled");
        set(PERIODIC, "new", "value");
        for (int i = 2; i < MISSES; i++) {
            assertThat(secondary.loads).isEmpty();
            assertThat(get(key(PERIODIC, 0))).isNotNull();
            assertThat(get(key(PERIODIC, 1))).isNotNull();
            assertThat(get("new")).isNotNull();
            assertThat(get(key(PERIODIC, i))).isNotNull();
            fixture.maintainFully();
        }
        assertThat(secondary.loads).containsExactly(PERIODIC);
    }

    /** More keys than each shard remembers: a forgotten key does not count as present. */
    @Test
    void aForgottenKeyDoesNotInterruptConsecutiveMisses() {
        toTheValley();
        assertThat(get(key(PERIODIC, 0))).isNotNull();
        for (int i = 0; i < 20_000; i++) {
            set(PERIODIC, "new " + i, "value");
        }
        assertThat(fixture.cache.stats().evicted()).isZero();
        for (int i = 1; i < MISSES; i++) {
            assertThat(secondary.loads).isEmpty();
            assertThat(get(key(PERIODIC, 0))).isNotNull();
            assertThat(get("new " + i)).isNotNull();
            assertThat(get(key(PERIODIC, i))).isNotNull();
            fixture.maintainFully();
        }
        assertThat(secondary.loads).containsExactly(PERIODIC);
    }

    /** A hit stays a hit, whatever is written to an item that was never demoted. */
    @Test
    void aRewrittenItemThatWasNeverDemotedIsAHit() {
        String stays = "x".repeat(100);
        set(PERIODIC, "stays", stays);
        secondary.longest = stays.length() - 1;
        toTheValley();
        set(PERIODIC, "stays", stays);
        assertThat(fixture.expire(0, CacheFixture.bytes("stays"), ticker.wallMillis() + 1_000_000)).isTrue();
        for (int i = 0; i < 2 * MISSES; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
            assertThat(get("stays")).as("a hit").isNotNull();
        }
        fixture.maintainFully();
        assertThat(secondary.loads).isEmpty();
    }

    /** Writes and deletions in a valley are no demand for other items. */
    @Test
    void writesAndDeletesDoNotWakeTheClass() {
        toTheValley();
        for (int i = 0; i < 2 * MISSES; i++) {
            // With a hint, and where the item's own class is kept.
            set(i % 2 == 0 ? CacheSession.AUTOMATIC : PERIODIC, key(PERIODIC, i), "new");
            delete(key(PERIODIC, 2 * MISSES + i));
        }
        fixture.maintainFully();
        assertThat(secondary.loads).isEmpty();
        assertThat(get(key(PERIODIC, 0))).as("where it was written").isNotNull();
        assertThat(get(key(PERIODIC, 1))).as("where it was written with a hint").isNotNull();
        for (int i = 0; i < MISSES - 1; i++) {
            assertThat(get(key(PERIODIC, 4 * MISSES + i))).isNotNull();
        }
        fixture.maintainFully();
        assertThat(secondary.loads).isEmpty();
        assertThat(report().classes().get(PERIODIC).dumped()).isTrue();
    }

    /** Keys that are neither in memory nor below miss too. */
    @Test
    void missesOfRemovedKeysWakeTheClass() {
        toTheValley();
        secondary.items.clear();
        for (int i = 0; i < MISSES; i++) {
            assertThat(secondary.loads).isEmpty();
            assertThat(get(key(PERIODIC, i))).isNull();
            fixture.maintainFully();
        }
        assertThat(secondary.loads).containsExactly(PERIODIC);
    }

    @Test
    void aPeakWithoutMissesWakesTheClass() {
        toTheValley();
        fixture.cache.reconfigure(config().withDemand(SETTINGS));
        assertThat(report().dumps()).as("the same settings change nothing").isOne();
        for (int i = 0; i < 3; i++) {
            for (int number = 0; number < 2 * KEYS; number++) {
                set(PERIODIC, "other " + number, "value");
            }
            endSlot();
        }
        assertThat(secondary.loads).containsExactly(PERIODIC);
    }

    @Test
    void switchingOffDuringADumpChangesNothing() {
        long before = fixture.cache.stats().usedBytes();
        secondary.capacity = KEYS / 2;
        toTheValley();
        fixture.cache.reconfigure(config().withDemand(null));
        secondary.capacity = Integer.MAX_VALUE;
        endSlot();
        assertThat(fixture.cache.demand()).isNull();
        assertThat(secondary.items).hasSize(KEYS / 2);
        assertThat(fixture.cache.admitLoaded(PERIODIC, 100)).isFalse();
        for (int i = 0; i < KEYS; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        assertThat(secondary.loads).isEmpty();

        fixture.cache.flushAll();
        fixture.maintainFully();
        assertThat(fixture.cache.stats().usedBytes()).as("what watching took is given back").isLessThan(before);
        fixture.cache.reconfigure(config());
        assertThat(report().slots()).isZero();
        fixture.cache.reconfigure(config().withPenalties(PenaltySettings.OFF));
        assertThat(fixture.cache.demand()).isNull();
        endSlot();
    }

    /** A thread that changes settings may be one for which the holder of all shards waits. */
    @Test
    void settingsChangeWhileAShardIsHeld() throws InterruptedException {
        fixture.whileHeld(1, () -> {
            fixture.cache.reconfigure(config().withDemand(null));
            assertThat(fixture.cache.demand()).isNull();
            fixture.cache.reconfigure(config());
            assertThat(report().slots()).isZero();
            ticker.advanceMillis(SLOT_MILLIS);
            assertThat(fixture.cache.maintain()).isNotNegative();
            assertThat(report().slots()).as("no slot without one of them").isZero();
        });
        fixture.maintainFully();
        toTheValley();
        assertThat(secondary.items).hasSize(KEYS);
    }

    @Test
    void withoutASecondaryTierNothingIsWatched() {
        try (CacheFixture alone = new CacheFixture(Cache.open(config()))) {
            assertThat(alone.cache.demand()).isNull();
            alone.maintainFully();
            assertThat(alone.cache.admitLoaded(PERIODIC, 100)).isFalse();
        }
    }

    @Test
    void aLoadTakesOnlyFreeMemory() {
        toTheValley();
        assertThat(fixture.cache.admitLoaded(PERIODIC, 100)).as("while it is dumped").isFalse();
        assertThat(fixture.cache.admitLoaded(STEADY, 100)).isTrue();
        String value = "x".repeat(1000);
        int written = 0;
        while (fixture.cache.admitLoaded(STEADY, 2000)) {
            set(STEADY, "more " + written++, value);
            assertThat(written).isLessThan(10_000);
        }
        assertThat(written).isGreaterThan(5000);
        fixture.maintainFully();
        assertThat(secondary.items).as("nothing is evicted for loaded items").hasSize(KEYS);
        assertThat(fixture.cache.hasFreeMemory(2000)).as("nor for the next writes").isTrue();
    }

    private static double[] shares(double periodic) {
        double[] shares = new double[PenaltyRanges.MAX_CLASSES];
        shares[PERIODIC] = periodic;
        shares[STEADY] = 1 - periodic;
        return shares;
    }

    @Test
    void aWokenClassHasItsShareFromBeforeTheValley() {
        fixture.close();
        fixture = open(config().withEvictionPolicy(EvictionPolicy.ALLKEYS_PENALTY));
        ShardContext context = ((InMemoryCache) fixture.cache).context();
        context.shares(shares(0.75));
        toTheValley();
        context.shares(shares(0.25));
        endSlot();
        for (int i = 0; i < MISSES; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        fixture.maintainFully();
        assertThat(context.shares()).containsExactly(shares(0.75), within(1e-9));

        String value = "x".repeat(1000);
        for (int i = 0; i < 8000; i++) {
            assertThat(fixture.cache.admit(2000)).isTrue();
            set(STEADY, "more " + i, value);
        }
        assertThat(fixture.cache.admitLoaded(STEADY, 10_000)).as("over its share").isFalse();
        assertThat(fixture.cache.admitLoaded(PERIODIC, 10_000)).as("below its share").isTrue();
        context.shares(shares(0));
        for (int i = 0; i < 100; i++) {
            assertThat(fixture.cache.admit(2000)).isTrue();
            set(STEADY, "yet more " + i, value);
        }
        assertThat(fixture.cache.admitLoaded(PERIODIC, 200_000)).as("no share and nothing free").isFalse();
    }

    /**
     * Its group is limited to the share of all of its classes together: that is what is evicted, and what a load must
     * stay below.
     */
    @Test
    void aWokenClassHasTheShareOfItsGroup() {
        fixture.close();
        fixture = open(config().withEvictionPolicy(EvictionPolicy.ALLKEYS_PENALTY));
        ShardContext context = ((InMemoryCache) fixture.cache).context();
        int other = PenaltyRanges.MAX_CLASSES - 1;
        int[] groups = IntStream.range(0, PenaltyRanges.MAX_CLASSES).toArray();
        groups[other] = PERIODIC;
        context.shares(shares(0.75), groups);
        toTheValley();
        double[] valley = shares(0.25);
        valley[STEADY] = 0.4;
        valley[other] = 0.35;
        context.shares(valley, groups);
        endSlot();
        for (int i = 0; i < MISSES; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        fixture.maintainFully();
        double[] awake = shares(0.75 * 0.25 / 0.6);
        awake[STEADY] = 0.25;
        awake[other] = 0.75 * 0.35 / 0.6;
        assertThat(context.shares()).containsExactly(awake, within(1e-9));

        String value = "x".repeat(1000);
        for (int i = 0; i < 8000; i++) {
            assertThat(fixture.cache.admit(2000)).isTrue();
            set(other, "more " + i, value);
        }
        double[] divided = shares(0.3);
        divided[STEADY] = 0.5;
        divided[other] = 0.2;
        context.shares(divided, groups);
        assertThat(fixture.cache.admitLoaded(PERIODIC, 200_000)).as("what they took when it woke").isTrue();
        ticker.advanceMillis(1000);
        fixture.cache.maintain();
        int unusedClass = other - 1;
        for (int i = 0; fixture.cache.admitLoaded(unusedClass, 100_000); i++) {
            assertThat(i).as("values, while there is memory beyond the shares").isLessThan(10_000);
            assertThat(fixture.cache.admit(2000)).isTrue();
            set(other, "yet more " + i, value);
        }
        assertThat(fixture.cache.admitLoaded(PERIODIC, 200_000)).as("its group is over its share").isFalse();
        context.shares(divided, IntStream.range(0, PenaltyRanges.MAX_CLASSES).toArray());
        assertThat(fixture.cache.admitLoaded(PERIODIC, 200_000)).as("alone it is below").isTrue();
    }
}

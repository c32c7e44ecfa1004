package io.varve.memory.maintenance;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.Cache;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.Ticker;
import io.varve.memory.learning.ValleyHarness;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the demotion of a class in its valley: demoted, waiting and remaining items. Confined to the test's thread. */
class ClassDemotionTest extends ValleyHarness {
    @Test
    void itemsWaitInMemoryWhileTheSecondaryTierIsFull() {
        secondary.capacity = KEYS / 2;
        toTheValley();
        assertThat(secondary.items).hasSize(KEYS / 2);
        assertThat(report().dumping()).isTrue();
        assertThat(report().dumpedItems()).isEqualTo(KEYS / 2);
        assertThat(fixture.cache.size(0)).isEqualTo(KEYS + KEYS / 2);
        endSlot();
        assertThat(secondary.items).hasSize(KEYS / 2);

        secondary.capacity = KEYS - 1;
        fixture.maintainFully();
        assertThat(secondary.items).hasSize(KEYS - 1);
        endSlot();
        assertThat(report().dumping()).isTrue();
        secondary.capacity = KEYS;
        fixture.maintainFully();
        assertThat(secondary.items).hasSize(KEYS);
        assertThat(report().dumping()).isFalse();
        assertThat(report().abandoned()).isZero();
        assertThat(fixture.cache.stats().evicted()).isZero();
    }

    @Test
    void demotionEndsAfterASlotWithoutProgress() {
        secondary.capacity = KEYS / 2;
        toTheValley();
        endSlot();
        endSlot();
        assertThat(report().dumping()).isFalse();
        assertThat(report().classes().get(PERIODIC).abandoned()).isOne();
        assertThat(report().classes().get(PERIODIC).dumped()).as("it wakes as others do").isTrue();
        secondary.capacity = KEYS;
        endSlot();
        assertThat(secondary.items).hasSize(KEYS / 2);
        assertThat(fixture.cache.size(0)).isEqualTo(KEYS + KEYS / 2);
        assertThat(fixture.cache.stats().evicted()).isZero();
    }

    /** A command of another thread has one of the shards in the slot that ends, and while the class falls. */
    @Test
    void aHeldShardIsDemotedLater() throws InterruptedException {
        fill();
        slots(PHASE, 2);
        slots(PHASE, 0);
        slots(PHASE, 2);
        slot(0);
        for (int i = 0; i < KEYS; i++) {
            assertThat(get(key(STEADY, i))).isNotNull();
        }
        ticker.advanceMillis(SLOT_MILLIS);
        fixture.whileHeld(2, () -> {
            for (int round = 0; round < 10; round++) {
                assertThat(fixture.cache.maintain()).isNotNegative();
            }
            assertThat(report().dumps()).isOne();
            assertThat(report().dumping()).isTrue();
            assertThat(secondary.items.size()).isBetween(KEYS / 2, KEYS - 1);
            for (int slot = 0; slot < 3; slot++) {
                ticker.advanceMillis(SLOT_MILLIS);
                assertThat(fixture.cache.maintain()).isNotNegative();
            }
            assertThat(report().dumping()).as("there is space for the rest").isTrue();
            assertThat(report().abandoned()).isZero();
        });
        fixture.maintainFully();
        assertThat(secondary.items).hasSize(KEYS);
        assertThat(report().dumping()).isFalse();
    }

    @Test
    void writesDuringADemotionAreKept() {
        secondary.capacity = KEYS / 2;
        toTheValley();
        Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < KEYS; i++) {
            expected.put(key(PERIODIC, i), "value " + i);
        }
        List<String> demoted = new ArrayList<>(secondary.items.keySet());
        List<String> standing = new ArrayList<>(expected.keySet());
        standing.removeAll(demoted);
        for (String key : List.of(demoted.get(0), demoted.get(1), standing.get(0), standing.get(1))) {
            set(PERIODIC, key, "new");
            expected.put(key, "new");
        }
        for (String key : List.of(demoted.get(2), demoted.get(3), standing.get(2), standing.get(3))) {
            delete(key);
            expected.remove(key);
        }
        secondary.capacity = Integer.MAX_VALUE;
        endSlot();
        assertThat(report().dumping()).isFalse();
        // Items that returned after the cursor had passed them stay in memory.
        assertThat(secondary.items.size()).isBetween(expected.size() - 4, expected.size());
        set(PERIODIC, demoted.get(5), "newer");
        expected.put(demoted.get(5), "newer");
        for (int i = 0; i < KEYS; i++) {
            byte[] value = get(key(PERIODIC, i));
            assertThat(value == null ? null : new String(value, UTF_8)).isEqualTo(expected.get(key(PERIODIC, i)));
        }
    }

    @Test
    void itemsThatCannotBeDemotedStay() {
        secondary.longest = 100;
        fixture.close();
        try (CollectionsFixture trees = new CollectionsFixture(Cache.open(config()))) {
            fixture = trees.plain;
            fixture.cache.attachSecondaryTier(secondary);
            set(PERIODIC, "long", "x".repeat(101));
            fixture.session.writesInto(PERIODIC);
            trees.makeHash("tree", 2000, 100, Item.NEVER);
            toTheValley();
            assertThat(report().dumping()).isFalse();
            assertThat(secondary.items).hasSize(KEYS);
            assertThat(isInMemory("long")).isTrue();
            assertThat(isInMemory("tree")).isTrue();
            trees.assertSound();
        }
        fixture = open(config());
    }

    /** Items that pressure may not evict might not return, or be dropped on flash. */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"NOEVICTION", "VOLATILE_LRU"})
    void itemsThatThePolicyProtectsStay(EvictionPolicy policy) {
        fixture.cache.reconfigure(config().withEvictionPolicy(policy));
        toTheValley();
        assertThat(report().classes().get(PERIODIC).dumped()).isTrue();
        assertThat(report().dumping()).isFalse();
        assertThat(secondary.items).isEmpty();
        assertThat(fixture.cache.size(0)).isEqualTo(2 * KEYS);
    }

    @Test
    void expiredItemsAreNotDemoted() {
        fixture.session.writesInto(PERIODIC);
        fixture.cache.reconfigure(config().withActiveExpire(false));
        long soon = ticker.wallMillis() + 5000;
        fixture.set(0, CacheFixture.bytes("brief"), CacheFixture.bytes("value"), soon);
        toTheValley();
        assertThat(secondary.items).hasSize(KEYS).doesNotContainKey("brief");
    }

    @Test
    void aClassThatWakesDuringItsDemotionStays() {
        secondary.capacity = KEYS / 2;
        toTheValley();
        List<String> demoted = new ArrayList<>(secondary.items.keySet());
        secondary.capacity = 0;
        for (String key : demoted.subList(0, MISSES)) {
            assertThat(get(key)).isNotNull();
        }
        secondary.capacity = Integer.MAX_VALUE;
        fixture.maintainFully();
        assertThat(secondary.loads).containsExactly(PERIODIC);
        assertThat(report().dumping()).isFalse();
        assertThat(secondary.items).hasSize(KEYS / 2 - MISSES);
        slots(2, 0);
        assertThat(report().dumps()).as("the valley continues").isOne();
        slot(0);
        assertThat(report().dumps()).isEqualTo(2);
        assertThat(secondary.items).hasSize(KEYS);
    }

    /** A clock that advances with each reading. Confined to the test's thread. */
    private static final class WalkingTicker implements Ticker {
        private static final long STEP_NANOS = 30_000;
        private final AtomicLong nanos = new AtomicLong(1);

        @Override
        public long wallMillis() {
            return 1_700_000_000_000L + nanos.get() / 1_000_000;
        }

        @Override
        public long nanoTime() {
            return nanos.addAndGet(STEP_NANOS);
        }
    }

    @Test
    void aDumpPausesBetweenItsSlices() {
        WalkingTicker walking = new WalkingTicker();
        fixture.close();
        fixture = open(config().withTicker(walking));
        fill();
        int[] turns = new int[1];
        int rounds = 0;
        int before;
        int max = 0;
        for (int slot = 0; report().dumps() == 0; slot++) {
            assertThat(slot).isLessThan(4 * PHASE);
            for (int i = 0; i < KEYS && slot / PHASE % 2 == 0; i++) {
                assertThat(get(key(PERIODIC, i))).isNotNull();
                assertThat(get(key(PERIODIC, i))).isNotNull();
            }
            long slots = report().slots();
            walking.nanos.addAndGet(SLOT_MILLIS * 1_000_000L);
            while (report().slots() == slots) {
                assertThat(fixture.cache.maintain()).isNotNegative();
            }
        }
        do {
            before = secondary.items.size();
            turns[0] = 0;
            assertThat(fixture.cache.maintain(() -> turns[0]++)).isNotNegative();
            assertThat(turns[0]).isPositive();
            max = Math.max(max, secondary.items.size() - before);
            rounds++;
        } while (report().dumping() && rounds < 1000);
        assertThat(secondary.items).hasSize(KEYS);
        assertThat(rounds).isGreaterThan(KEYS / 10);
        assertThat(max).isBetween(1, 10);
    }
}

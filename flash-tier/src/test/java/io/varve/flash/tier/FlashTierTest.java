package io.varve.flash.tier;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.varve.flash.policy.Policies;
import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the view of a client on two tiers under demotion, promotion, kills and failures. Confined to the test's thread.
 */
class FlashTierTest {
    private static final int KEYS = 6000;
    private static final int STEPS = 60_000;
    private static final FlashTierSettings AMPLE = FlashTierSettings.of(100_000).withQueueBytes(1L << 30);

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();
    private final SplittableRandom random = new SplittableRandom(20201);

    private TierFixture open(FlashTierSettings settings) {
        return new TierFixture(directory, _ -> device, settings);
    }

    private static String name(int number) {
        return "key " + number;
    }

    private String value(long step) {
        return step + " " + "v".repeat(random.nextInt(600));
    }

    /** With space for everything on flash, the two tiers behave as one map. */
    @Test
    void nothingIsLostAndNothingIsStale() {
        List<Map<String, String>> model = new ArrayList<>(List.of(new HashMap<>(), new HashMap<>(), new HashMap<>()));
        try (TierFixture fixture = open(AMPLE)) {
            for (int step = 0; step < STEPS; step++) {
                int database = random.nextInt(TierFixture.DATABASES);
                Map<String, String> expected = model.get(database);
                String name = name(random.nextInt(KEYS));
                int what = random.nextInt(1000);
                if (what < 500) {
                    String value = value(step);
                    fixture.set(database, name, value);
                    expected.put(name, value);
                } else if (what < 900) {
                    assertThat(fixture.get(database, name)).as("step %d", step).isEqualTo(expected.get(name));
                } else if (what < 996) {
                    assertThat(fixture.delete(database, name)).as("step %d", step)
                            .isEqualTo(expected.remove(name) != null);
                } else if (what < 998) {
                    int other = random.nextInt(TierFixture.DATABASES);
                    TierFixture.join(fixture.tier.swap(database, other));
                    model.set(database, model.get(other));
                    model.set(other, expected);
                } else if (what < 999 && step % 10 == 0) {
                    TierFixture.join(fixture.tier.flush(database));
                    expected.clear();
                } else if (step % 100 == 0) {
                    TierFixture.join(fixture.tier.flushAll());
                    model.forEach(Map::clear);
                }
            }
            for (int database = 0; database < TierFixture.DATABASES; database++) {
                for (int i = 0; i < KEYS; i++) {
                    assertThat(fixture.get(database, name(i))).isEqualTo(model.get(database).get(name(i)));
                }
                assertThat(fixture.size(database)).isEqualTo(model.get(database).size());
            }
            assertThat(fixture.problems()).isEmpty();
            FlashTierStats stats = fixture.tier.stats();
            assertThat(stats.promotions()).as("brought back").isGreaterThan(1000);
            assertThat(stats.written()).isGreaterThan(1000);
            assertThat(stats.shed() + stats.evictions() + stats.invalidations() + stats.corrupt()).isZero();
        }
    }

    /** A killed process has lost the items in memory; items that it overwrote or deleted do not return. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void overwrittenOrDeletedItemsAreNotPromoted(boolean full) {
        FlashTierSettings settings = full ? FlashTierSettings.of(1500) : AMPLE;
        Map<String, @Nullable String> model = new HashMap<>();
        long back = 0;
        int step = 0;
        for (int kill = 0; kill < 12; kill++) {
            MortalStore store = new MortalStore(device);
            // Not closed: it is killed.
            TierFixture fixture = new TierFixture(directory, _ -> store, settings);
            for (int i = 0; i < 2000; i++) {
                String name = name(random.nextInt(KEYS));
                String found = fixture.get(0, name);
                back += found == null ? 0 : 1;
                // Lost it may be, and is so from now on for good, until it is written again.
                assertThat(found).as("after kill %d, step %d", kill, step).isIn(model.get(name), null);
                model.put(name, found);
            }
            int steps = 1000 + random.nextInt(4000);
            for (int i = 0; i < steps; i++) {
                step++;
                String name = name(random.nextInt(KEYS));
                if (random.nextInt(4) == 0) {
                    fixture.delete(0, name);
                    model.put(name, null);
                } else if (random.nextInt(4) == 0) {
                    assertThat(fixture.get(0, name)).isIn(model.get(name), null);
                } else {
                    String value = value(step) + "w".repeat(1500);
                    fixture.set(0, name, value);
                    model.put(name, value);
                }
                if (random.nextInt(3000) == 0) {
                    TierFixture.join(fixture.tier.flush(0));
                    model.clear();
                }
            }
            store.kill();
        }
        assertThat(back).as("came back warm").isGreaterThan(1000);
    }

    @Test
    void contentSurvivesCleanEnd() {
        try (TierFixture fixture = open(AMPLE)) {
            for (int i = 0; i < 500; i++) {
                fixture.put(i % 2, name(i), ItemType.HASH, 1, "value " + i,
                        i % 3 == 0 ? 4_000_000_000_000L : Item.NEVER);
            }
            fixture.demoteOthers(2, "other ");
            TierFixture.join(fixture.tier.swap(0, 1));
        }
        assertThat(device.count()).isGreaterThan(500);
        try (TierFixture fixture = open(AMPLE)) {
            assertThat(fixture.size(0)).isEqualTo(250);
            for (int i = 0; i < 500; i++) {
                assertThat(fixture.facts(1 - i % 2, name(i)))
                        .containsExactly((long) ItemType.HASH.code(), 1L, i % 3 == 0 ? 4_000_000_000_000L : Item.NEVER);
                assertThat(fixture.get(1 - i % 2, name(i))).isEqualTo("value " + i);
                assertThat(fixture.get(i % 2, name(i))).isNull();
            }
            assertThat(fixture.size(0) + fixture.size(1)).isEqualTo(500);
        }
    }

    /** A fetched item is read once for all concurrent requests: it may be evicted from memory before the second. */
    @Test
    void concurrentFetchesOfAKeyReadItOnce() throws InterruptedException {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch slow = new CountDownLatch(1);
        try (TierFixture fixture = open(AMPLE.withThreads(1))) {
            fixture.set(0, "key", "value");
            fixture.set(0, "another", "value");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            device.refuse(call -> {
                reached.countDown();
                return call.equals("get") && !isOver(slow);
            });
            CompletableFuture<List<Fetch.Outcome>> first = fixture.fetch(0, "another", 1);
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            CompletableFuture<List<Fetch.Outcome>> second = fixture.fetch(0, "key", 20);
            slow.countDown();
            assertThat(TierFixture.join(first)).containsExactly(Fetch.Outcome.PROMOTED);
            assertThat(TierFixture.join(second)).hasSize(20).containsOnly(Fetch.Outcome.PROMOTED);
            assertThat(fixture.tier.stats().hits()).as("another, and key once").isEqualTo(2);
            assertThat(fixture.tier.stats().promotions()).isEqualTo(2);
            assertThat(fixture.get(0, "key")).isEqualTo("value");
        } finally {
            slow.countDown();
        }
    }

    private static boolean isOver(CountDownLatch latch) {
        try {
            return latch.await(1, TimeUnit.MINUTES);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Another life's limit was higher: all of it is known, and goes by and by. */
    @ParameterizedTest
    @ValueSource(strings = {"tbf", "clock", "lru", "s3-fifo"})
    void aLowerLimitIsReached(String policy) {
        try (TierFixture fixture = open(AMPLE)) {
            for (int i = 0; i < 3000; i++) {
                fixture.set(0, name(i), "value " + i);
            }
            fixture.demoteOthers(2, "other ");
        }
        assertThat(device.count()).isGreaterThan(3000);
        try (TierFixture fixture = open(FlashTierSettings.of(500).withPolicy(Policies.of(policy)))) {
            assertThat(fixture.size(0)).as("known").isEqualTo(3000);
            for (int i = 0; i < 6; i++) {
                fixture.demoteOthers(2, "round " + i + " ");
                fixture.settle();
            }
            assertThat(device.count()).isLessThanOrEqualTo(500 + 64);
            for (int i = 0; i < 3000; i++) {
                assertThat(fixture.get(0, name(i))).isIn("value " + i, null);
            }
            assertThat(fixture.tier.stats().invalidations()).isZero();
        }
    }

    /** A callback that waits for the sweep after a start runs even if everything is invalidated meanwhile. */
    @Test
    void droppedTierNeedsNoSweep() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.set(0, "key", "value");
            fixture.demoteOthers(2, "other ");
        }
        device.refuse(StoreException.Kind.FAILED, call -> call.equals("walk") || call.equals("get"));
        try (TierFixture fixture = open(AMPLE)) {
            assertThat(fixture.get(0, "key")).isNull();
            assertThat(fixture.tier.stats().invalidations()).isOne();
            assertThat(fixture.size(0)).isZero();
            device.refuse(_ -> false);
        }
    }

    /** Data that one process left in the system's cache cannot be synced by another. */
    @Test
    void syncCountsFromTheLifeThatBeganWithIt() {
        MortalStore store = new MortalStore(device);
        TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE, "boot 1");
        fixture.set(0, "key", "value");
        fixture.demoteOthers(2, "other ");
        fixture.settle();
        store.kill();
        MortalStore synced = new MortalStore(device);
        TierFixture second = new TierFixture(directory, _ -> synced, AMPLE.withSync(true), "boot 1");
        assertThat(TierFixture.join(second.fetch(0, "key", 1))).containsExactly(Fetch.Outcome.PROMOTED);
        second.demoteOthers(2, "more ");
        second.settle();
        synced.kill();
        try (TierFixture third = new TierFixture(directory, _ -> device, AMPLE.withSync(true), "boot 2")) {
            assertThat(third.get(0, "key")).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void afterThePowerWentItStartsEmptyUnlessAllWasOnTheDevice(boolean sync) {
        FlashTierSettings settings = AMPLE.withSync(sync);
        MortalStore store = new MortalStore(device);
        TierFixture fixture = new TierFixture(directory, _ -> store, settings, "boot 1");
        fixture.set(0, "kept", "value");
        fixture.demoteOthers(2, "other ");
        fixture.settle();
        store.kill();
        try (TierFixture next = new TierFixture(directory, _ -> device, settings, "boot 2")) {
            assertThat(next.get(0, "kept")).isEqualTo(sync ? "value" : null);
            if (!sync) {
                assertThat(next.size(0)).isZero();
            }
        }
    }

    @Test
    void expiredItemIsAbsent() {
        try (TierFixture fixture = open(AMPLE)) {
            long soon = System.currentTimeMillis() + 300;
            fixture.set(0, "short", "value", soon);
            fixture.set(0, "long", "value", soon + 1_000_000);
            fixture.demoteOthers(2, "other ");
            while (System.currentTimeMillis() <= soon) {
                Thread.onSpinWait();
            }
            assertThat(fixture.get(0, "short")).isNull();
            assertThat(fixture.get(0, "long")).isEqualTo("value");
            assertThat(fixture.size(0)).isEqualTo(1);
            assertThat(fixture.tier.stats().expired()).isEqualTo(1);
        }
    }

    @Test
    void itHoldsNoMoreThanItMay() {
        FlashTierSettings settings = FlashTierSettings.of(800);
        try (TierFixture fixture = open(settings)) {
            for (int i = 0; i < 6; i++) {
                fixture.demoteOthers(0, "round " + i + " ");
                fixture.settle();
            }
            assertThat(device.count()).isLessThanOrEqualTo(800 + 64);
            assertThat(fixture.tier.stats().evictions()).isGreaterThan(1000);
            assertThat(fixture.tier.stats().items()).isEqualTo(device.count());
        }
    }

    @Test
    void bytesAreBoundedToo() {
        try (TierFixture fixture = open(FlashTierSettings.of(100_000).withMaxBytes(1 << 20))) {
            for (int i = 0; i < 6; i++) {
                fixture.demoteOthers(0, "round " + i + " ");
                fixture.settle();
            }
            assertThat(device.count()).as("records of some 1,050 bytes").isBetween(300L, 700L);
        }
    }

    @Test
    void aDamagedRecordIsMissing() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.set(0, "damaged", "value");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            for (byte[] key : device.keys()) {
                device.corrupt(key, 20);
            }
            assertThat(fixture.get(0, "damaged")).isNull();
            assertThat(fixture.tier.stats().corrupt()).isEqualTo(1);
            fixture.set(0, "damaged", "new");
            fixture.demoteOthers(2, "more ");
            assertThat(fixture.get(0, "damaged")).isEqualTo("new");
        }
    }

    /** Full: memory continues, items on flash stay readable, and flash accepts items again once it has space. */
    @Test
    void fullDeviceAcceptsNothingUntilItHasSpace() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.set(0, "early", "value");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            device.refuse(call -> call.equals("put"));
            fixture.demoteOthers(0, "refused ");
            fixture.settle();
            FlashTierStats full = fixture.tier.stats();
            assertThat(full.failing()).isTrue();
            assertThat(full.shed()).isPositive();
            assertThat(full.invalidations()).isZero();
            assertThat(fixture.get(0, "early")).isEqualTo("value");
            device.refuse(_ -> false);
            long written = full.written();
            long deadline = System.nanoTime() + 30_000_000_000L;
            for (int i = 0; fixture.tier.stats().written() == written; i++) {
                assertThat(System.nanoTime()).as("takes nothing").isLessThan(deadline);
                fixture.set(0, "again " + i, "x".repeat(1000));
            }
            fixture.settle();
            assertThat(fixture.tier.stats().failing()).isFalse();
        }
    }

    /**
     * The store has no space to record a removal: the item stays on flash, and is readable once there is space again.
     */
    @Test
    void removalWithoutSpaceKeepsRecord() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.set(0, "key", "value");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            device.refuse(call -> call.equals("put") || call.equals("delete"));
            assertThat(TierFixture.join(fixture.fetch(0, "key", 2))).containsOnly(Fetch.Outcome.NO_SPACE);
            assertThat(TierFixture.join(fixture.fetch(0, "nothing", 1))).containsOnly(Fetch.Outcome.ABSENT);
            assertThat(fixture.tier.stats().invalidations()).isZero();
            device.refuse(_ -> false);
            assertThat(fixture.get(0, "key")).isEqualTo("value");
            assertThat(fixture.size(0)).isOne();
        }
    }

    /** Demoted items are written, however many requests arrive all the time. */
    @Test
    void demotionsAreServedDuringConstantFetches() {
        try (TierFixture fixture = open(AMPLE.withThreads(1).withQueueBytes(100_000))) {
            List<CompletableFuture<List<Fetch.Outcome>>> requested = new ArrayList<>();
            for (int round = 0; round < 300; round++) {
                requested.add(fixture.fetch(1, name(round), 64));
                fixture.set(0, "round " + round, "x".repeat(1000));
                fixture.set(0, "again " + round, "x".repeat(1000));
                if (requested.size() > 20) {
                    TierFixture.join(requested.removeFirst());
                }
            }
            fixture.demoteOthers(2, "other ");
            requested.forEach(TierFixture::join);
            assertThat(fixture.tier.stats().written()).isPositive();
        }
    }

    /** If nothing can be removed, no write could be acknowledged: so everything on flash is invalidated. */
    @ParameterizedTest
    @ValueSource(strings = {"delete", "get"})
    void tierIsDroppedIfStateFileCannotBeInvalidated(String refused) {
        Function<Path, FlashStore> opener = _ -> device;
        try (TierFixture fixture = new TierFixture(directory, opener, AMPLE)) {
            fixture.set(0, "old", "old value");
            fixture.set(1, "untouched", "value");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            device.refuse(StoreException.Kind.FAILED, call -> call.equals(refused));
            fixture.set(0, "old", "new value");
            assertThat(fixture.tier.stats().invalidations()).isEqualTo(1);
            assertThat(fixture.get(0, "old")).isEqualTo("new value");
            assertThat(fixture.get(1, "untouched")).isNull();
            device.refuse(_ -> false);
            device.kill();
        }
        try (TierFixture fixture = new TierFixture(directory, opener, AMPLE)) {
            assertThat(fixture.get(0, "old")).as("the old value").isNotEqualTo("old value");
            assertThat(fixture.get(1, "untouched")).isNull();
        }
    }

    /** A library gave its files up, and what was buffered is lost: it is done again. */
    @Test
    void writesLostByReopeningAreRepeated() {
        Map<String, String> model = new HashMap<>();
        FlashStore losing = new LosingStore(device, new SplittableRandom(3));
        try (TierFixture fixture = new TierFixture(directory, _ -> losing, AMPLE)) {
            for (int step = 0; step < 30_000; step++) {
                String name = name(random.nextInt(KEYS / 2));
                if (random.nextBoolean()) {
                    model.put(name, value(step) + "w".repeat(600));
                    fixture.set(0, name, model.get(name));
                } else {
                    assertThat(fixture.get(0, name)).as("step %d", step).isEqualTo(model.get(name));
                }
                if (random.nextInt(6000) == 0) {
                    TierFixture.join(fixture.tier.flush(0));
                    model.clear();
                }
            }
            assertThat(device.reopened()).isPositive();
            assertThat(fixture.size(0)).isEqualTo(model.size());
            assertThat(fixture.tier.stats().invalidations()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bfd", "clock", "lru", "random", "sieve", "s3-fifo"})
    void anyPolicyDoes(String policy) {
        Map<String, String> model = new HashMap<>();
        try (TierFixture fixture = open(FlashTierSettings.of(1000).withPolicy(Policies.of(policy)))) {
            for (int step = 0; step < 20_000; step++) {
                String name = name(random.nextInt(KEYS));
                if (random.nextBoolean()) {
                    model.put(name, value(step));
                    fixture.set(0, name, model.get(name));
                } else {
                    assertThat(fixture.get(0, name)).isIn(model.get(name), null);
                }
            }
            fixture.settle();
            assertThat(device.count()).isLessThanOrEqualTo(1000 + 64);
            assertThat(fixture.tier.stats().evictions()).isPositive();
        }
    }

    @Test
    void withoutAPolicyNothingIsTaken() {
        try (TierFixture fixture = open(AMPLE.withPolicy(Policies.NONE))) {
            fixture.demoteOthers(2, "other ");
            assertThat(fixture.tier.stats().items()).isZero();
            assertThat(fixture.tier.stats().notAdmitted()).isPositive();
        }
    }

    @Test
    void firstDemotionMayBeRejected() {
        try (TierFixture fixture = open(AMPLE.withAdmission(Admission.Kind.REJECT_FIRST, 1))) {
            fixture.set(0, "key", "first");
            fixture.demoteOthers(2, "other ");
            assertThat(fixture.get(0, "key")).isNull();
            fixture.set(0, "key", "second");
            fixture.demoteOthers(2, "more ");
            assertThat(fixture.get(0, "key")).isEqualTo("second");
        }
    }

    @Test
    void aQueueThatIsFullSheds() {
        try (TierFixture fixture = open(FlashTierSettings.of(100_000).withQueueBytes(4000))) {
            device.refuse(_ -> false);
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            FlashTierStats stats = fixture.tier.stats();
            assertThat(stats.items()).isEqualTo(device.count());
            assertThat(stats.queueBytes()).isZero();
        }
    }

    @Test
    void damagedDirectoryStartsEmpty() throws java.io.IOException {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.set(0, "key", "value");
            fixture.demoteOthers(2, "other ");
        }
        java.nio.file.Files.writeString(directory.resolve("state"), "nonsense");
        try (TierFixture fixture = open(AMPLE)) {
            assertThat(fixture.get(0, "key")).isNull();
            assertThat(fixture.size(0)).isZero();
            fixture.set(0, "key", "new");
        }
    }
}

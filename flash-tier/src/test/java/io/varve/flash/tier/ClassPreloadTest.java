package io.varve.flash.tier;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.StoreException;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.item.Item;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.item.Ticker;
import io.varve.memory.locality.demand.DemandSettings;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the load of a waking class's items from flash. Confined to the test's thread. */
class ClassPreloadTest {
    private static final int WOKEN = 4;
    private static final int OTHER = 6;
    private static final int KEYS = 200;
    private static final long WAIT_SECONDS = 60;
    private static final FlashTierSettings AMPLE = FlashTierSettings.of(100_000).withQueueBytes(1L << 30);

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();
    private final SettableTicker ticker = new SettableTicker();

    /** A clock that stands until it is moved. Thread-safe. */
    private static final class SettableTicker implements Ticker {
        private final AtomicLong millis = new AtomicLong(1_700_000_000_000L);

        @Override
        public long wallMillis() {
            return millis.get();
        }

        @Override
        public long nanoTime() {
            return TimeUnit.MILLISECONDS.toNanos(millis.get());
        }
    }

    private CacheConfig watched(CacheConfig config) {
        return watched(config, PenaltyRanges.MAX_CLASSES);
    }

    private CacheConfig watched(CacheConfig config, int classes) {
        return config.withTicker(ticker).withPenalties(new PenaltySettings(true, classes, 0))
                .withDemand(DemandSettings.DEFAULT);
    }

    private TierFixture open(FlashTierSettings settings) {
        return open(settings, PenaltyRanges.MAX_CLASSES);
    }

    private TierFixture open(FlashTierSettings settings, int classes) {
        return new TierFixture(directory, _ -> device, settings, TierFixture.BOOT, config -> watched(config, classes));
    }

    private static String woken(int number) {
        return "woken " + number;
    }

    private static String other(int number) {
        return "other " + number;
    }

    /** Items of two classes, all of which fall; then memory is empty. */
    private static void fillAndPushDown(TierFixture fixture) {
        fill(fixture);
        demoteOthers(fixture);
    }

    private static void fill(TierFixture fixture) {
        for (int i = 0; i < KEYS; i++) {
            fixture.writesInto(WOKEN);
            fixture.set(0, woken(i), "value " + i);
            fixture.writesInto(OTHER);
            fixture.set(0, other(i), "value " + i);
        }
    }

    private static void demoteOthers(TierFixture fixture) {
        demoteOthers(fixture, OTHER);
    }

    /**
     * @param penaltyClass the class of items that are written until all others are demoted, and that are then demoted
     *     too
     */
    private static void demoteOthers(TierFixture fixture, int penaltyClass) {
        fixture.writesInto(penaltyClass);
        fixture.demoteOthers(1, "pushes ");
        fixture.settle();
        TierFixture.join(fixture.tier.flush(1));
        while (fixture.cache.maintain() == 0) {
            Thread.onSpinWait();
        }
        assertThat(fixture.cache.size(0)).isZero();
    }

    private static void load(TierFixture fixture, int penaltyClass) {
        fixture.tier.load(penaltyClass);
        // The keeper does one thing after the other: what it began before this is seen.
        TierFixture.join(fixture.tier.swap(2, 2));
        await(() -> !fixture.tier.stats().loading());
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("waited in vain");
            }
            Polling.pause();
        }
    }

    @Test
    void loadPromotesOnlyTheClass() {
        try (TierFixture fixture = open(AMPLE)) {
            fillAndPushDown(fixture);
            FlashTierStats before = fixture.tier.stats();
            load(fixture, WOKEN);
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.classInMemory(0, woken(i))).as("item %d", i).isEqualTo(WOKEN);
                assertThat(fixture.classInMemory(0, other(i))).isEqualTo(-1);
            }
            FlashTierStats stats = fixture.tier.stats();
            assertThat(stats.loaded()).isEqualTo(KEYS);
            assertThat(stats.hits()).as("no requests").isEqualTo(before.hits());
            assertThat(stats.misses()).isEqualTo(before.misses());
            assertThat(fixture.tier.count(fixture.cache.epochs().ofDatabases().getFirst())).isEqualTo(KEYS);
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.get(0, woken(i))).isEqualTo("value " + i);
                assertThat(fixture.get(0, other(i))).isEqualTo("value " + i);
            }
            assertThat(fixture.problems()).isEmpty();
        }
    }

    @Test
    void itRestsForThriceAsLongAsASliceTook() {
        assertThat(ClassPreload.restMillis(TimeUnit.MILLISECONDS.toNanos(5))).isEqualTo(15);
        assertThat(ClassPreload.restMillis(TimeUnit.MICROSECONDS.toNanos(20))).as("at least").isEqualTo(1);
        assertThat(ClassPreload.restMillis(TimeUnit.SECONDS.toNanos(20))).as("at most").isEqualTo(1000);
    }

    @Test
    void concurrentWritesAndDeletionsPersist() {
        try (TierFixture fixture = open(AMPLE)) {
            fillAndPushDown(fixture);
            fixture.writesInto(WOKEN);
            for (int i = 0; i < KEYS; i += 4) {
                fixture.set(0, woken(i), "new " + i);
                assertThat(fixture.delete(0, woken(i + 1))).isTrue();
            }
            load(fixture, WOKEN);
            assertThat(fixture.tier.stats().loaded()).isEqualTo(KEYS / 2);
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.get(0, woken(i))).isEqualTo(switch (i % 4) {
                    case 0 -> "new " + i;
                    case 1 -> null;
                    default -> "value " + i;
                });
            }
        }
    }

    @Test
    void expiredOrFlushedItemsAreNotPromoted() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.writesInto(WOKEN);
            fixture.set(2, "flushed", "value");
            fixture.set(0, "brief", "value", ticker.wallMillis() + 1000);
            fixture.set(0, "long", "value", ticker.wallMillis() + 100_000);
            fillAndPushDown(fixture);
            ticker.millis.addAndGet(1001);
            TierFixture.join(fixture.tier.flush(2));
            load(fixture, WOKEN);
            assertThat(fixture.tier.stats().loaded()).isEqualTo(KEYS + 1);
            assertThat(fixture.classInMemory(0, "long")).isEqualTo(WOKEN);
            assertThat(fixture.get(0, "brief")).isNull();
            assertThat(fixture.get(2, "flushed")).isNull();
            assertThat(fixture.cache.size(0)).isEqualTo(KEYS + 1);
        }
    }

    /** Items demoted from a class that no longer exists return with the last class. */
    @Test
    void lastClassGetsItemsOfMissingClasses() {
        try (TierFixture fixture = open(AMPLE)) {
            fill(fixture);
            demoteOthers(fixture, 0);
        }
        try (TierFixture fixture = open(AMPLE, WOKEN + 1)) {
            // Nothing requests a load before demand is watched, and a load waits until all items on flash are counted.
            await(() -> {
                fixture.cache.maintain();
                return fixture.cache.demand() != null && fixture.tier.stats().complete();
            });
            load(fixture, WOKEN);
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.classInMemory(0, woken(i))).as("item %d", i).isEqualTo(WOKEN);
                assertThat(fixture.classInMemory(0, other(i))).as("was of class %d", OTHER).isEqualTo(WOKEN);
            }
            assertThat(fixture.tier.stats().loaded()).isEqualTo(2L * KEYS);
        }
    }

    @Test
    void aLoadEndsWhereMemoryIsFull() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.writesInto(WOKEN);
            String value = "v".repeat(1000);
            for (int i = 0; i < 3000; i++) {
                fixture.setNew(0, woken(i), value);
            }
            demoteOthers(fixture);
            fixture.writesInto(OTHER);
            for (int i = 0; i < 300; i++) {
                fixture.setNew(1, other(i), value);
            }
            fixture.settle();
            long written = fixture.tier.stats().written();
            load(fixture, WOKEN);
            fixture.settle();
            long loaded = fixture.tier.stats().loaded();
            assertThat(loaded).isBetween(200L, 700L);
            while (fixture.cache.maintain() == 0) {
                Thread.onSpinWait();
            }
            fixture.settle();
            assertThat(fixture.tier.stats().written()).as("no item is demoted for it").isEqualTo(written);
            assertThat(fixture.cache.size(1)).isEqualTo(300);
            assertThat(fixture.cache.size(0)).isEqualTo(loaded);
            assertThat(fixture.cache.stats().evicted()).isZero();
        }
    }

    /** Clients request, write and delete the same keys while they are loaded repeatedly. */
    @Test
    void loadsAndClientsDoNotMeet() {
        SplittableRandom random = new SplittableRandom(7);
        try (TierFixture fixture = open(AMPLE)) {
            fillAndPushDown(fixture);
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                expected.add("value " + i);
            }
            for (int round = 0; round < 20; round++) {
                fixture.tier.load(WOKEN);
                fixture.writesInto(WOKEN);
                for (int step = 0; step < 100; step++) {
                    int i = random.nextInt(KEYS);
                    int what = random.nextInt(10);
                    if (what < 6) {
                        assertThat(fixture.get(0, woken(i))).isEqualTo(expected.get(i));
                    } else if (what < 9) {
                        fixture.set(0, woken(i), "round " + round + " step " + step);
                        expected.set(i, "round " + round + " step " + step);
                    } else {
                        assertThat(fixture.delete(0, woken(i))).isEqualTo(expected.set(i, null) != null);
                    }
                }
                await(() -> !fixture.tier.stats().loading());
                demoteOthers(fixture);
            }
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.get(0, woken(i))).isEqualTo(expected.get(i));
            }
            assertThat(fixture.tier.stats().loaded()).isPositive();
            assertThat(fixture.problems()).isEmpty();
        }
    }

    /** A command of another thread has one of the shards: what belongs there stays on flash. */
    @Test
    void aHeldShardHoldsNoLoadUp() throws InterruptedException {
        HeldStore store = new HeldStore(device);
        try (TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE, TierFixture.BOOT, this::watched)) {
            fillAndPushDown(fixture);
            // Flushed items are counted until they are reclaimed.
            await(() -> fixture.tier.stats().items() == 2L * KEYS);
            FlashTierStats before = fixture.tier.stats();
            HeldStore.Hold held = store.hold(woken(0).getBytes(UTF_8));
            fixture.tier.load(WOKEN);
            store.await(held);
            fixture.whileHeld(0, woken(0), () -> {
                held.release();
                await(() -> !fixture.tier.stats().loading());
            });
            FlashTierStats stats = fixture.tier.stats();
            assertThat(stats.loaded()).isBetween(KEYS / 4L, KEYS - 1L);
            assertThat(stats.shed()).isEqualTo(before.shed());
            assertThat(fixture.classInMemory(0, woken(0))).isEqualTo(-1);
            assertThat(stats.items() + stats.loaded()).isEqualTo(before.items());
            load(fixture, WOKEN);
            assertThat(fixture.tier.stats().loaded()).isEqualTo(KEYS);
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.get(0, woken(i))).isEqualTo("value " + i);
            }
            assertThat(fixture.problems()).isEmpty();
        }
    }

    /** A command has one of the shards for a moment only: what belongs there is loaded by a second attempt. */
    @Test
    void contendedSliceIsLoadedAgain() throws InterruptedException {
        HeldStore store = new HeldStore(device);
        try (TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE, TierFixture.BOOT, this::watched)) {
            fillAndPushDown(fixture);
            // While flushed items are being removed, the load may find no space, and end.
            await(() -> fixture.tier.stats().items() == 2L * KEYS);
            HeldStore.Hold first = store.hold(woken(0).getBytes(UTF_8));
            fixture.tier.load(WOKEN);
            store.await(first);
            HeldStore.Hold second = store.hold(woken(0).getBytes(UTF_8));
            fixture.whileHeld(0, woken(0), () -> {
                first.release();
                try {
                    store.await(second);
                } catch (InterruptedException ended) {
                    throw new IllegalStateException(ended);
                }
            });
            second.release();
            await(() -> !fixture.tier.stats().loading());
            assertThat(fixture.tier.stats().loaded()).isEqualTo(KEYS);
            assertThat(fixture.classInMemory(0, woken(0))).isEqualTo(WOKEN);
            assertThat(fixture.problems()).isEmpty();
        }
    }

    /** A lane has read a key that it loads when its database is emptied, or exchanged with another. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void flushAndSwapDuringLoad(boolean exchanged) throws InterruptedException {
        HeldStore store = new HeldStore(device);
        try (TierFixture fixture = new TierFixture(directory, _ -> store, AMPLE, TierFixture.BOOT, this::watched)) {
            fillAndPushDown(fixture);
            HeldStore.Hold held = store.hold(woken(0).getBytes(UTF_8));
            fixture.tier.load(WOKEN);
            store.await(held);
            TierFixture.join(exchanged ? fixture.tier.swap(0, 2) : fixture.tier.flush(0));
            held.release();
            await(() -> !fixture.tier.stats().loading());
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.get(0, woken(i))).as("item %d", i).isNull();
                assertThat(fixture.get(2, woken(i))).as("item %d", i).isEqualTo(exchanged ? "value " + i : null);
            }
            assertThat(fixture.problems()).isEmpty();
        }
    }

    @Test
    void loadedItemsSurviveClose() {
        String value = "v".repeat(100);
        long loaded;
        try (TierFixture fixture = open(AMPLE)) {
            fixture.writesInto(WOKEN);
            for (int i = 0; i < 3000; i++) {
                fixture.setNew(0, woken(i), value);
            }
            demoteOthers(fixture);
            fixture.tier.load(WOKEN);
            await(() -> fixture.tier.stats().loaded() > 0);
            fixture.closeTier();
            loaded = fixture.cache.size(0);
            assertThat(loaded).isEqualTo(fixture.tier.stats().loaded());
        }
        try (TierFixture fixture = open(AMPLE)) {
            assertThat(fixture.size(0)).as("all but what was in memory").isEqualTo(3000 - loaded);
            load(fixture, WOKEN);
            assertThat(fixture.tier.stats().loaded()).isPositive();
            assertThat(fixture.size(0)).isEqualTo(3000 - loaded);
            assertThat(fixture.problems()).isEmpty();
        }
    }

    @Test
    void aStoreThatCannotBeReadEndsTheLoad() {
        try (TierFixture fixture = open(AMPLE)) {
            fillAndPushDown(fixture);
            device.refuse("walk"::equals);
            fixture.tier.load(WOKEN);
            TierFixture.join(fixture.tier.swap(2, 2));
            await(() -> !fixture.tier.stats().loading());
            device.refuse(_ -> false);
            assertThat(fixture.tier.stats().loaded()).isZero();
            load(fixture, WOKEN);
            assertThat(fixture.tier.stats().loaded()).isEqualTo(KEYS);
        }
    }

    @Test
    void nothingIsOfferedToADiskThatFails() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.set(2, "key", "value");
            assertThat(fixture.offer(2, "other")).isNull();
            device.refuse("put"::equals);
            fixture.tier.refuse();
            assertThat(fixture.offer(2, "key")).isEqualTo(SecondaryTier.Answer.LATER);
            ticker.millis.addAndGet(60_000);
            assertThat(fixture.offer(2, "key")).as("one, to see whether it is over")
                    .isEqualTo(SecondaryTier.Answer.TAKEN);
            fixture.settle();
            fixture.set(2, "key", "value");
            assertThat(fixture.offer(2, "key")).as("it is not").isEqualTo(SecondaryTier.Answer.LATER);
            device.refuse(_ -> false);
            ticker.millis.addAndGet(60_000);
            assertThat(fixture.offer(2, "key")).isEqualTo(SecondaryTier.Answer.TAKEN);
            fixture.settle();
            assertThat(fixture.get(2, "key")).isEqualTo("value");
        }
    }

    /** No client waits for a record that a load visits: readable ones return, and nothing is invalidated. */
    @Test
    void unreadableRecordStays() {
        try (TierFixture fixture = open(AMPLE)) {
            fillAndPushDown(fixture);
            device.refuse(StoreException.Kind.BROKEN, "get"::equals);
            load(fixture, WOKEN);
            device.refuse(_ -> false);
            assertThat(fixture.tier.stats().loaded()).isZero();
            assertThat(fixture.tier.stats().invalidations()).isZero();
            load(fixture, WOKEN);
            assertThat(fixture.tier.stats().loaded()).isEqualTo(KEYS);
        }
    }

    @Test
    void offeredItemIsRefusedIfOthersWouldBeEvicted() {
        FlashTierSettings small = FlashTierSettings.of(20).withQueueBytes(1 << 20);
        try (TierFixture fixture = open(small)) {
            fixture.set(2, "small", "value");
            fixture.set(2, "large", "v".repeat(300_000));
            assertThat(fixture.offer(2, "large")).as("more than the quota for offers")
                    .isEqualTo(SecondaryTier.Answer.NEVER);
            for (int i = 0; fixture.tier.count() < 20; i++) {
                fixture.set(1, "pushes " + i, "v".repeat(1000));
                fixture.set(2, "small", "value");
            }
            fixture.settle();
            assertThat(fixture.offer(2, "small")).isEqualTo(SecondaryTier.Answer.LATER);
            assertThat(fixture.get(2, "small")).isEqualTo("value");
        }
    }

    @Test
    void theClassOutlastsARestart() {
        try (TierFixture fixture = open(AMPLE)) {
            fixture.writesInto(WOKEN);
            fixture.set(0, "key", "value", Item.NEVER);
            demoteOthers(fixture);
        }
        try (TierFixture fixture = open(AMPLE)) {
            assertThat(fixture.get(0, "key")).isEqualTo("value");
            assertThat(fixture.classInMemory(0, "key")).isEqualTo(WOKEN);
        }
    }
}

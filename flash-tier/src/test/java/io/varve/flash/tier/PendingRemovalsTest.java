package io.varve.flash.tier;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.varve.flash.policy.Policies;
import io.varve.flash.record.ItemKey;
import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that evicted items are removed despite concurrent requests for them. Confined to the test's thread. */
class PendingRemovalsTest {
    private static final int MAX_ITEMS = 3000;
    private static final FlashTierSettings FEW = FlashTierSettings.of(MAX_ITEMS).withPolicy(Policies.of("lru"))
            .withThreads(2).withQueueBytes(1L << 30);

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();

    /** One lane has read a key when it is the first to go: what was deleted afterwards is deleted, and stays so. */
    @Test
    void victimChosenDuringReadIsNotPromoted() throws InterruptedException {
        HeldStore store = new HeldStore(device);
        HeldStore.Hold held = store.hold("key".getBytes(StandardCharsets.UTF_8));
        try (TierFixture fixture = new TierFixture(directory, _ -> store, FEW)) {
            fixture.set(0, "key", "old");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            assertThat(fixture.mightContain(0, "key")).isTrue();
            CompletableFuture<List<Fetch.Outcome>> requested = fixture.fetch(0, "key", 1);
            store.await(held);
            // The other lane writes half of it.
            long enough = store.puts() + 2 * MAX_ITEMS;
            for (int i = 0; i < 5 * MAX_ITEMS; i++) {
                fixture.setNew(1, "more " + i, "x".repeat(1000));
            }
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
            while (store.puts() < enough) {
                assertThat(System.nanoTime()).as("only " + store.puts() + " written").isLessThan(deadline);
                Thread.onSpinWait();
            }
            if (fixture.mightContain(0, "key")) {
                held.release();
            }
            fixture.set(0, "key", "new");
            assertThat(fixture.get(0, "key")).isEqualTo("new");
            assertThat(fixture.delete(0, "key")).isTrue();
            held.release();
            assertThat(TierFixture.join(requested)).hasSize(1);
            assertThat(fixture.get(0, "key")).as("deleted").isNull();
        } finally {
            held.release();
        }
    }

    /** Even if files are reopened all the time, the store keeps no record that memory does not count. */
    @ParameterizedTest
    @ValueSource(strings = {"tbf", "lru", "random"})
    void nothingIsLeftThatIsNotCounted(String policy) {
        SplittableRandom random = new SplittableRandom(17);
        Map<String, @Nullable String> model = new HashMap<>();
        LosingStore losing = new LosingStore(device, new SplittableRandom(3));
        try (TierFixture fixture = new TierFixture(directory, _ -> losing,
                FlashTierSettings.of(300).withPolicy(Policies.of(policy)).withQueueBytes(1L << 30))) {
            for (int step = 0; step < 40_000; step++) {
                String name = "key " + random.nextInt(2500);
                int what = random.nextInt(10);
                if (what < 5) {
                    String value = step + " " + "w".repeat(900);
                    fixture.set(0, name, value);
                    model.put(name, value);
                } else if (what < 7) {
                    fixture.delete(0, name);
                    model.put(name, null);
                } else {
                    String found = fixture.get(0, name);
                    assertThat(found).as("step %d", step).isIn(model.get(name), null);
                    model.put(name, found);
                }
                if (random.nextInt(10_000) == 0) {
                    TierFixture.join(fixture.tier.flush(0));
                    model.clear();
                }
            }
            fixture.settle();
            assertThat(device.reopened()).isPositive();
            assertThat(fixture.tier.stats().invalidations()).isZero();
            assertThat(fixture.tier.stats().evictions()).isPositive();
            for (byte[] key : device.keys()) {
                assertThat(fixture.tier.residency().mightContain(ItemKey.placeOf(key), ItemKey.epochOf(key))).isTrue();
            }
            assertThat(fixture.tier.stats().items()).isEqualTo(device.count());
            assertThat(device.count()).isLessThanOrEqualTo(300 + 64);
        }
    }

    /** A removal for which the store has no space stays pending, and is done once there is space. */
    @Test
    void removalWithoutSpaceIsRetried() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, FEW)) {
            fixture.demoteOthers(1, "first ");
            fixture.settle();
            device.refuse(StoreException.Kind.FULL, call -> call.equals("delete"));
            fixture.demoteOthers(2, "second ");
            assertThat(fixture.tier.removals().count()).isPositive();
            device.refuse(_ -> false);
            fixture.settle();
            assertThat(fixture.tier.stats().items()).isEqualTo(device.count());
            assertThat(fixture.tier.stats().invalidations()).isZero();
        }
    }

    /** Items that a flush invalidates are removed, even if a full store refuses it at first. */
    @Test
    void flushedItemsAreRemoved() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, FlashTierSettings.of(100_000))) {
            fixture.demoteOthers(1, "first ");
            fixture.demoteOthers(2, "second ");
            fixture.settle();
            device.refuse(StoreException.Kind.FULL, call -> call.equals("delete"));
            TierFixture.join(fixture.tier.flushAll());
            device.refuse(_ -> false);
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
            while (device.count() > 0) {
                assertThat(System.nanoTime()).as("still there: " + device.count()).isLessThan(deadline);
                Thread.onSpinWait();
            }
            fixture.settle();
            assertThat(fixture.tier.stats().items()).isZero();
        }
    }
}

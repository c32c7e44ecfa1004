package io.varve.flash;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.flash.policy.Policies;
import io.varve.flash.record.RecordKey;
import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the results that callers of a cache on flash get under all failures of its stores. Confined to the test's
 * threads.
 */
class FlashCacheTest {
    private static final int ITEMS = 40;

    private final CrashingStore flash = new CrashingStore();
    private final CrashingStore disk = new CrashingStore();
    private final AtomicLong nanos = new AtomicLong();
    private FlashCacheSettings settings = FlashCacheSettings.of(ITEMS);
    private FlashCache cache = open(Policies.TBF);

    private FlashCache open(Policies policy) {
        return new FlashCache(flash, disk, policy.create(Arena.ofAuto(), settings.items(), new SplittableRandom(5)),
                settings,
                nanos::get);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static @Nullable String text(byte @Nullable [] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    private @Nullable String read(String key) {
        return text(cache.read(bytes(key)));
    }

    private void write(String key, String value) {
        cache.write(bytes(key), bytes(value));
    }

    @Test
    void readRecordIsCached() {
        disk.put(bytes("k"), bytes("v"), io.varve.flash.store.DurabilityLevel.TO_SYSTEM);
        assertThat(read("k")).isEqualTo("v");
        disk.refuse(call -> call.equals("get"));
        assertThat(read("k")).as("from flash").isEqualTo("v");
        assertThat(cache.stats().hits()).isEqualTo(1);
        assertThat(cache.stats().misses()).isEqualTo(1);
        assertThat(cache.stats().hitRatio()).isEqualTo(0.5);
    }

    @Test
    void absentRecordIsNotCached() {
        assertThat(read("none")).isNull();
        assertThat(cache.stats().items()).isZero();
    }

    @Test
    void writeThroughReachesTheDiskAtOnceAndWriteBackWhenTheRecordGoes() {
        write("k", "v");
        assertThat(text(disk.get(bytes("k")))).isEqualTo("v");
        settings = settings.withWriteBack(true);
        cache = open(Policies.LRU);
        write("b", "back");
        assertThat(disk.get(bytes("b"))).isNull();
        assertThat(read("b")).isEqualTo("back");
        for (int i = 0; i < ITEMS; i++) {
            write("other" + i, "x");
        }
        assertThat(text(disk.get(bytes("b")))).isEqualTo("back");
        assertThat(cache.stats().writtenBack()).isEqualTo(1);
        assertThat(read("b")).isEqualTo("back");
    }

    /** A dirty record that only flash holds survives a change of mode, of size, and no policy at all. */
    @Test
    void dirtyRecordIsWrittenBackInAnyMode() {
        settings = settings.withWriteBack(true);
        cache = open(Policies.LRU);
        for (int i = 0; i < ITEMS; i++) {
            write("k" + i, "v" + i);
        }
        settings = FlashCacheSettings.of(ITEMS / 2);
        cache = open(Policies.TBF);
        for (int i = 0; i < ITEMS; i++) {
            assertThat(read("k" + i)).isEqualTo("v" + i);
        }
        cache = open(Policies.NONE);
        for (int i = 0; i < ITEMS; i++) {
            assertThat(read("k" + i)).isEqualTo("v" + i);
            assertThat(text(disk.get(bytes("k" + i)))).isEqualTo("v" + i);
        }
    }

    /** A refused operation has happened or not, before and after a kill, and its outcome does not change. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusedItemIsNeverVisible(boolean writeBack) {
        settings = settings.withWriteBack(writeBack);
        cache = open(Policies.TBF);
        write("deleted", "old");
        write("written", "old");
        flash.refuse(call -> call.equals("put") || call.equals("delete"));
        assertThatThrownBy(() -> cache.delete(bytes("deleted"))).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> write("written", "new")).isInstanceOf(StoreException.class);
        assertThat(read("deleted")).isEqualTo("old");
        assertThat(read("written")).isEqualTo("old");
        flash.refuse(_ -> false);
        flash.kill();
        disk.kill();
        cache = open(Policies.TBF);
        assertThat(read("deleted")).isEqualTo("old");
        assertThat(read("written")).isEqualTo("old");
        write("written", "newer");
        assertThat(read("written")).isEqualTo("newer");
        assertThat(cache.delete(bytes("deleted"))).isTrue();
        assertThat(read("deleted")).isNull();
        assertThat(cache.stats().items()).isEqualTo(flash.count());
    }

    /**
     * Cut short after its first step, a delete has not happened: neither before a restart nor when the record is
     * evicted.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDeleteThatTheDiskRefusesHasNotHappened(boolean writeBack) {
        settings = settings.withWriteBack(writeBack);
        cache = open(Policies.LRU);
        disk.put(bytes("clean"), bytes("v"), io.varve.flash.store.DurabilityLevel.TO_SYSTEM);
        assertThat(read("clean")).isEqualTo("v");
        write("written", "w");
        disk.refuse(call -> call.equals("delete"));
        assertThatThrownBy(() -> cache.delete(bytes("clean"))).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> cache.delete(bytes("written"))).isInstanceOf(StoreException.class);
        disk.refuse(_ -> false);
        flash.kill();
        disk.kill();
        cache = open(Policies.LRU);
        for (int i = 0; i < 2 * ITEMS; i++) {
            assertThat(read("clean")).isEqualTo("v");
            assertThat(read("written")).isEqualTo("w");
            write("other" + i, "x");
        }
        for (int i = 0; i < ITEMS; i++) {
            write("more" + i, "x");
        }
        assertThat(read("clean")).as("evicted meanwhile").isEqualTo("v");
        assertThat(read("written")).isEqualTo("w");
    }

    /** A time without a cache empties flash, and a kill in it must not undo that. */
    @Test
    void cacheStartsEmptyAfterARunWithoutCache() {
        write("k", "old");
        cache = open(Policies.NONE);
        write("k", "new");
        flash.kill();
        disk.kill();
        cache = open(Policies.LRU);
        assertThat(read("k")).isEqualTo("new");
    }

    /** As when the files were reopened: the cache continues with the items that are there. */
    @ParameterizedTest
    @EnumSource(names = {"TBF", "LRU", "SIEVE"})
    void lostItemsAreNotCounted(Policies policy) {
        cache = open(policy);
        for (int i = 0; i < 5 * ITEMS; i++) {
            disk.put(bytes("k" + i), bytes("v" + i), io.varve.flash.store.DurabilityLevel.TO_SYSTEM);
        }
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < ITEMS; i++) {
                assertThat(read("k" + i)).isEqualTo("v" + i);
            }
            flash.kill();
            assertThat(cache.stats().items()).isEqualTo(flash.count());
        }
        for (int i = 0; i < 5 * ITEMS; i++) {
            assertThat(read("k" + i)).isEqualTo("v" + i);
        }
        assertThat(cache.stats().items()).as("its whole size is used").isBetween(ITEMS - 1L, (long) ITEMS);
    }

    /** Flash that is full takes a write once something was written back. */
    @Test
    void writeBackContinuesIfFlashIsFull() {
        settings = settings.withWriteBack(true);
        cache = open(Policies.LRU);
        for (int i = 0; i < ITEMS / 2; i++) {
            write("k" + i, "v" + i);
        }
        flash.limit(ITEMS / 2);
        for (int i = 0; i < ITEMS; i++) {
            write("more" + i, "w" + i);
        }
        for (int i = 0; i < ITEMS / 2; i++) {
            assertThat(read("k" + i)).isEqualTo("v" + i);
        }
        for (int i = 0; i < ITEMS; i++) {
            assertThat(read("more" + i)).isEqualTo("w" + i);
        }
    }

    /** With write-back the value may be on flash alone; with write-through the disk has it, and flash did make way. */
    @Test
    void writeThatOnlyDiskAcceptsIsReadBack() {
        write("k", "old");
        flash.refuse(call -> call.equals("put"));
        write("k", "new");
        assertThat(cache.stats().failures()).isEqualTo(1);
        assertThat(cache.stats().items()).isZero();
        assertThat(read("k")).isEqualTo("new");
        flash.refuse(_ -> false);
        flash.kill();
        cache = open(Policies.TBF);
        assertThat(read("k")).isEqualTo("new");
        assertThat(read("k")).isEqualTo("new");
        assertThat(cache.stats().hits()).isEqualTo(1);
    }

    @Test
    void aWriteThatTheDiskRefusesLeavesTheOldValue() {
        write("k", "old");
        disk.refuse(call -> call.equals("put"));
        assertThatThrownBy(() -> write("k", "new")).isInstanceOf(StoreException.class);
        assertThat(read("k")).isEqualTo("old");
        assertThat(cache.stats().items()).isEqualTo(flash.count());
    }

    /** If ending write-back is itself interrupted, it starts over. */
    @Test
    void aKillWhileAllIsWrittenBackLosesNothing() {
        settings = settings.withWriteBack(true);
        cache = open(Policies.LRU);
        for (int i = 0; i < ITEMS; i++) {
            write("k" + i, "v" + i);
        }
        settings = settings.withWriteBack(false);
        flash.refuse(call -> call.equals("note"));
        assertThatThrownBy(() -> open(Policies.LRU)).isInstanceOf(StoreException.class);
        flash.refuse(_ -> false);
        flash.kill();
        disk.kill();
        cache = open(Policies.LRU);
        for (int i = 0; i < ITEMS; i++) {
            assertThat(text(disk.get(bytes("k" + i)))).isEqualTo("v" + i);
            assertThat(read("k" + i)).isEqualTo("v" + i);
        }
        assertThat(cache.stats().hits()).isEqualTo(ITEMS);
    }

    @Test
    void aWrongChecksumIsAMiss() {
        write("k", "value");
        flash.corrupt(RecordKey.of(bytes("k")), 9);
        assertThat(read("k")).isEqualTo("value");
        assertThat(cache.stats().corrupt()).isEqualTo(1);
        assertThat(cache.stats().hits()).isZero();
        assertThat(read("k")).isEqualTo("value");
        assertThat(cache.stats().hits()).as("cached again").isEqualTo(1);
        assertThat(cache.stats().items()).isEqualTo(1);
    }

    @Test
    void readsContinueWhileFlashIsFull() {
        for (int i = 0; i < 2 * ITEMS; i++) {
            write("k" + i, "v" + i);
        }
        flash.refuse(call -> !call.equals("get"));
        for (int i = 0; i < 2 * ITEMS; i++) {
            assertThat(read("k" + i)).isEqualTo("v" + i);
        }
        flash.refuse(_ -> true);
        assertThat(read("k1")).as("flash answers nothing at all").isEqualTo("v1");
    }

    /** All that a caller can see, beside a map, with processes killed in between. */
    @ParameterizedTest
    @MethodSource("policiesAndModes")
    void acknowledgedWritesOutliveAKillAndOverwrittenOnesDoNot(Policies policy, boolean writeBack) {
        settings = settings.withWriteBack(writeBack);
        cache = open(policy);
        SplittableRandom random = new SplittableRandom(policy.name().hashCode() * 2L + (writeBack ? 1 : 0));
        Map<String, String> expected = new HashMap<>();
        long hits = 0;
        for (int i = 0; i < 30_000; i++) {
            String key = "key" + random.nextInt(ITEMS * 3) * random.nextInt(3) / 2;
            switch (random.nextInt(10)) {
                case 0, 1 -> {
                    write(key, "value" + i);
                    expected.put(key, "value" + i);
                }
                case 2 -> assertThat(cache.delete(bytes(key))).as("step %d", i).isEqualTo(expected.remove(key) != null);
                case 3 -> {
                    if (random.nextInt(20) == 0) {
                        hits += cache.stats().hits();
                        flash.kill();
                        disk.kill();
                        cache = open(policy);
                    }
                }
                default -> assertThat(read(key)).as("step %d", i).isEqualTo(expected.get(key));
            }
            nanos.addAndGet(1000);
            assertThat(cache.stats().items()).as("step %d", i).isEqualTo(flash.count()).isLessThanOrEqualTo(ITEMS);
        }
        assertThat(hits + cache.stats().hits()).as("reads that flash answered")
                .isBetween(policy == Policies.NONE ? 0L : 1000L, policy == Policies.NONE ? 0L : 30_000L);
    }

    static java.util.stream.Stream<org.junit.jupiter.params.provider.Arguments> policiesAndModes() {
        return java.util.Arrays.stream(Policies.values()).flatMap(policy -> java.util.stream.Stream.of(true, false)
                .map(back -> org.junit.jupiter.params.provider.Arguments.of(policy, back)));
    }

    /** Each thread has keys of its own and shares the cache: what it wrote last is what it reads. */
    @ParameterizedTest
    @EnumSource(names = {"TBF", "LRU", "RANDOM"})
    void manyThreadsSeeTheirOwnWrites(Policies policy) throws Exception {
        settings = settings.withWriteBack(true);
        cache = open(policy);
        java.util.concurrent.ConcurrentLinkedQueue<Throwable> failures = new java.util.concurrent.ConcurrentLinkedQueue<>();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            int own = t;
            threads[t] = Thread.ofPlatform().start(() -> {
                SplittableRandom random = new SplittableRandom(own);
                Map<String, String> expected = new HashMap<>();
                try {
                    for (int i = 0; i < 5000; i++) {
                        String key = own + "/" + random.nextInt(ITEMS);
                        if (random.nextInt(4) == 0) {
                            write(key, "v" + i);
                            expected.put(key, "v" + i);
                        } else {
                            assertThat(read(key)).isEqualTo(expected.get(key));
                        }
                    }
                } catch (Throwable failed) {
                    failures.add(failed);
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(cache.stats().items()).isEqualTo(flash.count()).isLessThanOrEqualTo(ITEMS + threads.length);
    }

    /** Two threads count up the same values: none of their steps is lost. */
    @Test
    void anUpdateIsOneStep() throws Exception {
        int steps = 3000;
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < steps; i++) {
                    cache.update(bytes("counter" + i % 7),
                            before -> bytes(Integer.toString(before == null
                                    ? 1
                                    : Integer.parseInt(new String(before, StandardCharsets.UTF_8)) + 1)));
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long sum = 0;
        for (int i = 0; i < 7; i++) {
            sum += Long.parseLong(String.valueOf(read("counter" + i)));
        }
        assertThat(sum).isEqualTo((long) steps * threads.length);
    }

    @Test
    void aSearchIsLimitedInSteps() {
        settings = new FlashCacheSettings(ITEMS, false, false, 3, java.time.Duration.ofSeconds(1));
        cache = open(Policies.TBF);
        for (int i = 0; i < ITEMS; i++) {
            write("k" + i, "v");
            assertThat(read("k" + i)).isEqualTo("v");
        }
        long before = cache.stats().keysTraversed();
        write("one more", "v");
        assertThat(cache.stats().keysTraversed() - before).isLessThanOrEqualTo(3);
        assertThat(cache.stats().poorVictims()).isEqualTo(1);
        assertThat(cache.stats().items()).isEqualTo(ITEMS);
    }

    @Test
    void aSearchIsLimitedInTime() {
        settings = new FlashCacheSettings(ITEMS, false, false, 1000, java.time.Duration.ofNanos(1));
        cache = new FlashCache(flash, disk, Policies.TBF.create(Arena.ofAuto(), ITEMS, new SplittableRandom(1)),
                settings,
                () -> nanos.addAndGet(10));
        for (int i = 0; i < ITEMS; i++) {
            write("k" + i, "v");
            assertThat(read("k" + i)).isEqualTo("v");
        }
        long before = cache.stats().keysTraversed();
        write("one more", "v");
        assertThat(cache.stats().keysTraversed() - before).isEqualTo(1);
        assertThat(cache.stats().items()).isEqualTo(ITEMS);
    }
}

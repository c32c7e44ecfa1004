package io.varve.memory.segment;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the runs of large items: their growth, charges and holders. */
class LargeItemsTest {
    private static final int MEBIBYTE = 1 << 20;
    private static final int PAGE = 4096;

    private final MemoryBudget budget = new MemoryBudget(600L * MEBIBYTE);
    private final Regions regions = new Regions();
    private final SegmentPool pool = new SegmentPool(regions, budget, MEBIBYTE, 4096);
    private final LargeItems items = pool.largeItems();

    @AfterEach
    void noMemoryIsLeft() {
        // Memory that takes long to release is charged until then.
        regions.discardRetired();
        assertThat(items.count()).isZero();
        assertThat(items.chargedBytes()).isZero();
        assertThat(budget.chargedBytes()).isZero();
        pool.close();
    }

    @Test
    void headerAndKeyPrecedeTheValue() {
        LargeRun run = allocate(100, 10_000);
        int headerSize = ItemLayout.headerSize(20, 10_000, true);
        long location = items.adopt(run, run.address() - headerSize - 20, 0);
        assertThat(Location.isLarge(location)).isTrue();
        long address = pool.address(location);
        ItemLayout.write(address, ItemType.STRING, 0, 0, 20, 10_000, 10_000, true, 0);
        assertThat(ItemLayout.valueAddress(address)).isEqualTo(run.address());
        assertThat(items.run(location)).isSameAs(run);
        assertThat(run.length()).isEqualTo(10_000);
        run.length(9_000);
        assertThat(run.length()).isEqualTo(9_000);
        assertThat(run.capacity()).isEqualTo(10_000);
        items.release(location);
        assertThatThrownBy(() -> items.run(location)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void onlyThePagesAreCharged() {
        LargeRun run = allocate(1, 3 * PAGE);
        assertThat(budget.chargedBytes()).isEqualTo(4 * PAGE);
        run.release();
        run = allocate(PAGE, 16 * PAGE);
        assertThat(budget.chargedBytes()).as("17 pages, though the region has 32").isEqualTo(17 * PAGE);
        run.release();
    }

    @Test
    void aRunGrowsInPlace() {
        LargeRun run = allocate(256, 9 * PAGE);
        Memory.putLong(run.address(), 42);
        assertThat(budget.chargedBytes()).isEqualTo(10 * PAGE);
        items.extend(run, 9 * PAGE + 1);
        assertThat(run.capacity()).as("to the end of the page").isEqualTo(10 * PAGE - 256);
        assertThat(budget.chargedBytes()).isEqualTo(10 * PAGE);
        items.extend(run, 10 * PAGE);
        assertThat(run.chargedBytes()).isEqualTo(11 * PAGE).isEqualTo(budget.chargedBytes())
                .isEqualTo(items.chargedBytes());
        assertThat(items.hasAddressesFor(run, 16 * PAGE - 255)).isFalse();
        assertThat(items.hasAddressesFor(run, 16 * PAGE - 256)).isTrue();
        budget.limit(15 * PAGE);
        assertThatThrownBy(() -> items.extend(run, 16 * PAGE - 256)).isInstanceOfSatisfying(CacheFullException.class,
                full -> assertThat(full.bytes()).as("what is missing, and no more").isEqualTo(5 * PAGE));
        assertThat(run.chargedBytes()).isEqualTo(11 * PAGE).isEqualTo(budget.chargedBytes());
        budget.limit(16 * PAGE);
        items.extend(run, 16 * PAGE - 256);
        assertThat(Memory.getLong(run.address() + 16 * PAGE - 256 - 8)).isZero();
        assertThat(Memory.getLong(run.address())).isEqualTo(42);
        run.release();
    }

    @Test
    void aRefusalChargesNothing() {
        budget.limit(10 * PAGE);
        assertThat(items.allocate(0, 10 * PAGE + 1)).isNull();
        assertThat(budget.chargedBytes()).isZero();
        allocate(0, 10 * PAGE).release();
    }

    @Test
    void theLargestRedisValueFits() {
        int length = 512 * MEBIBYTE;
        LargeRun run = allocate(4096, length);
        Memory.putLong(run.address(), 1);
        Memory.putLong(run.address() + length - 8, 2);
        long location = items.adopt(run, run.address() - 3 - ItemLayout.headerSize(3, length, true), 0);
        long address = pool.address(location);
        ItemLayout.write(address, ItemType.STRING, 0, 0, 3, length, length, true, 0);
        assertThat(ItemLayout.valueLength(address)).isEqualTo(length);
        assertThat(Memory.getLong(ItemLayout.valueAddress(address) + length - 8)).isEqualTo(2);
        assertThat(budget.chargedBytes()).isEqualTo(4096L + length);
        items.release(location);
    }

    @Test
    void aHeldRunIsNotFreed() {
        LargeRun run = allocate(64, 5000);
        Memory.putLong(run.address(), 42);
        long location = items.adopt(run, run.address() - 64, 0);
        run.retain();
        items.release(location);
        assertThat(items.count()).isZero();
        assertThat(budget.chargedBytes()).isEqualTo(2 * PAGE);
        assertThat(Memory.getLong(run.address())).isEqualTo(42);
        run.release();
        assertThat(budget.chargedBytes()).isZero();
        assertThatThrownBy(() -> Memory.getLong(run.address())).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(run::release).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aReleasedRunCannotBeRetained() {
        LargeRun run = allocate(64, 5000);
        run.release();
        assertThatThrownBy(run::retain).isInstanceOf(IllegalStateException.class);
    }

    /** Each item of the shard is sampled, none of another's, whatever is added and removed. */
    @Test
    void sampling_returnsItemsOfTheShard() {
        SplittableRandom random = new SplittableRandom(4);
        assertThat(items.sample(0, random)).isEqualTo(Location.NONE);
        Set<Long> own = new HashSet<>();
        List<Long> others = new ArrayList<>();
        for (int i = 0; i < 900; i++) {
            LargeRun run = allocate(64, 100);
            int shard = i % 90 == 7 ? 1 : 0;
            long location = items.adopt(run, run.address() - 64, shard);
            if (shard == 1) {
                own.add(location);
            } else {
                others.add(location);
            }
        }
        Set<Long> sampled = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            sampled.add(items.sample(1, random));
        }
        assertThat(sampled).isEqualTo(own);
        assertThat(items.sample(2, random)).isEqualTo(Location.NONE);
        others.forEach(items::release);
        assertThat(items.sample(0, random)).isEqualTo(Location.NONE);
        assertThat(own).contains(items.sample(1, random));
        own.forEach(items::release);
    }

    @Test
    void numbersAreReusedAndTheTableGrows() {
        Set<Long> locations = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            LargeRun run = allocate(64, 100);
            Memory.putLong(run.address(), i);
            assertThat(locations.add(items.adopt(run, run.address() - 64, 0))).isTrue();
        }
        assertThat(items.count()).isEqualTo(100);
        Set<Long> values = new HashSet<>();
        for (long location : locations) {
            values.add(Memory.getLong(items.run(location).address()));
            items.release(location);
        }
        assertThat(values).hasSize(100);
        for (int i = 0; i < 100; i++) {
            LargeRun run = allocate(64, 100);
            long location = items.adopt(run, run.address() - 64, 0);
            assertThat(locations).as("a number that was free").contains(location);
            if (i % 2 == 0) {
                items.release(location);
            } else {
                locations.remove(location);
                kept.add(location);
            }
        }
        for (long location : kept) {
            items.release(location);
        }
    }

    private final Set<Long> kept = new HashSet<>();

    @Test
    void concurrentHoldersReleaseExactlyOnce() throws InterruptedException {
        int rounds = 200;
        int threadCount = 4;
        AtomicInteger faults = new AtomicInteger();
        for (int round = 0; round < rounds; round++) {
            LargeRun run = allocate(64, 5000);
            Memory.putLong(run.address(), round);
            long location = items.adopt(run, run.address() - 64, 0);
            Thread[] threads = new Thread[threadCount];
            for (int t = 0; t < threadCount; t++) {
                // As under the shard's lock: the table still holds it.
                run.retain();
                long expected = round;
                threads[t] = new Thread(() -> {
                    for (int i = 0; i < 50; i++) {
                        run.retain();
                        if (Memory.getLong(run.address()) != expected) {
                            faults.incrementAndGet();
                        }
                        run.release();
                    }
                    run.release();
                });
                threads[t].start();
            }
            items.release(location);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(budget.chargedBytes()).isZero();
        }
        assertThat(faults).hasValue(0);
    }

    @Test
    void concurrentItemsNeverShareMemoryOrNumber() throws InterruptedException {
        AtomicInteger faults = new AtomicInteger();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            int mark = t + 1;
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 500; i++) {
                    LargeRun run = allocate(64, 5000);
                    Memory.putLong(run.address(), mark);
                    long location = items.adopt(run, run.address() - 64, 0);
                    if (items.run(location) != run || Memory.getLong(run.address()) != mark) {
                        faults.incrementAndGet();
                    }
                    items.release(location);
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(faults).hasValue(0);
    }

    private LargeRun allocate(int headroom, int valueLength) {
        return requireNonNull(items.allocate(headroom, valueLength), "refused");
    }
}

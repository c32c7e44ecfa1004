package io.varve.memory.segment;

import java.util.HashSet;
import java.util.Set;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests how the pool allocates segments, charges them and returns their memory. */
class SegmentPoolTest {
    private static final int SIZE = 8192;

    private final MemoryBudget budget = new MemoryBudget(20 * SIZE);
    private final SegmentPool pool = new SegmentPool(new Regions(), budget, 40L * SIZE, SIZE);

    @AfterEach
    void close() {
        pool.close();
        assertThat(budget.chargedBytes()).isZero();
    }

    @Test
    void segmentsAreDisjointAndZero() {
        Set<Integer> ids = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            int id = pool.acquire(SIZE);
            assertThat(ids.add(id)).isTrue();
            assertThat(pool.segmentAddress(id)).isEqualTo(pool.segmentAddress(0) + (long) id * SIZE);
            assertThat(pool.address(Location.of(id, 100))).isEqualTo(pool.segmentAddress(id) + 100);
            assertThat(Memory.getLong(pool.segmentAddress(id))).isZero();
            Memory.fill(pool.segmentAddress(id), SIZE, (byte) 1);
        }
        assertThat(pool.segmentsInUse()).isEqualTo(20);
        assertThat(pool.bytes()).isEqualTo(20L * SIZE).isEqualTo(budget.chargedBytes());
    }

    @Test
    void invalidLocationsAreNotHeld() {
        assertThat(pool.holds(Location.of(39, SIZE - 1))).isTrue();
        assertThat(pool.holds(Location.of(40, 0))).isFalse();
        assertThat(pool.holds(Location.of(39, SIZE))).as("an offset that no segment has").isFalse();
        assertThat(pool.holds(Location.of(39, Location.MAX_OFFSET))).isFalse();
        assertThat(pool.holds(Location.NONE)).isFalse();
    }

    @Test
    void acquire_isRefusedByTheBudget() {
        take(20);
        assertThat(pool.acquire(SIZE)).isEqualTo(SegmentPool.NONE);
        budget.limit(21 * SIZE);
        assertThat(pool.acquire(SIZE)).isNotEqualTo(SegmentPool.NONE);
    }

    @Test
    void acquire_isRefusedAtTheEndOfAddressSpace() {
        budget.limit(1000 * SIZE);
        take(40);
        assertThat(pool.acquire(SIZE)).isEqualTo(SegmentPool.NONE);
        assertThat(budget.chargedBytes()).isEqualTo(40L * SIZE);
        pool.free(7);
        assertThat(pool.acquire(SIZE)).isEqualTo(7);
    }

    @Test
    void aFreedSegmentIsReusedFirstAndStaysCharged() {
        take(3);
        pool.free(1);
        assertThat(pool.segmentsFree()).isEqualTo(1);
        assertThat(budget.chargedBytes()).isEqualTo(3L * SIZE);
        assertThat(pool.acquire(SIZE)).isEqualTo(1);
        assertThat(pool.segmentsFree()).isZero();
    }

    @Test
    void trim_returnsSegmentsFreeSinceTheLastCallExceptAFew() {
        take(20);
        write(20);
        free(20);
        assertThat(pool.trim()).as("free for less than one round").isZero();
        assertThat(pool.trim()).isEqualTo((20L - SegmentPool.KEEP_RETAINED) * SIZE);
        assertThat(pool.segmentsFree()).isEqualTo(SegmentPool.KEEP_RETAINED);
        assertThat(budget.chargedBytes()).isEqualTo((long) SegmentPool.KEEP_RETAINED * SIZE);
        assertThat(pool.trim()).isZero();
        int bare = 0;
        for (int id = 0; id < 20; id++) {
            bare += Memory.getLong(pool.segmentAddress(id)) == 0 ? 1 : 0;
        }
        assertThat(bare).as("segments whose pages went back").isEqualTo(20 - SegmentPool.KEEP_RETAINED);
        take(20);
        assertThat(pool.acquire(SIZE)).isEqualTo(SegmentPool.NONE);
    }

    @Test
    void trim_keepsSegmentsUsedInBetween() {
        take(20);
        free(20);
        pool.trim();
        take(15);
        for (int i = 0; i < 15; i++) {
            pool.free(anyInUse());
        }
        assertThat(pool.trim()).as("only 5 were never needed").isEqualTo((5L - SegmentPool.KEEP_RETAINED) * SIZE);
    }

    @Test
    void aLoweredLimitReturnsFreeSegmentsAndRefusesNewOnes() {
        take(20);
        for (int id = 0; id < 10; id++) {
            pool.free(id);
        }
        budget.limit(15 * SIZE);
        assertThat(pool.trim()).as("no more than limit and use want it, at once").isEqualTo(10L * SIZE);
        budget.limit(5 * SIZE);
        assertThat(pool.acquire(SIZE)).isEqualTo(SegmentPool.NONE);
        assertThat(pool.acquireForCleaning(SIZE)).as("moves go on").isNotEqualTo(SegmentPool.NONE);
        assertThat(budget.chargedBytes()).isEqualTo(11L * SIZE).isEqualTo(pool.bytes());
    }

    @Test
    void freeSegmentsBeyondALoweredLimitAreReturnedFirst() {
        take(20);
        free(10);
        budget.limit(12 * SIZE);
        assertThat(pool.acquire(SIZE)).isNotEqualTo(SegmentPool.NONE);
        assertThat(budget.chargedBytes()).isEqualTo(12L * SIZE).isEqualTo(pool.bytes());
        budget.limit(10 * SIZE);
        assertThat(pool.acquire(SIZE)).isEqualTo(SegmentPool.NONE);
        assertThat(pool.segmentsFree()).isZero();
    }

    @Test
    void returnMemory_releasesTheChargeAtOnce() {
        take(20);
        free(8);
        assertThat(pool.returnMemory(1)).isEqualTo(SIZE);
        assertThat(pool.returnMemory(2 * SIZE + 1)).isEqualTo(3L * SIZE);
        assertThat(budget.availableBytes()).isEqualTo(4L * SIZE);
        assertThat(pool.returnMemory(Long.MAX_VALUE / 2)).isEqualTo(4L * SIZE);
        assertThat(pool.returnMemory(SIZE)).isZero();
        assertThat(pool.bytes()).isEqualTo(12L * SIZE);
    }

    @Test
    void aSegmentIsChargedByItsExtent() {
        int id = pool.acquire(SIZE / 2);
        assertThat(budget.chargedBytes()).isEqualTo(SIZE / 2).isEqualTo(pool.bytes());
        Memory.fill(pool.segmentAddress(id), SIZE / 2, (byte) 1);
        pool.free(id);
        assertThat(pool.freeBytes()).isEqualTo(SIZE / 2);
        assertThat(pool.acquire(SIZE)).as("the free one, with more of it").isEqualTo(id);
        assertThat(budget.chargedBytes()).isEqualTo(SIZE).isEqualTo(pool.bytes());
        assertThat(pool.freeBytes()).isZero();
        Memory.fill(pool.segmentAddress(id), SIZE, (byte) 1);
        pool.free(id);
        assertThat(pool.acquire(SIZE / 2)).isEqualTo(id);
        assertThat(budget.chargedBytes()).isEqualTo(SIZE / 2).isEqualTo(pool.bytes());
        assertThat(Memory.getLong(pool.segmentAddress(id) + SIZE - 8)).as("the rest went back").isZero();
        assertThat(Memory.getLong(pool.segmentAddress(id) + SIZE / 2 - 8)).isNotZero();
    }

    /** The system takes long for megabytes, and the allocating thread holds a lock. */
    @Test
    void aSmallExtentTakesALargeFreeSegmentOnlyIfNecessary() {
        int large = 8 << 20;
        MemoryBudget limited = new MemoryBudget(large + (large >> 2));
        try (SegmentPool pool = new SegmentPool(new Regions(), limited, 64L << 20, large)) {
            int id = pool.acquire(large);
            pool.free(id);
            int small = pool.acquire(large / 8);
            assertThat(small).isNotEqualTo(id);
            assertThat(pool.freeBytes()).isEqualTo(large);
            assertThat(pool.acquire(large / 8)).isNotEqualTo(id);
            // There is no budget for a third beside it.
            assertThat(pool.acquire(large / 8)).isEqualTo(id);
            assertThat(pool.freeBytes()).isZero();
            assertThat(limited.chargedBytes()).isEqualTo(3 * large / 8);
        }
    }

    /** The budget is full of small free extents: they go, so that a whole segment fits. */
    @Test
    void smallFreeExtentsAreReturnedForALargeOne() {
        budget.limit(5 * SIZE);
        int[] ids = new int[8];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = pool.acquire(SIZE / 2);
        }
        budget.limit(4 * SIZE);
        for (int id : ids) {
            pool.free(id);
        }
        for (int i = 0; i < 4; i++) {
            assertThat(pool.acquire(SIZE)).isNotEqualTo(SegmentPool.NONE);
        }
        assertThat(pool.acquire(SIZE / 2)).isEqualTo(SegmentPool.NONE);
        assertThat(budget.chargedBytes()).isEqualTo(4L * SIZE).isEqualTo(pool.bytes());
    }

    /** With twice the addresses that the budget has segments, small parts must not leave it unreachable. */
    @Test
    void smallExtentsNeverBlockTheBudget() {
        int segment = 1 << 20;
        budget.limit(20L * segment);
        SegmentPool few = new SegmentPool(new Regions(), budget, 40L * segment, segment);
        int parts = 0;
        while (few.acquire(SIZE) != SegmentPool.NONE) {
            parts += few.bytes() == (parts + 1L) * SIZE ? 1 : 0;
        }
        assertThat(parts).as("small ones while addresses are plenty").isGreaterThan(5);
        assertThat(budget.availableBytes()).isLessThan(segment);
        few.close();
    }

    @Test
    void everyReservedAddressIsReadableAtAnyTime() {
        take(10);
        write(10);
        free(10);
        pool.trim();
        pool.trim();
        long end = pool.segmentAddress(0) + pool.reservedBytes();
        long sum = 0;
        for (long address = pool.segmentAddress(0); address < end; address += 8) {
            sum += Memory.getLong(address);
        }
        assertThat(sum).as("what is left in the retained ones").isNotZero();
    }

    @Test
    void errorsForSizesNameTheSetting() {
        assertThatThrownBy(() -> new SegmentPool(new Regions(), budget, 1L << 40, 4096))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("33554430")
                .hasMessageContaining("segment-size");
        assertThatThrownBy(() -> new SegmentPool(new Regions(), budget, 4095, 4096))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SegmentPool(new Regions(), budget, 1 << 20, 5000))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void threadsNeverShareASegment() throws InterruptedException {
        budget.limit(1000 * SIZE);
        Thread[] threads = new Thread[4];
        int[] faults = new int[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int mark = t + 1;
            threads[t] = new Thread(() -> {
                for (int round = 0; round < 2000; round++) {
                    int id = pool.acquire(SIZE);
                    if (id == SegmentPool.NONE) {
                        faults[mark - 1]++;
                        return;
                    }
                    long address = pool.segmentAddress(id);
                    Memory.putLong(address, mark);
                    if (round % 16 == 0) {
                        pool.trim();
                    }
                    if (Memory.getLong(address) != mark) {
                        faults[mark - 1]++;
                    }
                    pool.free(id);
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(faults).containsOnly(0);
        assertThat(pool.segmentsInUse()).isZero();
        assertThat(pool.bytes()).isEqualTo(budget.chargedBytes());
    }

    private final Set<Integer> inUse = new HashSet<>();

    private void take(int count) {
        for (int i = 0; i < count; i++) {
            int id = pool.acquire(SIZE);
            assertThat(id).isNotEqualTo(SegmentPool.NONE);
            inUse.add(id);
        }
    }

    private void write(int count) {
        for (int id = 0; id < count; id++) {
            Memory.fill(pool.segmentAddress(id), SIZE, (byte) 1);
        }
    }

    private void free(int count) {
        for (int id = 0; id < count; id++) {
            pool.free(id);
            inUse.remove(id);
        }
    }

    private int anyInUse() {
        int id = inUse.iterator().next();
        inUse.remove(id);
        return id;
    }
}

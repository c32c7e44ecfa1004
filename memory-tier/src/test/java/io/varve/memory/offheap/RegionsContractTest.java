package io.varve.memory.offheap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The contract of regions, wherever their memory comes from. */
abstract class RegionsContractTest {
    private final Regions regions = create();

    abstract Regions create();

    @ParameterizedTest
    @ValueSource(longs = {4096, 8192, 1 << 20, 8 << 20})
    void memoryIsZeroPageAlignedAndWritable(long bytes) {
        long address = regions.allocate(bytes);
        assertThat(address).isPositive();
        assertThat(address % Regions.MIN_BYTES).isZero();
        for (long offset = 0; offset < bytes; offset += 8) {
            assertThat(Memory.getLong(address + offset)).isZero();
        }
        Memory.putLong(address, 1);
        Memory.putLong(address + bytes - 8, 2);
        assertThat(Memory.getLong(address + bytes - 8)).isEqualTo(2);
        regions.free(address, bytes);
    }

    @Test
    void aFreedRegionIsReusedZeroed() {
        long address = regions.allocate(1 << 16);
        Memory.fill(address, 1 << 16, (byte) 7);
        regions.free(address, 1 << 16);
        assertThat(regions.allocate(1 << 15)).as("another size").isNotEqualTo(address);
        long again = regions.allocate(1 << 16);
        assertThat(again).isEqualTo(address);
        for (long offset = 0; offset < 1 << 16; offset += 8) {
            assertThat(Memory.getLong(again + offset)).isZero();
        }
    }

    @Test
    void checkedModeRefusesFreedMemory() {
        long address = regions.allocate(4096);
        regions.free(address, 4096);
        assertThatThrownBy(() -> Memory.getByte(address)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(regions.allocate(4096)).isEqualTo(address);
        assertThat(Memory.getByte(address)).isZero();
        assertThatThrownBy(() -> Memory.getLong(address + 4090)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -4096, 1, 2048, 4097, 12288, Long.MIN_VALUE})
    void invalidSizesAreRefused(long bytes) {
        assertThatThrownBy(() -> regions.allocate(bytes)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(bytes));
        assertThatThrownBy(() -> regions.free(1 << 20, bytes)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aSystemRefusalReturnsZero() {
        assertThat(regions.allocate(1L << 60)).isZero();
        assertThat(regions.reserve(1L << 60)).isZero();
    }

    @Test
    void aDiscardedReservationReadsAsZeros() {
        int bytes = 64 << 10;
        long address = regions.reserve(bytes);
        LiveRanges.add(address, bytes);
        Memory.fill(address, bytes, (byte) 9);
        Regions.discard(address, bytes / 2);
        assertThat(Memory.getLong(address)).isZero();
        assertThat(Memory.getLong(address + bytes / 2 - 8)).isZero();
        assertThat(Memory.getByte(address + bytes / 2)).isEqualTo((byte) 9);
        LiveRanges.remove(address);
    }

    @Test
    void threadsNeverShareARegion() throws InterruptedException {
        Thread[] threads = new Thread[4];
        int[] faults = new int[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int mark = t + 1;
            threads[t] = new Thread(() -> {
                for (int round = 0; round < 500; round++) {
                    long address = regions.allocate(4096);
                    if (Memory.getLong(address) != 0) {
                        faults[mark - 1]++;
                    }
                    Memory.putLong(address, mark);
                    Thread.onSpinWait();
                    if (Memory.getLong(address) != mark) {
                        faults[mark - 1]++;
                    }
                    regions.free(address, 4096);
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(faults).containsOnly(0);
    }

    @Test
    void aRetiredRegionIsReusedAfterItsDiscard() {
        long bytes = Regions.RETIRE_FROM_BYTES;
        long address = regions.allocate(bytes);
        Memory.fill(address, bytes, (byte) 7);
        MemoryBudget budget = new MemoryBudget(bytes);
        budget.charge(bytes);
        regions.retire(address, bytes, budget, bytes);
        assertThat(budget.chargedBytes()).isZero();
        long other = regions.allocate(bytes);
        assertThat(other).isNotEqualTo(address);
        regions.discardRetired();
        assertThat(regions.allocate(bytes)).isEqualTo(address);
        assertThat(Memory.getLong(address)).isZero();
        assertThat(Memory.getLong(address + bytes - 8)).isZero();
        regions.free(address, bytes);
        regions.free(other, bytes);
    }
}

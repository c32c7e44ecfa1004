package io.varve.memory.index;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

import com.dynatrace.hash4j.hashing.Hashing;
import com.sun.management.ThreadMXBean;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the key hash of native memory against the hash of arrays. Confined to the test's thread. */
class KeyHashTest {
    private static final int MAX_LENGTH = 600;
    private static final int SEEDS = 20;
    private static final int CALLS = 100_000;

    private final Regions regions = new Regions();
    private final long memory = regions.allocate(Regions.MIN_BYTES);

    @Test
    void nativeBytesAndArraysHashEqually() {
        SplittableRandom random = new SplittableRandom(7);
        for (int length = 0; length <= MAX_LENGTH; length++) {
            for (int i = 0; i < SEEDS; i++) {
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                long seed = i < 3 ? i - 1 : random.nextLong();
                long address = memory + (length + i) % 8;
                Memory.copy(bytes, 0, address, length);
                assertThat(new KeyHash(seed).hash(address, length)).as("length %d, seed %d", length, seed)
                        .isEqualTo(Hashing.xxh3_64(seed).hashBytesToLong(bytes));
            }
        }
    }

    @Test
    void seedsDiffer() {
        Memory.copy("user:1000".getBytes(StandardCharsets.US_ASCII), 0, memory, 9);
        assertThat(new KeyHash(1).hash(memory, 9)).isNotEqualTo(new KeyHash(2).hash(memory, 9))
                .isEqualTo(new KeyHash(1).hash(memory, 9));
    }

    @Test
    void theSecondHashIsSeeded() {
        KeyHash hash = new KeyHash(1);
        Set<Integer> seconds = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            Memory.putLong(memory, i);
            Memory.putLong(memory + 8, i);
            assertThat(hash.second(memory, 8)).isEqualTo(hash.second(memory + 8, 8))
                    .isNotEqualTo((int) hash.hash(memory, 8)).isNotEqualTo(new KeyHash(2).second(memory, 8));
            seconds.add(hash.second(memory, 8));
        }
        assertThat(seconds).hasSize(1_000);
    }

    @Test
    void anotherHashHasAnotherSeed() {
        KeyHash hash = new KeyHash(1);
        KeyHash another = hash.another();
        for (int i = 0; i < 1_000; i++) {
            Memory.putLong(memory, i);
            assertThat(another.hash(memory, 8)).isNotEqualTo(hash.hash(memory, 8))
                    .isEqualTo(hash.another().hash(memory, 8));
            assertThat(another.second(memory, 8)).isNotEqualTo(hash.second(memory, 8))
                    .isNotEqualTo(new KeyHash(2).another().second(memory, 8));
        }
    }

    @Test
    void goldenValues() {
        // XXH3_64bits of no bytes with seed 0, as published with the algorithm.
        assertThat(new KeyHash(0).hash(memory, 0)).isEqualTo(0x2D06800538D394C2L);
        Memory.copy("user:1000".getBytes(StandardCharsets.US_ASCII), 0, memory, 9);
        assertThat(new KeyHash(0).hash(memory, 9)).isEqualTo(0xFB6841B2068C0C9FL);
        assertThat(new KeyHash(-1).hash(memory, 9)).isEqualTo(0x02FAB4950F3FD3ABL);
    }

    /**
     * However little of it is compiled: views of memory that only C2 makes go away would be objects on the request's
     * way.
     */
    @Test
    void allocatesNothing() {
        KeyHash hash = new KeyHash(3);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long min = Long.MAX_VALUE;
        long sum = 0;
        // Linking a call for the first time allocates, in the first round.
        for (int round = 0; round < 2; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                sum += hash.hash(memory, 1 + i % 300) + hash.second(memory, 1 + i % 300);
            }
            min = Math.min(min, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(sum).isNotZero();
        assertThat(min).as("bytes in %d calls, 16 each if one object were made", CALLS).isLessThan(CALLS);
    }
}

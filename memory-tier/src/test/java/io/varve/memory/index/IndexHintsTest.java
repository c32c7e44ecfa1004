package io.varve.memory.index;

import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests hints without the lock while another thread fills, empties and resizes the index. Confined to the test's
 * threads.
 */
class IndexHintsTest {
    private static final int KEYS = 20_000;
    private static final int ROUNDS = 3;

    @Test
    void hintsBesideAWriterNeverFault() throws Exception {
        Regions regions = new Regions();
        FakeItems items = new FakeItems(regions, KEYS);
        long[] hashes = new SplittableRandom(3).longs(KEYS).toArray();
        for (int key = 0; key < KEYS; key++) {
            items.put(key, key, hashes[key]);
        }
        Index index = new Index(items, new ScalarTagScanner(), regions, new MemoryBudget(1L << 30), 0.8);
        AtomicBoolean done = new AtomicBoolean();
        CountDownLatch asking = new CountDownLatch(1);
        CompletableFuture<Long> requested = CompletableFuture.supplyAsync(() -> {
            long count = 0;
            long sum = 0;
            SplittableRandom random = new SplittableRandom(4);
            while (!done.get()) {
                long hash = hashes[random.nextInt(KEYS)];
                long location = index.suggest(hash);
                if (location < Index.NONE || location > IndexBucketLayout.MAX_LOCATION) {
                    throw new AssertionError("suggested " + location);
                }
                sum += Memory.peekLong(index.lineAddress(hash));
                count++;
                asking.countDown();
            }
            return count + (sum & 1);
        });
        try {
            assertThat(asking.await(30, TimeUnit.SECONDS)).isTrue();
            for (int round = 0; round < ROUNDS; round++) {
                for (int key = 0; key < KEYS; key++) {
                    index.insert(hashes[key], key);
                }
                for (int key = 0; key < KEYS; key++) {
                    assertThat(index.remove(hashes[key], key)).isTrue();
                }
            }
        } finally {
            done.set(true);
        }
        assertThat(requested.get(30, TimeUnit.SECONDS)).isPositive();
        index.release();
    }
}

package io.varve.memory.index;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the bounds of the index: chosen keys, equal hashes, a budget that refuses. Confined to the test's thread. */
class IndexBoundTest {
    private static final long SEED = 42;

    private final Regions regions = new Regions();
    private final MemoryBudget budget = new MemoryBudget(1L << 30);

    @Test
    void keysOfOneHomeBucketDoNotGrowTheTable() {
        int others = 300;
        int chosen = 100_000;
        FakeItems items = new FakeItems(regions, others + chosen);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int key = 0; key < others; key++) {
            insert(index, items, key, random.nextLong());
        }
        long slots = index.slots();
        long readsBefore = readsOfGets(index, items, 0, others);
        for (int key = others; key < others + chosen; key++) {
            // All home bits are equal, tag and the highest bits differ: 24 bits of the hash are free.
            insert(index, items, key, random.nextLong() & 0xFF00_0000_0000_FFFFL);
        }
        assertThat(index.slots()).isEqualTo(slots);
        assertThat(index.rehashing()).isFalse();
        assertThat(index.shape().inOverflow()).isGreaterThan(chosen - 20L);
        assertThat(index.bytes() - slots / 7 * 64).isLessThan(chosen * 100L);
        assertThat(readsOfGets(index, items, 0, others)).as("looks of gets of others")
                .isLessThanOrEqualTo(readsBefore + others / 10);
        assertThat(readsOfGets(index, items, others, others + chosen)).as("looks of gets").isLessThan(2L * chosen);
        assertThat(index.shape().longestOverflow()).isEqualTo(index.shape().inOverflow());
        assertAllFound(index, items, others + chosen);
        assertSound(index);
        // Each lookup must stay short: the whole took far less than a walk of the chain for each would take.
        for (int key = others; key < others + chosen; key++) {
            assertThat(index.remove(items.hashOf(key), key)).isTrue();
        }
        assertAllFound(index, items, others);
        assertThat(index.shape().overflowed()).isLessThanOrEqualTo(index.shape().inOverflow());
        assertSound(index);
    }

    @Test
    void equalHashesAreServedWithoutGrowth() {
        int equal = 10_000;
        int others = 300;
        FakeItems items = new FakeItems(regions, equal + others);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int key = equal; key < equal + others; key++) {
            insert(index, items, key, random.nextLong());
        }
        long slots = index.slots();
        long readsBefore = readsOfGets(index, items, equal, equal + others);
        items.takeReads();
        for (int key = 0; key < equal; key++) {
            insert(index, items, key, 0x1234_5678_9ABC_DEF0L);
        }
        assertThat(items.takeReads()).as("looks of insertions").isLessThan(equal * 20L);
        assertThat(index.slots()).isEqualTo(slots);
        assertThat(index.bytes() - slots / 7 * 64).isLessThan(equal * 100L);
        assertThat(readsOfGets(index, items, 0, equal)).as("looks of gets").isLessThan(equal * 20L);
        assertThat(readsOfGets(index, items, equal, equal + others)).as("looks of gets of others")
                .isLessThanOrEqualTo(readsBefore + others / 10);
        assertSound(index);
        items.takeReads();
        for (int key = 0; key < equal; key += 2) {
            assertThat(index.find(items.hashOf(key), items.keyAddress(key), FakeItems.KEY_BYTES)).isEqualTo(key);
            index.replaceFound(key);
            assertThat(index.contains(items.hashOf(key + 1), key + 1)).isTrue();
            assertThat(index.remove(items.hashOf(key), key)).isTrue();
        }
        assertThat(items.takeReads()).as("looks of removals").isLessThan(equal * 20L);
        assertThat(index.size()).isEqualTo(equal / 2 + others);
        assertSound(index);
    }

    /** Keys compared by a get of each of these. */
    private static long readsOfGets(Index index, FakeItems items, int from, int to) {
        items.takeReads();
        long reads = 0;
        for (int key = from; key < to; key++) {
            long hash = items.hashOf(key);
            items.takeReads();
            assertThat(index.find(hash, items.keyAddress(key), FakeItems.KEY_BYTES)).isEqualTo(key);
            reads += items.takeReads();
        }
        return reads;
    }

    @Test
    void expectedEntriesGrowTheTableOnce() {
        int entries = 50_000;
        FakeItems items = new FakeItems(regions, entries);
        SplittableRandom random = new SplittableRandom(SEED);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        insert(index, items, 0, random.nextLong());
        index.expect(entries, budget.limitBytes());
        long slots = index.slots();
        assertThat(slots).isBetween((long) (entries / 0.87), 3L * entries);
        for (int key = 1; key < entries; key++) {
            assertThat(index.rehashing()).isFalse();
            insert(index, items, key, random.nextLong());
        }
        assertThat(index.slots()).isEqualTo(slots);
        assertAllFound(index, items, entries);
        assertSound(index);
    }

    @Test
    void tableForEntriesThatDoNotComeShrinksAfterwards() {
        FakeItems items = new FakeItems(regions, 10);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        long slots = index.slots();
        index.expect(1_000_000, 4096);
        index.expect(Long.MAX_VALUE, Long.MAX_VALUE);
        assertThat(index.slots()).as("refused").isEqualTo(slots);
        index.expect(1_000_000, budget.limitBytes());
        insert(index, items, 0, 1);
        assertThat(index.rehashing()).isFalse();
        assertThat(index.slots()).isGreaterThan(1_000_000);
        index.expectNoMore();
        while (index.rehashStep(1 << 20)) {
            assertThat(index.rehashing()).isTrue();
        }
        assertThat(index.slots()).isEqualTo(slots);
        assertAllFound(index, items, 1);
        assertSound(index);
    }

    @Test
    void aRehashStepOfACrowdedHomeBucketStaysShort() {
        int chosen = 2_000;
        FakeItems items = new FakeItems(regions, chosen + 2_000);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        int key = 0;
        while (key < chosen) {
            insert(index, items, key++, random.nextLong() & 0xFF00_0000_0000_FFFFL);
        }
        while (!index.rehashing()) {
            insert(index, items, key++, random.nextLong());
        }
        int steps = 0;
        while (index.rehashStep(64)) {
            steps++;
            assertAllFound(index, items, key);
        }
        assertThat(steps).isGreaterThan(chosen / 40);
        assertSound(index);
    }

    @Test
    void aRehashRefusedMemoryRequestsNoTime() {
        int chosen = 2_000;
        FakeItems items = new FakeItems(regions, chosen + 2_000);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        int key = 0;
        while (key < chosen) {
            insert(index, items, key++, random.nextLong() & 0xFF00_0000_0000_FFFFL);
        }
        while (!index.rehashing()) {
            insert(index, items, key++, random.nextLong());
        }
        assertThat(index.rehashStep(1)).isTrue();
        long limit = budget.limitBytes();
        budget.limit(budget.chargedBytes());
        int steps = 0;
        while (index.rehashStep(64) && steps < 1000) {
            steps++;
        }
        assertThat(steps).isLessThan(1000);
        assertThat(index.rehashing()).isTrue();
        assertAllFound(index, items, key);
        budget.limit(limit);
        while (index.rehashStep(64)) {
            steps++;
        }
        assertThat(index.rehashing()).isFalse();
        assertAllFound(index, items, key);
        assertSound(index);
    }

    @Test
    void aLargeTableFillsToItsThresholdBeforeItDoubles() {
        int count = 7 * 16_384 * 86 / 100;
        FakeItems items = new FakeItems(regions, count);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int key = 0; key < count; key++) {
            insert(index, items, key, random.nextLong());
        }
        IndexShape shape = index.shape();
        System.out.println("At 0.86 of the slots: " + shape);
        assertThat(shape.buckets()).isEqualTo(16_384);
        assertThat(shape.inOverflow()).isLessThan(count / 64);
        assertThat(shape.slots()).isEqualTo(7 * 16_384);
        assertThat(shape.entries()).isEqualTo(count);
        assertThat(shape.load()).isEqualTo((double) (count - shape.inOverflow()) / shape.slots());
        assertThat(shape.longestOverflow()).isBetween(1L, 10L);
        assertAllFound(index, items, count);
    }

    @Test
    void aTableRefusedGrowthFillsUpAndThenRefusesEntries() {
        MemoryBudget small = new MemoryBudget(4096 * 8);
        FakeItems items = new FakeItems(regions, 20_000);
        Index index = new Index(items, new ScalarTagScanner(), regions, small, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        int key = 0;
        try {
            while (true) {
                insert(index, items, key, random.nextLong());
                key++;
            }
        } catch (CacheFullException full) {
            assertThat(full).isSameAs(CacheFullException.INSTANCE);
        }
        assertThat(key).isGreaterThan(64 * 7);
        assertThat(small.chargedBytes()).isEqualTo(index.bytes()).isLessThanOrEqualTo(small.limitBytes());
        assertThat(index.size()).isEqualTo(key);
        assertAllFound(index, items, key);
        assertThat(index.contains(items.hashOf(key), key)).isFalse();
        assertSound(index);
        small.limit(1L << 20);
        insert(index, items, key, items.hashOf(key));
        while (index.rehashStep(1)) {
            // until it has grown as far as it wants
        }
        assertAllFound(index, items, key + 1);
        assertSound(index);
        index.release();
        assertThat(small.chargedBytes()).isZero();
    }

    @Test
    void aBudgetTooSmallForTheFirstTableRefusesTheIndex() {
        FakeItems items = new FakeItems(regions, 1);
        assertThatThrownBy(() -> new Index(items, new ScalarTagScanner(), regions, new MemoryBudget(4095), 0.87))
                .isSameAs(CacheFullException.INSTANCE);
    }

    @Test
    void hintsFindPresentKeysAndNeverFault() {
        int count = 5_000;
        FakeItems items = new FakeItems(regions, count);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        int suggested = 0;
        long sum = 0;
        for (int key = 0; key < count; key++) {
            insert(index, items, key, random.nextLong());
            sum += Memory.peekLong(index.lineAddress(items.hashOf(key)));
            suggested += index.suggest(items.hashOf(key)) == key ? 1 : 0;
        }
        assertThat(sum).isNotZero();
        assertThat(suggested).isGreaterThan(count * 9 / 10);
        index.release();
        for (int key = 0; key < count; key++) {
            assertThat(index.suggest(items.hashOf(key))).isEqualTo(Index.NONE);
        }
    }

    @Test
    void samplesAreSpreadOverAllEntries() {
        int count = 2_000;
        FakeItems items = new FakeItems(regions, count);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int key = 0; key < count; key++) {
            insert(index, items, key, key % 10 == 0 ? random.nextLong() & 0xFFFF : random.nextLong());
        }
        int[] hits = new int[count];
        int sampled = 0;
        while (sampled < count * 50) {
            long location = index.sample(random.nextLong());
            if (location != Index.NONE) {
                hits[(int) location]++;
                sampled++;
            }
        }
        for (int hit : hits) {
            // 50 are expected; seven standard deviations either way.
            assertThat(hit).isBetween(5, 100);
        }
    }

    @Test
    void sampling_findsALoneEntry() {
        FakeItems items = new FakeItems(regions, 1);
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        SplittableRandom random = new SplittableRandom(SEED);
        assertThat(index.sampleNearby(random.nextLong())).isEqualTo(Index.NONE);
        insert(index, items, 0, random.nextLong());
        for (int i = 0; i < 1000; i++) {
            assertThat(index.sampleNearby(random.nextLong())).isZero();
        }
    }

    private static void insert(Index index, FakeItems items, int key, long hash) {
        items.put(key, key, hash);
        index.insert(hash, key);
    }

    private static void assertAllFound(Index index, FakeItems items, int count) {
        for (int key = 0; key < count; key++) {
            if (index.find(items.hashOf(key), items.keyAddress(key), FakeItems.KEY_BYTES) != key) {
                throw new AssertionError("key " + key + " is not found");
            }
        }
    }

    private static void assertSound(Index index) {
        List<String> problems = new ArrayList<>();
        index.checkIntegrity(problems::add);
        assertThat(problems).isEmpty();
    }
}

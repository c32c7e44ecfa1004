package io.varve.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.Ticker;
import io.varve.memory.item.ValueRun;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests corner cases at the memory limit that random operations seldom reach. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class CachePressureTest {
    private static final int ROUNDS = TestBudget.ofInt("varve.model.pressure-rounds", 500, 6_000);
    private static final int MIB = 1 << 20;
    /** Maximum memory of a small item beside its value. */
    private static final int OVERHEAD = 64;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(EvictionPolicy policy, int maxMemoryBytes) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(maxMemoryBytes).withShards(2)
                .withSegmentSizeBytes(4096).withMaxOpenSegments(2).withEvictionPolicy(policy).withHashSeed(7)
                .withTicker(ticker)));
    }

    private static byte[] key(int i) {
        return CacheFixture.bytes("key" + i);
    }

    /** Writes keys until one is not admitted; returns how many were. */
    private static int fill(CacheFixture fixture, int database, int valueBytes) {
        int i = 0;
        while (fixture.cache.admit(valueBytes + OVERHEAD)) {
            fixture.set(database, key(i), new byte[valueBytes], Item.NEVER);
            i++;
        }
        return i;
    }

    private static void write(CacheFixture fixture, int i, int valueBytes, long expireAtMillis) {
        assertThat(fixture.cache.admit(valueBytes + OVERHEAD)).as("admission of key %s", i).isTrue();
        fixture.set(0, key(i), new byte[valueBytes], expireAtMillis);
    }

    /** Four such values fill a segment but for a sixth, which no cleaning can gain. */
    @Test
    void anItemLargerThanASegmentDoesNotCauseEndlessCleaning() {
        try (CacheFixture fixture = open(EvictionPolicy.NOEVICTION, MIB)) {
            int stored = fill(fixture, 0, 850);
            assertThat(stored).isBetween(700, 1100);
            for (int i = 0; i < stored; i++) {
                assertThat(fixture.get(0, key(i))).hasSize(850);
            }
        }
    }

    /** With many samples, a small share of dead bytes is enough to clean a segment. */
    @Test
    void anItemLargerThanASegmentIsServedByEviction() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, MIB)) {
            fixture.cache.reconfigure(fixture.cache.config().withEvictionSamples(20));
            for (int i = 0; i < 5000; i++) {
                write(fixture, i, 850, Item.NEVER);
            }
            assertThat(fixture.cache.stats().items()).isGreaterThan(500);
        }
    }

    /** A table that doubles takes a quarter of this cache: no write may wait until all its memory is reclaimed. */
    @Test
    void noSingleWriteReclaimsAllMemoryForALargerTable() {
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(16 * MIB).withShards(2).withSegmentSizeBytes(32 << 10)
                        .withMaxOpenSegments(2)
                        .withEvictionPolicy(EvictionPolicy.ALLKEYS_RANDOM).withHashSeed(7).withTicker(ticker)))) {
            long max = 0;
            for (int i = 0; i < 900_000; i++) {
                long before = fixture.cache.stats().evicted();
                write(fixture, i, 10, Item.NEVER);
                max = Math.max(max, fixture.cache.stats().evicted() - before);
            }
            assertThat(fixture.cache.stats().indexBytes()).as("the tables did double").isGreaterThan(6 * MIB);
            assertThat(max).as("items that one write evicted").isBetween(1L, 5000L);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void coldLargeItemsAreEvictedBeforeHotSmallItems() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 2 * MIB)) {
            int hot = 20;
            for (int i = 0; i < hot; i++) {
                write(fixture, i, 10, Item.NEVER);
            }
            for (int i = hot; i < 3000; i++) {
                ticker.advanceMillis(1000);
                write(fixture, i, 3000, Item.NEVER);
                fixture.get(0, key(i % hot));
            }
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(2000);
            for (int i = 0; i < hot; i++) {
                assertThat(fixture.get(0, key(i))).as("hot key %s", i).isNotNull();
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** An item alone in the smallest of index tables is one of 448 slots. */
    @Test
    void aFewLargeItemsAreFoundForEviction() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_RANDOM, 4 * MIB)) {
            for (int i = 0; i < 300; i++) {
                write(fixture, i, MIB, Item.NEVER);
            }
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(290);
        }
    }

    /** Evicted memory counts although its pages are still to be released: no more is evicted than necessary. */
    @Test
    void aLargeValueEvictsNoMoreThanItNeeds() {
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(200 * MIB).withShards(2).withSegmentSizeBytes(32 << 10)
                        .withMaxOpenSegments(2)
                        .withEvictionPolicy(EvictionPolicy.ALLKEYS_RANDOM).withHashSeed(7).withTicker(ticker)))) {
            for (int i = 0; fixture.cache.stats().evicted() == 0; i++) {
                write(fixture, i, MIB, Item.NEVER);
            }
            fixture.maintainFully();
            long before = fixture.cache.stats().evicted();
            assertThat(fixture.cache.admit(120 * MIB)).isTrue();
            assertThat(fixture.cache.stats().evicted() - before).as("of 1 MB, for 120 MB").isBetween(100L, 135L);
        }
    }

    @Test
    void deletedMemoryIsUsableAtOnceHoweverLarge() {
        try (CacheFixture fixture = open(EvictionPolicy.NOEVICTION, 200 * MIB)) {
            for (int i = 0; i < 5; i++) {
                assertThat(fixture.cache.admit(120 * MIB)).as("round %s", i).isTrue();
                ValueRun run = fixture.cache.newRun(fixture.session.headroom(4), 120 * MIB);
                assertThat(run).isNotNull();
                fixture.putRun(0, key(0), java.util.Objects.requireNonNull(run), Item.NEVER);
                assertThat(fixture.delete(0, key(0))).isTrue();
            }
        }
    }

    /** They have half of the bytes: so they get half of the turns, and are found in them. */
    @Test
    void aFewLargeItemsAmongManySmallOnesAreFoundForEviction() {
        int small = 150_000;
        int large = 12;
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(40 * MIB).withShards(2).withSegmentSizeBytes(256 << 10)
                        .withMaxOpenSegments(2)
                        .withEvictionPolicy(EvictionPolicy.ALLKEYS_RANDOM).withHashSeed(7).withTicker(ticker)))) {
            for (int i = 0; i < large; i++) {
                write(fixture, -1 - i, MIB, Item.NEVER);
            }
            int i = 0;
            while (fixture.cache.stats().evicted() == 0) {
                write(fixture, i++, 60, Item.NEVER);
            }
            assertThat(i).isGreaterThan(small);
            int more = i + 8 * MIB / 100;
            for (; i < more; i++) {
                write(fixture, i, 60, Item.NEVER);
            }
            int left = 0;
            for (int j = 0; j < large; j++) {
                left += fixture.get(0, key(-1 - j)) == null ? 0 : 1;
            }
            assertThat(left).as("large items left of %s after some 8 MB were gained", large).isLessThanOrEqualTo(8);
        }
    }

    /**
     * The index of many small items takes as much as the new limit or more, and a smaller table needs memory beside it.
     */
    @ParameterizedTest
    @ValueSource(doubles = {0.3, 0.9, 1.02, 1.2})
    void aLimitThatOnlyTheIndexFillsIsReached(double share) {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_RANDOM, 32 * MIB)) {
            for (int i = 0; i < 400_000; i++) {
                write(fixture, i, 1, Item.NEVER);
            }
            long indexBytes = fixture.cache.stats().indexBytes();
            assertThat(indexBytes).isGreaterThanOrEqualTo(4 * MIB);
            long limit = (long) (indexBytes * share);
            fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(limit));
            fixture.maintainFully();
            for (int i = 0; i < 20_000; i++) {
                write(fixture, i, 1, Item.NEVER);
            }
            fixture.maintainFully();
            assertThat(fixture.cache.stats().items()).isGreaterThan(10_000);
            assertThat(fixture.cache.stats().usedBytes()).isLessThanOrEqualTo(limit);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void fewVolatileItemsAmongPersistentOnesAreEvicted() {
        try (CacheFixture fixture = open(EvictionPolicy.VOLATILE_LRU, MIB)) {
            int lasting = 7000;
            for (int i = 0; i < lasting; i++) {
                write(fixture, i, 80, i % 20 == 0 ? ticker.wallMillis() + 1_000_000 : Item.NEVER);
            }
            for (int i = lasting; i < lasting + 20_000; i++) {
                write(fixture, i, 80, ticker.wallMillis() + 1_000_000);
            }
            for (int i = 0; i < lasting; i++) {
                if (i % 20 != 0) {
                    assertThat(fixture.get(0, key(i))).as("lasting key %s", i).isNotNull();
                }
            }
            assertThat(fixture.cache.stats().bytesMoved()).isLessThan(40L * MIB);
        }
    }

    /**
     * A crowded index requests a larger table at each insert: if nothing may be evicted for it, not every write retries
     * in vain.
     */
    @Test
    void writesDoNotRepeatFutileReclaimForATable() {
        CountingTicker counting = new CountingTicker();
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(16 * MIB).withShards(2).withSegmentSizeBytes(32 << 10)
                        .withMaxOpenSegments(2)
                        .withEvictionPolicy(EvictionPolicy.VOLATILE_LRU).withHashSeed(7).withTicker(counting)))) {
            int i = 0;
            long max = 0;
            long before = 0;
            while (fixture.cache.admit(10 + OVERHEAD)) {
                fixture.set(0, key(i), new byte[10], Item.NEVER);
                if (++i % 1000 == 0) {
                    max = Math.max(max, counting.readings - before);
                    before = counting.readings;
                }
            }
            assertThat(max).as("slices that 1000 writes spent").isLessThan(50);
        }
    }

    /** Counts how often work checks whether its slice is over. Confined to the test's thread. */
    private static final class CountingTicker implements Ticker {
        private long readings;

        @Override
        public long wallMillis() {
            return 1_700_000_000_000L;
        }

        @Override
        public long nanoTime() {
            return ++readings;
        }
    }

    @Test
    void aVolatilePolicyWithoutVolatileItemsRefusesWrites() {
        try (CacheFixture fixture = open(EvictionPolicy.VOLATILE_TTL, MIB)) {
            int stored = fill(fixture, 0, 80);
            assertThat(stored).isGreaterThan(6000);
            assertThat(fixture.cache.stats().evicted()).isZero();
            assertThat(fixture.cache.admit(100)).isFalse();
            assertThat(fixture.cache.maintain()).isNotZero();
        }
    }

    /** Freed segments stay charged, so other allocations would find no memory beside them. */
    @Test
    void evictedMemoryServesLargeValues() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_RANDOM, 2 * MIB)) {
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 4000; i++) {
                    write(fixture, round * 4000 + i, 400, Item.NEVER);
                }
                ValueRun run = fixture.cache.newRun(200, 300_000);
                assertThat(run).as("round %s", round).isNotNull();
                run.release();
            }
        }
    }

    /** A run takes whole pages: memory for its bytes alone is occasionally not enough. */
    @Test
    void evictedMemoryServesLargeValuesOfAnyLength() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 2 * MIB)) {
            // As tables of penalties do, it leaves no whole number of pages.
            assertThat(fixture.cache.chargeExternal(1001)).isTrue();
            SplittableRandom random = new SplittableRandom(5);
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; fixture.cache.hasFreeMemory(8192); i++) {
                    write(fixture, round * 20_000 + i, 400, Item.NEVER);
                }
                int length = random.nextInt(5000, 300_000);
                ValueRun run = fixture.cache.newRun(256, length);
                assertThat(run).as("round %s, %s bytes", round, length).isNotNull();
                run.release();
            }
        }
    }

    @Test
    void evictedMemoryServesTimeBuckets() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_RANDOM, MIB)) {
            for (int i = 0; i < 8000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            for (int i = 0; i < 50_000; i++) {
                write(fixture, i, 10, ticker.wallMillis() + 100_000);
            }
            assertThat(fixture.cache.stats().expiringItems()).isGreaterThan(5000);
        }
    }

    /** Items grow smaller and so more: the index must grow although all memory is taken. */
    @Test
    void evictedMemoryServesTheIndex() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_RANDOM, 4 * MIB)) {
            for (int i = 0; i < 8000; i++) {
                write(fixture, i, 900, Item.NEVER);
            }
            long items = fixture.cache.stats().items();
            for (int i = 0; i < 200_000; i++) {
                if (i % 50 == 0) {
                    // One admission for as many writes as a command may have keys.
                    assertThat(fixture.cache.admit(50 * OVERHEAD)).isTrue();
                    assertThat(fixture.cache.stats().items()).as("items at key %s", i).isGreaterThan(items / 2);
                    items = fixture.cache.stats().items();
                }
                fixture.set(0, key(i), new byte[1], Item.NEVER);
            }
            fixture.maintainFully();
            assertThat(fixture.cache.stats().items()).isGreaterThan(70_000);
            assertThat(fixture.cache.stats().indexLoadFactor()).isLessThan(0.9);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void flushedMemoryIsUsableAtOnce() {
        try (CacheFixture fixture = open(EvictionPolicy.NOEVICTION, MIB)) {
            fill(fixture, 0, 100);
            fixture.cache.flush(0);
            write(fixture, 1, 100, Item.NEVER);
            assertThat(fixture.cache.size(0)).isEqualTo(1);
        }
    }

    @Test
    void flushedItemsAreReclaimedBeforeLiveItemsAreEvicted() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, MIB)) {
            for (int i = 0; i < 3000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            for (int i = 0; i < 3000; i++) {
                fixture.set(1, key(i), new byte[100], Item.NEVER);
            }
            fixture.cache.flush(1);
            for (int i = 3000; i < 5000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            assertThat(fixture.cache.size(0)).isEqualTo(5000);
            assertThat(fixture.cache.stats().evicted()).isZero();
        }
    }

    @Test
    void nothingIsEvictedUnderNoeviction() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 2 * MIB)) {
            for (int i = 0; i < 20_000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            fixture.cache.reconfigure(fixture.cache.config().withEvictionPolicy(EvictionPolicy.NOEVICTION)
                    .withMaxMemoryBytes(MIB));
            fixture.cache.resetStats();
            for (int i = 0; i < 20_000; i += 2) {
                fixture.delete(0, key(i));
            }
            long left = fixture.cache.size(0);
            fixture.maintainFully();
            fixture.cache.admit(1000);
            fixture.maintainFully();
            assertThat(fixture.cache.stats().evicted()).isZero();
            assertThat(fixture.cache.size(0)).isEqualTo(left);
        }
    }

    @Test
    void anItemLargerThanTheLimitEvictsNothing() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, MIB)) {
            for (int i = 0; i < 3000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            assertThat(fixture.cache.newRun(200, 64 * MIB)).isNull();
            assertThat(fixture.cache.size(0)).isEqualTo(3000);
        }
    }

    /** Asked for under a shard's lock, where nothing may be evicted: that is done before the second try. */
    @Test
    void aBufferTakesFreeMemoryAndEvictsOnlyThroughAdmission() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 2 * MIB)) {
            int stored = 0;
            while (fixture.cache.stats().evicted() == 0) {
                write(fixture, stored++, 400, Item.NEVER);
            }
            fixture.maintainFully();
            long evicted = fixture.cache.stats().evicted();
            long charged = fixture.cache.stats().chargedBytes();
            List<ValueRun> buffers = new ArrayList<>();
            for (ValueRun run = fixture.cache.newBuffer(16 << 10); run != null; run = fixture.cache
                    .newBuffer(16 << 10)) {
                buffers.add(run);
            }
            assertThat(fixture.cache.stats().evicted()).isEqualTo(evicted);
            assertThat(fixture.cache.admit(16 << 10)).isTrue();
            ValueRun made = fixture.cache.newBuffer(16 << 10);
            assertThat(made).as("a buffer for which memory was reclaimed").isNotNull();
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(evicted);
            made.release();
            buffers.forEach(ValueRun::release);
            assertThat(fixture.cache.stats().chargedBytes()).isLessThanOrEqualTo(charged);
        }
    }

    /** Free segments are charged, and a buffer is none: they are returned for it. */
    @Test
    void aBufferTakesTheMemoryOfFreeSegments() {
        try (CacheFixture fixture = open(EvictionPolicy.NOEVICTION, 2 * MIB)) {
            int stored = fill(fixture, 0, 400);
            assertThat(fixture.cache.newBuffer(64 << 10)).isNull();
            for (int i = 0; i < stored; i++) {
                fixture.delete(0, key(i));
            }
            ValueRun run = fixture.cache.newBuffer(64 << 10);
            assertThat(run).isNotNull();
            run.release();
        }
    }

    @Test
    void aLoweredLimitIsReachedByMaintenance() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 4 * MIB)) {
            for (int i = 0; i < 25_000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(2 * MIB));
            for (int second = 0; second < 5; second++) {
                fixture.maintainFully();
                ticker.advanceMillis(1100);
            }
            fixture.maintainFully();
            assertThat(fixture.cache.stats().chargedBytes()).isLessThanOrEqualTo(2 * MIB);
            assertThat(fixture.cache.size(0)).isGreaterThan(5000);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** Maintenance holds no lock where others may go first: else this thread would find the lock taken by itself. */
    @Test
    void maintenancePausesBetweenItsSlices() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 4 * MIB)) {
            for (int i = 0; i < 25_000; i++) {
                write(fixture, i, 100, i % 4 == 0 ? Item.NEVER : ticker.wallMillis() + 1000);
            }
            ticker.advanceMillis(5000);
            List<Long> sizes = new ArrayList<>();
            Runnable pause = () -> {
                write(fixture, 1_000_000, 100, Item.NEVER);
                assertThat(fixture.get(0, key(1_000_000))).hasSize(100);
                sizes.add(fixture.cache.size(0));
            };
            for (int round = 0; round < 100; round++) {
                fixture.cache.maintain(pause);
                ticker.advanceMillis(200);
            }
            assertThat(sizes).hasSizeGreaterThan(2);
            assertThat(fixture.cache.size(0)).as("what has no TTL, and the key written between").isEqualTo(6251);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** Shards that have little to do each would else make up one long piece of work. */
    @Test
    void maintenancePausesBetweenTheShardsOfACycle() {
        try (CacheFixture fixture = open(EvictionPolicy.NOEVICTION, 4 * MIB)) {
            for (int i = 0; i < 100; i++) {
                write(fixture, i, 100, ticker.wallMillis() + 1000);
            }
            fixture.maintainFully();
            ticker.advanceMillis(5000);
            List<Long> sizes = new ArrayList<>();
            fixture.cache.maintain(() -> sizes.add(fixture.cache.size(0)));
            assertThat(sizes.getFirst()).as("when the first of two shards is done").isBetween(1L, 99L);
            assertThat(fixture.cache.size(0)).isZero();
        }
    }

    /**
     * No thread waits for maintenance: the next writer reclaims the memory, also by moving items that may not be
     * evicted.
     */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = "NOEVICTION", mode = EnumSource.Mode.EXCLUDE)
    void aLoweredLimitLeavesMemoryForTheNextWrite(EvictionPolicy policy) {
        try (CacheFixture fixture = open(policy, 8 * MIB)) {
            for (int i = 0; i < 50_000; i++) {
                write(fixture, i, 100, i % 4 == 0 ? Item.NEVER : ticker.wallMillis() + 1_000_000 + i);
            }
            for (int round = 0; round < 20; round++) {
                fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(4 * MIB));
                assertThat(fixture.cache.admit(1000)).as("memory in round %s", round).isTrue();
                fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(8 * MIB));
                for (int i = 0; i < 20_000; i++) {
                    write(fixture, 50_000 + i, 100, ticker.wallMillis() + 1_000_000);
                }
            }
            if (policy.onlyVolatile()) {
                for (int i = 0; i < 50_000; i += 4) {
                    assertThat(fixture.get(0, key(i))).as("lasting key %s", i).isNotNull();
                }
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** The reserve is half of so small a cache; maintenance must not free the same amount again. */
    @Test
    void maintenanceEvictsNothingWhileMemoryIsFree() {
        Cache cache = Cache
                .open(CacheConfig.defaults(MIB).withShards(2).withSegmentSizeBytes(128 << 10).withMaxOpenSegments(1)
                        .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU).withTicker(ticker));
        try (CacheFixture fixture = new CacheFixture(cache)) {
            for (int i = 0; i < 1000; i++) {
                write(fixture, i, 100, Item.NEVER);
            }
            fixture.maintainFully();
            assertThat(fixture.cache.size(0)).isEqualTo(1000);
        }
    }

    @Test
    void aLimitBeyondTheAddressSpaceIsRefused() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, MIB)) {
            CacheConfig config = fixture.cache.config();
            assertThatThrownBy(() -> fixture.cache.reconfigure(config.withMaxMemoryBytes(1L << 40)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("maxmemory");
            fixture.cache.reconfigure(config.withMaxMemoryBytes(1L << 30));
        }
    }

    @Test
    void allChargedMemoryIsReleased() {
        try (CacheFixture fixture = open(EvictionPolicy.NOEVICTION, 4 * MIB)) {
            for (int i = 0; i < 10_000; i++) {
                write(fixture, i, i % 50 == 0 ? 5000 : 100, i % 3 == 0 ? ticker.wallMillis() + 50_000 : Item.NEVER);
            }
            fixture.cache.flushAll();
            for (int second = 0; second < 130; second++) {
                fixture.maintainFully();
                ticker.advanceMillis(1100);
            }
            fixture.maintainFully();
            // Four free segments stay, so that the next writes find them warm.
            assertThat(fixture.cache.stats().chargedBytes()).isLessThanOrEqualTo(4 * 4096);
            assertThat(fixture.cache.stats().datasetBytes()).isZero();
        }
    }
}

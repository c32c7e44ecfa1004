package io.varve.memory.collection;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.Ticker;
import io.varve.memory.report.CacheStats;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests large collections among other keys: creation, moves and removal. Confined to the test's thread. */
final class LargeCollectionsTest {
    private static final int MIB = 1 << 20;

    private final ManualTicker ticker = new ManualTicker();

    private CollectionsFixture open(EvictionPolicy policy, int maxMemoryBytes, int segmentBytes) {
        return new CollectionsFixture(Cache.open(CacheConfig.defaults(maxMemoryBytes).withShards(2)
                .withSegmentSizeBytes(segmentBytes).withMaxOpenSegments(2).withEvictionPolicy(policy).withHashSeed(7)
                .withTicker(ticker)));
    }

    /** Every kind of end that a key may come to. */
    @ParameterizedTest
    @ValueSource(strings = {"delete", "expire", "overwrite", "flush", "replace"})
    void removedCollectionsLeaveNoMemoryBehind(String end) {
        try (CollectionsFixture fixture = open(EvictionPolicy.NOEVICTION, 16 * MIB, 16 << 10)) {
            long expireAt = end.equals("expire") ? ticker.wallMillis() + 1000 : Item.NEVER;
            fixture.makeHash("hash", 5000, 20, expireAt);
            fixture.makeHash("small", 3, 20, expireAt);
            SortedSetTree scores = new SortedSetTree();
            fixture.make("scores", scores, expireAt, () -> {
                for (int i = 0; i < 3000; i++) {
                    fixture.put(scores, "member" + i, i % 100);
                }
            });
            fixture.assertSound();
            for (String name : List.of("hash", "small", "scores")) {
                switch (end) {
                    case "delete" -> assertThat(fixture.plain.delete(0, CacheFixture.bytes(name))).isTrue();
                    case "overwrite" -> fixture.plain.set(0, CacheFixture.bytes(name), new byte[30], Item.NEVER);
                    case "replace" -> fixture.makeHash(name, 1, 1, Item.NEVER);
                    default -> {
                        // All at once below.
                    }
                }
            }
            if (end.equals("flush")) {
                fixture.cache.flush(0);
            }
            ticker.advanceMillis(5000);
            fixture.assertSound();
            assertThat(fixture.hash("hash")).isEqualTo(end.equals("replace") ? Map.of("field0", "h") : null);
            fixture.plain.maintainFully();
            fixture.assertSound();
            assertThat(fixture.cache.stats().liveBytes()).isLessThan(4500);
            for (String name : List.of("hash", "small", "scores")) {
                fixture.plain.delete(0, CacheFixture.bytes(name));
            }
            fixture.assertNothingLives();
        }
    }

    /** Plain items that go leave segments to be cleaned, out of which nodes and root items move. */
    @ParameterizedTest
    @ValueSource(ints = {4 << 10, 64 << 10})
    void cleaningMovesNodesAndRootItems(int segmentBytes) {
        try (CollectionsFixture fixture = open(EvictionPolicy.NOEVICTION, 16 * MIB, segmentBytes)) {
            HashTree tree = new HashTree();
            for (int i = 0; i < 30; i++) {
                fixture.makeHash("hash" + i, 1, 10, i % 2 == 0 ? Item.NEVER : ticker.wallMillis() + 1_000_000);
            }
            for (int i = 0; i < 8000; i++) {
                int at = i;
                fixture.plain.set(0, CacheFixture.bytes("plain" + i), new byte[200], Item.NEVER);
                assertThat(fixture.test("hash" + i % 30, tree,
                        hash -> fixture.put(hash, "more" + at, "h".repeat(10)))).isTrue();
            }
            for (int i = 0; i < 8000; i++) {
                if (i % 10 != 0) {
                    assertThat(fixture.plain.delete(0, CacheFixture.bytes("plain" + i))).isTrue();
                }
            }
            long dead = fixture.cache.stats().deadBytes();
            fixture.plain.maintainFully();
            assertThat(fixture.cache.stats().bytesMoved()).isPositive();
            assertThat(fixture.cache.stats().deadBytes()).isLessThan(dead / 2);
            fixture.assertSound();
            for (int i = 0; i < 30; i++) {
                fixture.assertHash("hash" + i, 1 + (8000 - i + 29) / 30, 10);
            }
        }
    }

    /** A tree of a million fields goes in slices, none of them longer than the others, whoever is waiting. */
    @Test
    void aMillionFieldsAreFreedInSlices() {
        long[] readings = {0};
        Ticker stepping = new Ticker() {
            @Override
            public long wallMillis() {
                return 1_700_000_000_000L;
            }

            @Override
            public long nanoTime() {
                return 2000 * ++readings[0];
            }
        };
        try (CollectionsFixture fixture = new CollectionsFixture(
                Cache.open(CacheConfig.defaults(256 * MIB).withShards(1).withTicker(stepping)))) {
            fixture.makeHash("million", 1_000_000, 3, Item.NEVER);
            CacheStats before = fixture.cache.stats();
            assertThat(before.liveBytes()).isBetween(20L * MIB, 60L * MIB);
            long requested = readings[0];
            assertThat(fixture.plain.delete(0, CacheFixture.bytes("million"))).isTrue();
            assertThat(readings[0] - requested).as("readings of the clock by the deletion").isLessThan(10);
            assertThat(fixture.cache.stats().liveBytes()).isGreaterThan(before.liveBytes() * 9 / 10);
            long max = 0;
            int slices = 0;
            long left = fixture.cache.stats().liveBytes();
            while (left > 0) {
                long pause = fixture.cache.maintain();
                long now = fixture.cache.stats().liveBytes();
                assertThat(now < left || pause == 0).as("progress").isTrue();
                max = Math.max(max, left - now);
                left = now;
                slices++;
            }
            // A slice is 200 us, a reading 2 us, and 4 leaves of a kilobyte come between two of them.
            assertThat(max).isLessThan(110 * 4 * 1100L);
            assertThat(slices).isGreaterThan(60);
            fixture.assertNothingLives();
        }
    }

    @ParameterizedTest
    @CsvSource({"ALLKEYS_LRU, 16384", "ALLKEYS_LRU, 65536", "ALLKEYS_LFU, 16384", "ALLKEYS_RANDOM, 16384",
            "ALLKEYS_RANDOM, 65536"})
    void collectionsAreEvictedAsAWhole(EvictionPolicy policy, int segmentBytes) {
        try (CollectionsFixture fixture = open(policy, 4 * MIB, segmentBytes)) {
            int[] evicted = {0};
            fixture.cache.subscribe((change, shard, sequence, database, keyAddress,
                    keyLength) -> evicted[0] += change == Change.EVICTED
                            ? 1
                            : 0);
            for (int i = 0; i < 150; i++) {
                String name = "h" + i;
                while (true) {
                    assertThat(fixture.cache.admit(100_000)).isTrue();
                    try {
                        fixture.makeHash(name, 500, 100, Item.NEVER);
                        break;
                    } catch (CacheFullException full) {
                        assertThat(fixture.hash(name)).isNull();
                    }
                }
                for (int j = 0; j < 100; j++) {
                    assertThat(fixture.cache.admit(400)).isTrue();
                    fixture.plain.set(0, CacheFixture.bytes("plain" + i + "-" + j), new byte[200], Item.NEVER);
                }
                ticker.advanceMillis(1000);
                if (i % 10 == 0) {
                    fixture.cache.maintain();
                    fixture.assertSound();
                }
            }
            fixture.assertSound();
            assertThat(evicted[0]).isPositive();
            int there = 0;
            for (int i = 0; i < 150; i++) {
                if (fixture.hash("h" + i) != null) {
                    fixture.assertHash("h" + i, 500, 100);
                    there++;
                }
            }
            // 60 of some 60 KB would fit if they were alone.
            assertThat(there).isBetween(8, 60);
            if (policy == EvictionPolicy.ALLKEYS_LRU) {
                assertThat(fixture.hash("h149")).isNotNull();
                assertThat(fixture.hash("h0")).isNull();
            }
            fixture.cache.flushAll();
            fixture.assertNothingLives();
        }
    }

    /** Whether it may go says the root item's expiry time. */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"VOLATILE_LRU", "VOLATILE_RANDOM", "VOLATILE_TTL"})
    void persistentCollectionsAreNotEvictedByAVolatilePolicy(EvictionPolicy policy) {
        try (CollectionsFixture fixture = open(policy, 4 * MIB, 16 << 10)) {
            for (int i = 0; i < 10; i++) {
                fixture.makeHash("lasting" + i, 500, 100, Item.NEVER);
            }
            for (int i = 0; i < 60; i++) {
                assertThat(fixture.cache.admit(150_000)).isTrue();
                fixture.makeHash("volatile" + i, 500, 100, ticker.wallMillis() + 1_000_000);
            }
            int there = 0;
            for (int i = 0; i < 60; i++) {
                there += fixture.hash("volatile" + i) == null ? 0 : 1;
            }
            assertThat(there).isLessThan(50);
            for (int i = 0; i < 10; i++) {
                fixture.assertHash("lasting" + i, 500, 100);
            }
            fixture.assertSound();
        }
    }

    /** An element may be so large that its leaf has a run of its own; such leaves stand for their collection. */
    @Test
    void largeElementsRepresentTheirCollectionsInTheSample() {
        try (CollectionsFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 16 * MIB, 64 << 10)) {
            for (int i = 0; i < 60; i++) {
                ListTree tree = new ListTree();
                assertThat(fixture.cache.admit(600_000)).isTrue();
                fixture.make("list" + i, tree, Item.NEVER, () -> {
                    for (int j = 0; j < 5; j++) {
                        fixture.addLast(tree, "x".repeat(100_000));
                    }
                });
                ticker.advanceMillis(2000);
            }
            fixture.assertSound();
            assertThat(fixture.cache.stats().evicted()).isBetween(20L, 58L);
            assertThat(fixture.memoryUsage("list59")).isBetween(500_000L, 600_000L);
            fixture.cache.flushAll();
            fixture.assertNothingLives();
        }
    }

    @Test
    void collectionsMoveBetweenKeys() {
        try (CollectionsFixture fixture = open(EvictionPolicy.NOEVICTION, 16 * MIB, 16 << 10)) {
            SortedSetTree tree = new SortedSetTree();
            fixture.make("scores", tree, ticker.wallMillis() + 1_000_000, () -> {
                for (int i = 0; i < 4000; i++) {
                    fixture.put(tree, "member" + i, Math.floorDiv(i, 7));
                }
                tree.flags(42);
            });
            List<String> expected = Objects.requireNonNull(fixture.sortedSet("scores"));
            String same = "";
            String another = "";
            for (int i = 0; same.isEmpty() || another.isEmpty(); i++) {
                if (fixture.areInOneShard("scores", "to" + i)) {
                    same = "to" + i;
                } else {
                    another = "to" + i;
                }
            }
            fixture.makeHash(same, 1000, 10, Item.NEVER);
            long live = fixture.cache.stats().bytesWritten();
            assertThat(fixture.transfer("scores", same, 0, true)).isTrue();
            assertThat(fixture.cache.stats().bytesWritten() - live).as("bytes written by a rename").isLessThan(200);
            assertThat(fixture.sortedSet("scores")).isNull();
            assertThat(fixture.sortedSet(same)).isEqualTo(expected);
            assertThat(fixture.plain.expireAt(0, CacheFixture.bytes(same))).isEqualTo(ticker.wallMillis() + 1_000_000);
            assertThat(fixture.transfer(same, another, 0, true)).isTrue();
            assertThat(fixture.sortedSet(same)).isNull();
            assertThat(fixture.sortedSet(another)).isEqualTo(expected);
            assertThat(fixture.transfer(another, same, 0, false)).isTrue();
            assertThat(fixture.transfer(another, "elsewhere", 1, true)).isTrue();
            assertThat(fixture.sortedSet(another)).isNull();
            assertThat(fixture.sortedSet(same)).isEqualTo(expected);
            fixture.assertSound();
            assertThat(fixture.test(same, tree, scores -> scores.flags() == 42)).isTrue();
            assertThat(fixture.test(same, tree, scores -> fixture.put(scores, "member77", 1_000_000))).isFalse();
            assertThat(Objects.requireNonNull(fixture.sortedSet(same)).getLast()).isEqualTo("1000000.0 member77");
            fixture.cache.flushAll();
            fixture.assertNothingLives();
        }
    }

    /** With a secondary tier, packed values are demoted to it; a tree is lost. */
    @Test
    void aCollectionIsNotDemoted() {
        try (CollectionsFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 4 * MIB, 16 << 10)) {
            int[] demoted = {0};
            fixture.cache.attachSecondaryTier((epoch, hash, item, access, _) -> {
                assertThat(item.isTree()).isFalse();
                demoted[0]++;
                return true;
            });
            for (int i = 0; i < 100; i++) {
                assertThat(fixture.cache.admit(150_000)).isTrue();
                fixture.makeHash("h" + i, 500, 100, Item.NEVER);
                for (int j = 0; j < 100; j++) {
                    assertThat(fixture.cache.admit(400)).isTrue();
                    fixture.plain.set(0, CacheFixture.bytes("plain" + i + "-" + j), new byte[200], Item.NEVER);
                }
                ticker.advanceMillis(1000);
            }
            assertThat(demoted[0]).isPositive();
            fixture.assertSound();
        }
    }

    /** A time is put on it and taken away, which moves the root item. */
    @Test
    void expiryTimesAreSetAndRemoved() {
        try (CollectionsFixture fixture = open(EvictionPolicy.NOEVICTION, 8 * MIB, 16 << 10)) {
            fixture.makeHash("hash", 1000, 20, Item.NEVER);
            fixture.plain.set(0, CacheFixture.bytes("behind"), new byte[10], Item.NEVER);
            byte[] name = CacheFixture.bytes("hash");
            assertThat(fixture.plain.expire(0, name, ticker.wallMillis() + 10_000)).isTrue();
            fixture.assertSound();
            assertThat(fixture.plain.expire(0, name, Item.NEVER)).isTrue();
            ticker.advanceMillis(20_000);
            fixture.plain.maintainFully();
            fixture.assertHash("hash", 1000, 20);
            assertThat(fixture.plain.expire(0, name, ticker.wallMillis() + 10)).isTrue();
            ticker.advanceMillis(TimeUnit.SECONDS.toMillis(5));
            fixture.plain.maintainFully();
            fixture.assertSound();
            assertThat(fixture.cache.stats().liveBytes()).isLessThan(100);
        }
    }

    @Test
    void memoryUsageCountsTheNodes() {
        try (CollectionsFixture fixture = open(EvictionPolicy.NOEVICTION, 64 * MIB, 64 << 10)) {
            long before = fixture.cache.stats().liveBytes();
            fixture.makeHash("hash", 20_000, 30, Item.NEVER);
            long live = fixture.cache.stats().liveBytes() - before;
            assertThat((double) fixture.memoryUsage("hash") / live).isBetween(0.98, 1.05);
        }
    }
}

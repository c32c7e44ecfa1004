package io.varve.memory;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.index.KeyHash;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ChosenKeys;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests keys chosen by an attacker who knows the seed: the cache serves them, and the other keys with them. Confined to
 * the test's thread.
 */
class CacheFloodTest {
    private static final long SEED = 0x5EED;
    private static final int OTHERS = 20_000;
    private static final byte[] VALUE = CacheFixture.bytes("v".repeat(60));

    /** The property that the chosen keys share. */
    enum Flood {
        ONE_HOME_BUCKET(100_000) {
            @Override
            byte[] key(int number) {
                // The shard and 29 bits of the home bucket are equal: far more than a table of this size knows.
                long hash = 0x0BAD_CAFE_0000L | number % 65_536 | (long) (number / 65_536) << 52;
                byte[] key = null;
                for (long rest = 0; key == null; rest++) {
                    key = ChosenKeys.ofHash(SEED, hash | rest << 45);
                }
                return key;
            }
        },
        EQUAL_HASH(10_000) {
            @Override
            byte[] key(int number) {
                return ChosenKeys.ofEqualHash(SEED, number);
            }
        };

        final int count;

        Flood(int count) {
            this.count = count;
        }

        abstract byte[] key(int number);
    }

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(long maxMemoryBytes, EvictionPolicy policy) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(maxMemoryBytes).withHashSeed(SEED).withShards(4)
                .withTicker(ticker).withEvictionPolicy(policy)));
    }

    private static byte[] other(int number) {
        return CacheFixture.bytes("other:" + number);
    }

    /** Writes as a command does: memory is reclaimed first, and again after a refusal. */
    private static void write(CacheFixture fixture, byte[] key, long expireAtMillis) {
        for (int attempt = 1;; attempt++) {
            assertThat(fixture.cache.admit(key.length + VALUE.length + 64L)).as("admitted").isTrue();
            try {
                fixture.set(0, key, VALUE, expireAtMillis);
                return;
            } catch (CacheFullException full) {
                assertThat(attempt).as("attempts").isLessThan(4);
            }
        }
    }

    private static void writeAll(CacheFixture fixture, int count, IntFunction<byte[]> key) {
        for (int i = 0; i < count; i++) {
            write(fixture, key.apply(i), Item.NEVER);
        }
    }

    private static void assertAllThere(CacheFixture fixture, int count, IntFunction<byte[]> key) {
        for (int i = 0; i < count; i++) {
            assertThat(fixture.get(0, key.apply(i))).as("key %s", i).isEqualTo(VALUE);
        }
    }

    private static void assertSound(CacheFixture fixture) {
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Flood.class)
    void generatedKeysHaveEqualHashes(Flood flood) {
        try (CacheFixture fixture = open(64 << 20, EvictionPolicy.NOEVICTION)) {
            KeyHash hash = new KeyHash(SEED);
            Set<ByteBuffer> keys = new HashSet<>();
            Set<Long> homes = new HashSet<>();
            for (int i = 0; i < flood.count; i++) {
                byte[] key = flood.key(i);
                keys.add(ByteBuffer.wrap(key));
                fixture.bind(0, key);
                long home = fixture.key.hash() & 0xC000_1FFF_FFFF_0000L;
                homes.add(flood == Flood.EQUAL_HASH ? fixture.key.hash() : home);
                assertThat(hash.hash(fixture.key.address(), key.length)).isEqualTo(fixture.key.hash());
            }
            assertThat(keys).hasSize(flood.count);
            assertThat(homes).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Flood.class)
    void collidingKeysAndOthersAreServed(Flood flood) {
        try (CacheFixture fixture = open(64 << 20, EvictionPolicy.NOEVICTION)) {
            writeAll(fixture, OTHERS, CacheFloodTest::other);
            fixture.maintainFully();
            long indexBytes = fixture.cache.stats().indexBytes();
            writeAll(fixture, flood.count, flood::key);
            assertThat(fixture.cache.stats().indexBytes() - indexBytes).isLessThan(flood.count * 100L + indexBytes);
            assertThat(fixture.cache.size(0)).isEqualTo(flood.count + OTHERS);
            // Written over, in place and not.
            writeAll(fixture, flood.count, flood::key);
            for (int i = 0; i < flood.count; i += 10) {
                assertThat(fixture.resize(0, flood.key(i), 100, 100, (byte) 'x')).isTrue();
                fixture.set(0, flood.key(i), VALUE, Item.NEVER);
            }
            assertAllThere(fixture, flood.count, flood::key);
            assertAllThere(fixture, OTHERS, CacheFloodTest::other);
            fixture.maintainFully();
            assertSound(fixture);

            List<byte[]> scanned = fixture.scanAll(0, 10);
            Set<ByteBuffer> distinct = new HashSet<>();
            scanned.forEach(key -> distinct.add(ByteBuffer.wrap(key)));
            assertThat(scanned).hasSize(flood.count + OTHERS);
            assertThat(distinct).hasSize(flood.count + OTHERS);

            for (int i = 0; i < flood.count; i += 2) {
                assertThat(fixture.expire(0, flood.key(i), ticker.wallMillis() + 5_000)).isTrue();
            }
            ticker.advanceMillis(10_000);
            fixture.maintainFully();
            assertThat(fixture.cache.size(0)).isEqualTo(flood.count / 2 + OTHERS);
            for (int i = 0; i < flood.count; i++) {
                assertThat(fixture.get(0, flood.key(i)) != null).isEqualTo(i % 2 == 1);
                assertThat(fixture.delete(0, flood.key(i))).isEqualTo(i % 2 == 1);
            }
            assertAllThere(fixture, OTHERS, CacheFloodTest::other);
            fixture.maintainFully();
            assertSound(fixture);
            assertThat(fixture.cache.stats().indexBytes()).isLessThanOrEqualTo(2 * indexBytes);
        }
    }

    /** The table doubles and halves under it. */
    @ParameterizedTest
    @EnumSource(Flood.class)
    void aRehashMovesCollidingKeys(Flood flood) {
        try (CacheFixture fixture = open(64 << 20, EvictionPolicy.NOEVICTION)) {
            writeAll(fixture, flood.count, flood::key);
            writeAll(fixture, OTHERS, CacheFloodTest::other);
            assertAllThere(fixture, flood.count, flood::key);
            fixture.maintainFully();
            assertAllThere(fixture, flood.count, flood::key);
            assertSound(fixture);
            for (int i = 0; i < OTHERS; i++) {
                assertThat(fixture.delete(0, other(i))).isTrue();
            }
            assertAllThere(fixture, flood.count, flood::key);
            fixture.maintainFully();
            assertAllThere(fixture, flood.count, flood::key);
            assertSound(fixture);
        }
    }

    @ParameterizedTest
    @EnumSource(Flood.class)
    void aFlushFreesCollidingKeysInShortSlices(Flood flood) {
        try (CacheFixture fixture = open(64 << 20, EvictionPolicy.NOEVICTION)) {
            writeAll(fixture, OTHERS, CacheFloodTest::other);
            writeAll(fixture, flood.count, flood::key);
            fixture.cache.flush(0);
            assertThat(fixture.cache.size(0)).isZero();
            long start = System.nanoTime();
            fixture.maintainFully();
            System.out.println(flood + " reclaimed in " + (System.nanoTime() - start) / 1_000_000 + " ms");
            assertSound(fixture);
            assertThat(fixture.cache.stats().indexBytes()).isZero();
        }
    }

    /** The share of the chosen keys among random evictions equals their share of all keys. */
    @ParameterizedTest
    @EnumSource(Flood.class)
    void collidingKeysAreEvictedLikeOthers(Flood flood) {
        try (CacheFixture fixture = open(16 << 20, EvictionPolicy.ALLKEYS_RANDOM)) {
            SplittableRandom random = new SplittableRandom(SEED);
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < 3 * flood.count; i++) {
                order.add(i);
            }
            Collections.shuffle(order, new Random(SEED));
            for (int i : order) {
                write(fixture, i < flood.count ? flood.key(i) : other(i), Item.NEVER);
            }
            for (int i = 0; i < 300_000; i++) {
                write(fixture, random.nextInt(3) == 0 ? flood.key(i % flood.count) : other(i), Item.NEVER);
            }
            assertThat(fixture.cache.stats().evicted()).isPositive();
            long chosen = fixture.scanAll(0, 1000).stream().filter(key -> !Arrays.equals(key, 0, 6,
                    CacheFixture.bytes("other:"), 0, 6)).count();
            System.out.println(flood + ": " + chosen + " of " + fixture.cache.size(0));
            assertThat(chosen).isPositive();
            fixture.maintainFully();
            assertSound(fixture);
        }
    }
}

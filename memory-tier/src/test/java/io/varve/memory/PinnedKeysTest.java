package io.varve.memory;

import java.util.SplittableRandom;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that eviction skips the keys that commands work on, whichever thread evicts. */
final class PinnedKeysTest {
    private static final int MIB = 1 << 20;
    private static final int VALUE = 200;

    private static CacheFixture open(EvictionPolicy policy) {
        return new CacheFixture(InMemoryCache.open(CacheConfig.defaults(MIB).withShards(2).withSegmentSizeBytes(4096)
                .withMaxOpenSegments(2).withEvictionPolicy(policy).withHashSeed(7).withTicker(new ManualTicker())));
    }

    private static byte[] name(int i) {
        return CacheFixture.bytes("key" + i);
    }

    private static void fill(CacheFixture fixture, int from, int count) {
        for (int i = from; i < from + count; i++) {
            assertThat(fixture.cache.admit(VALUE + 64)).isTrue();
            fixture.set(0, name(i), new byte[VALUE], 4_000_000_000_000L);
        }
    }

    private static Key[] keys(CacheFixture fixture, int... numbers) {
        Key[] keys = new Key[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            Key bound = fixture.bind(0, name(numbers[i]));
            keys[i] = new Key();
            keys[i].bind(bound.address(), bound.length(), bound.hash(), bound.shard(), 0);
        }
        return keys;
    }

    private static boolean exists(CacheFixture fixture, int i) {
        return fixture.get(0, name(i)) != null;
    }

    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, mode = EnumSource.Mode.EXCLUDE, names = "NOEVICTION")
    void aPinnedKeyIsNotEvicted(EvictionPolicy policy) {
        try (CacheFixture fixture = open(policy)) {
            fill(fixture, 0, 3000);
            CacheSession other = fixture.cache.newSession();
            int[] pinned = {2990, 2991, 2992};
            other.pin(keys(fixture, pinned), 0, pinned.length);
            for (int i = 0; i < 10; i++) {
                fill(fixture, 10_000 + i * 3000, 3000);
                for (int number : pinned) {
                    assertThat(exists(fixture, number)).as("key %d", number).isTrue();
                }
            }
            // As much as there can be: all others go for it, and these do not.
            fixture.cache.admit(MIB * 3 / 4);
            for (int number : pinned) {
                assertThat(exists(fixture, number)).as("key %d", number).isTrue();
            }
            other.unpin();
            for (int i = 0; i < 40 && exists(fixture, 2990); i++) {
                fill(fixture, 100_000 + i * 3000, 3000);
                fixture.cache.admit(MIB * 3 / 4);
            }
            assertThat(fixture.cache.size(0)).as("nothing is pinned").isLessThan(3000);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void pinnedKeysAloneYieldNoMemory() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU)) {
            fill(fixture, 0, 2000);
            int[] all = new int[2000];
            for (int i = 0; i < all.length; i++) {
                all[i] = i;
            }
            fixture.session.pin(keys(fixture, all), 0, all.length);
            long before = fixture.cache.size(0);
            assertThat(fixture.cache.admit(MIB * 3 / 4)).isFalse();
            assertThat(fixture.cache.size(0)).isEqualTo(before);
            fixture.session.unpin();
            assertThat(fixture.cache.admit(MIB * 3 / 4)).isTrue();
        }
    }

    @Test
    void pinnedKeysAreFoundWithFewFalsePositives() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        PinnedKeys pins = new PinnedKeys();
        PinnedKeys.Holder holder = pins.newHolder();
        assertThat(pins.isAny()).isFalse();
        holder.pin(42);
        assertThat(pins.isAny()).isTrue();
        assertThat(pins.contains(42)).isTrue();
        assertThat(pins.contains(43)).isFalse();
        for (int count : new int[] {2, 100, 1000, 1025, 70_000}) {
            long[] hashes = random.longs(count).toArray();
            long[] bits = holder.begin(count);
            assertThat(pins.isAny()).as("the pins before are gone").isFalse();
            assertThat(pins.contains(42)).isFalse();
            for (long hash : hashes) {
                PinnedKeys.Holder.add(bits, hash);
            }
            holder.pin(bits);
            for (long hash : hashes) {
                assertThat(pins.contains(hash)).isTrue();
            }
            long others = random.longs(10_000).filter(pins::contains).count();
            assertThat(others).as("of %d", count).isLessThan(10_000 / 20);
            holder.pin(42);
            assertThat(pins.contains(42)).isTrue();
            assertThat(pins.contains(43)).isFalse();
        }
        holder.unpin();
        assertThat(pins.isAny()).isFalse();
    }

    @Test
    void aNewItemIsNotEvictedAmongEqualClocks() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU)) {
            fill(fixture, 0, 3000);
            int large = fixture.cache.runThresholdBytes() * 4;
            for (int i = 0; i < 300; i++) {
                assertThat(fixture.cache.admit(large + 4096L)).isTrue();
                fixture.set(0, name(9999), new byte[large], Item.NEVER);
                fill(fixture, 20_000 + i * 50, 50);
                assertThat(exists(fixture, 9999)).as("round %d", i).isTrue();
            }
        }
    }
}

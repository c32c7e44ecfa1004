package io.varve.memory;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that access information survives a change of the policy. */
final class PolicyChangeTest {
    private static final int MIB = 1 << 20;
    private static final int VALUE = 200;
    private static final int OLD = 3000;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(EvictionPolicy policy) {
        return new CacheFixture(InMemoryCache.open(CacheConfig.defaults(MIB).withShards(2).withSegmentSizeBytes(4096)
                .withMaxOpenSegments(2).withEvictionPolicy(policy).withHashSeed(7).withTicker(ticker)));
    }

    private static byte[] key(String kind, int i) {
        return CacheFixture.bytes(kind + i);
    }

    private static void write(CacheFixture fixture, String kind, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(fixture.cache.admit(VALUE + 64)).isTrue();
            fixture.set(0, key(kind, i), new byte[VALUE], Item.NEVER);
        }
    }

    private static int count(CacheFixture fixture, String kind, int count) {
        int there = 0;
        for (int i = 0; i < count; i++) {
            fixture.bind(0, key(kind, i));
            fixture.session.lock(fixture.key);
            there += fixture.session.peek(fixture.key, fixture.item) ? 1 : 0;
            fixture.session.unlock(fixture.key);
        }
        return there;
    }

    private static void change(CacheFixture fixture, EvictionPolicy policy) {
        fixture.cache.reconfigure(fixture.cache.config().withEvictionPolicy(policy));
    }

    private static int frequency(CacheFixture fixture, byte[] name) {
        int[] frequency = new int[1];
        fixture.withItem(0, name, item -> frequency[0] = fixture.session.frequency(item));
        return frequency[0];
    }

    private static long idleMillis(CacheFixture fixture, byte[] name) {
        long[] idle = new long[1];
        fixture.withItem(0, name, item -> idle[0] = fixture.session.idleMillis(item));
        return idle[0];
    }

    @Test
    void existingKeysAreNotEvictedBeforeNewOnes() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU)) {
            write(fixture, "old", OLD);
            ticker.advanceMillis(20 * 60_000);
            change(fixture, EvictionPolicy.ALLKEYS_LFU);
            assertThat(frequency(fixture, key("old", 1))).isGreaterThanOrEqualTo(5);
            write(fixture, "new", OLD);
            assertThat(frequency(fixture, key("new", OLD - 1))).isEqualTo(5);
            int old = count(fixture, "old", OLD);
            int fresh = count(fixture, "new", OLD);
            assertThat(old + fresh).as("something had to go").isLessThan(2 * OLD);
            assertThat(old).as("%d of the new ones stayed", fresh).isGreaterThan(fresh / 2);
        }
    }

    @Test
    void recentlyUsedKeysSurviveAPolicyChange() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LFU)) {
            write(fixture, "idle", OLD / 2);
            ticker.advanceMillis(30 * 60_000);
            write(fixture, "busy", OLD / 2);
            ticker.advanceMillis(60_000);
            change(fixture, EvictionPolicy.ALLKEYS_LRU);
            assertThat(idleMillis(fixture, key("busy", 3))).isBetween(60_000L, 120_000L);
            assertThat(idleMillis(fixture, key("idle", 3))).isBetween(31 * 60_000L, 32 * 60_000L);
            write(fixture, "new", OLD / 2);
            int busy = count(fixture, "busy", OLD / 2);
            int idle = count(fixture, "idle", OLD / 2);
            assertThat(idle).as("of the others are left %d", busy).isLessThan(busy);
        }
    }

    /**
     * RESTORE with IDLETIME: the time is from before the change, and is not taken for what the policy before has
     * written.
     */
    @Test
    void anIdleTimeIsLimitedToTheTimeSinceTheChange() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LFU)) {
            write(fixture, "key", 10);
            ticker.advanceMillis(20 * 60_000);
            change(fixture, EvictionPolicy.ALLKEYS_LRU);
            ticker.advanceMillis(100_000);
            for (int seconds : new int[] {0, 50, 99, 5000}) {
                fixture.withItem(0, key("key", 1), item -> fixture.session.access(item, seconds, -1));
                assertThat(idleMillis(fixture, key("key", 1))).isEqualTo(Math.min(seconds, 100) * 1000L);
            }
        }
    }
}

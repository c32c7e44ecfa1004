package io.varve.memory;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that the memory usage of an item does not depend on the number of items. Confined to the test's thread. */
class MemoryUsageTest {
    private static final CacheConfig CONFIG = CacheConfig.defaults(16 << 20).withShards(2)
            .withTicker(new ManualTicker());

    private static long usage(CacheFixture fixture, String name, int valueBytes, long expireAtMillis) {
        byte[] key = CacheFixture.bytes(name);
        fixture.set(0, key, new byte[valueBytes], expireAtMillis);
        assertThat(fixture.get(0, key)).hasSize(valueBytes);
        return fixture.session.memoryUsage(fixture.item);
    }

    @Test
    void aSingleSmallItemHasASmallFootprint() {
        try (CacheFixture fixture = new CacheFixture(Cache.open(CONFIG))) {
            // Shards grow at different loads: that makes a byte or two of difference between keys.
            long alone = usage(fixture, "k", 1, Item.NEVER);
            assertThat(alone).isBetween(20L, 64L);
            assertThat(usage(fixture, "l", 1_001, Item.NEVER)).isBetween(alone + 990, alone + 1_016);
            assertThat(usage(fixture, "m", 1, CONFIG.ticker().wallMillis() + 60_000)).isBetween(alone + 4, alone + 24);
            for (int i = 0; i < 20_000; i++) {
                fixture.set(0, CacheFixture.bytes("key" + i), new byte[10], Item.NEVER);
            }
            assertThat(usage(fixture, "n", 1, Item.NEVER)).isBetween(alone - 2, alone + 2);
        }
    }

    @Test
    void theSumOfFootprintsIsAboutTheMemoryInUse() {
        try (CacheFixture fixture = new CacheFixture(Cache.open(CONFIG))) {
            long before = fixture.cache.stats().usedBytes();
            long said = 0;
            for (int i = 0; i < 50_000; i++) {
                said += usage(fixture, "key" + i, 50, Item.NEVER);
            }
            long taken = fixture.cache.stats().usedBytes() - before;
            assertThat((double) said / taken).isBetween(0.8, 1.2);
        }
    }
}

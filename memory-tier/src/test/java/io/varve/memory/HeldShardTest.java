package io.varve.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** What goes on while a command of another thread holds one of two shards. Confined to the test's thread, but for that one. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldShardTest {
    private static final byte[] VALUE = new byte[1000];

    private final ManualTicker ticker = new ManualTicker();
    private final Cache cache = Cache.open(CacheConfig.defaults(1 << 20).withShards(2).withSegmentSizeBytes(4096)
            .withHeads(2).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU).withHashSeed(7).withTicker(ticker));

    /** Names of keys of a shard. */
    private List<byte[]> keysOf(CacheFixture fixture, int shard, int count) {
        List<byte[]> names = new ArrayList<>();
        for (int i = 0; names.size() < count; i++) {
            byte[] name = CacheFixture.bytes("key" + i);
            if (fixture.bind(0, name).shard() == shard) {
                names.add(name);
            }
        }
        return names;
    }

    @Test
    void roomIsMadeInTheOther() throws InterruptedException {
        try (CacheFixture fixture = new CacheFixture(cache)) {
            for (int i = 0; i < 3000; i++) {
                assertThat(cache.admit(2L * VALUE.length)).isTrue();
                fixture.set(0, CacheFixture.bytes("both" + i), VALUE, Item.NEVER);
            }
            for (int held = 0; held < 2; held++) {
                List<byte[]> names = keysOf(fixture, 1 - held, 200);
                long evicted = cache.stats().evicted();
                fixture.whileHeld(held, () -> {
                    for (byte[] name : names) {
                        assertThat(cache.admit(2L * VALUE.length)).isTrue();
                        fixture.set(0, name, VALUE, Item.NEVER);
                    }
                });
                assertThat(cache.stats().evicted() - evicted).isGreaterThan(100);
            }
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void itemsOfTheOtherExpireAndItsOwnLater() throws InterruptedException {
        try (CacheFixture fixture = new CacheFixture(cache)) {
            List<byte[]> its = keysOf(fixture, 0, 100);
            List<byte[]> others = keysOf(fixture, 1, 100);
            long end = ticker.wallMillis() + 1000;
            its.forEach(name -> fixture.set(0, name, VALUE, end));
            others.forEach(name -> fixture.set(0, name, VALUE, end));
            ticker.advanceMillis(10_000);
            fixture.whileHeld(0, cache::maintain);
            assertThat(cache.stats().expired()).isEqualTo(100);
            ticker.advanceMillis(1000);
            cache.maintain();
            assertThat(cache.stats().expired()).isEqualTo(200);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }
}

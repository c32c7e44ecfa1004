package io.varve.memory;

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.CacheStats;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.testing.CacheFixture.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests that prefetching accepts all keys and changes nothing. Confined to the test's thread. */
class LinePrefetcherTest {
    /** More than two groups of keys that are prefetched together. */
    private static final int KEYS = 300;
    private static final int MAX_NAME_BYTES = 16;
    /** Longer than the lines of an item that are prefetched, with lengths on both sides of each line's end. */
    private static final int LONGEST_VALUE = 350;

    private final ManualTicker ticker = new ManualTicker();
    private final CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(4 << 20).withShards(2)
            .withSegmentSizeBytes(4096).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU).withTicker(ticker)));
    private final Arena arena = Arena.ofConfined();
    private final long names = arena.allocate(KEYS * MAX_NAME_BYTES).address();

    LinePrefetcherTest() {
        LiveRanges.add(names, KEYS * MAX_NAME_BYTES);
    }

    @AfterEach
    void close() {
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
        fixture.close();
        LiveRanges.remove(names);
        arena.close();
    }

    private static byte[] name(int number) {
        return bytes("key " + number);
    }

    private static byte[] value(int number) {
        return new byte[number * 7 % LONGEST_VALUE];
    }

    /** Sets every other key. */
    private void fill() {
        for (int i = 0; i < KEYS; i += 2) {
            fixture.set(0, name(i), value(i), Item.NEVER);
        }
    }

    private Key[] keys(int database, int count) {
        Key[] keys = new Key[count];
        for (int i = 0; i < count; i++) {
            byte[] name = name(i);
            long address = names + (long) i * MAX_NAME_BYTES;
            Memory.copy(name, 0, address, name.length);
            keys[i] = new Key();
            fixture.session.bind(keys[i], database, address, name.length);
        }
        return keys;
    }

    @Test
    void touch_countsNoHits_renewsNoClock_andChangesNoItem() {
        fill();
        ticker.advanceMillis(60_000);
        CacheStats before = fixture.cache.stats();
        fixture.session.touch(keys(0, KEYS), KEYS);
        CacheStats after = fixture.cache.stats();
        assertThat(after.hits()).isEqualTo(before.hits());
        assertThat(after.misses()).isEqualTo(before.misses());
        for (int i = 0; i < KEYS; i += 2) {
            fixture.withItem(0, name(i), item -> assertThat(fixture.session.idleMillis(item)).isEqualTo(60_000));
            assertThat(fixture.get(0, name(i))).isEqualTo(value(i));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 129, 256, 257})
    void touch_usesOnlyCountKeys(int count) {
        fill();
        Key[] keys = new Key[KEYS];
        System.arraycopy(keys(0, KEYS), 0, keys, 0, count);
        fixture.session.touch(keys, count);
        assertThat(fixture.cache.size(0)).isEqualTo(KEYS / 2);
    }

    @Test
    void touch_ofDatabasesThatAreEmptyOrFlushed_isHarmless() {
        fixture.session.touch(keys(0, KEYS), KEYS);
        fill();
        Key[] keys = keys(0, KEYS);
        fixture.cache.flush(0);
        fixture.session.touch(keys, KEYS);
        fixture.maintainFully();
        fixture.session.touch(keys, KEYS);
        assertThat(fixture.cache.size(0)).isZero();
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SAME_THREAD)
    void touch_needsNoLock() throws InterruptedException {
        fill();
        Key[] keys = keys(0, KEYS);
        for (int shard = 0; shard < 2; shard++) {
            fixture.whileHeld(shard, () -> fixture.session.touch(keys, KEYS));
        }
        assertThat(fixture.cache.size(0)).isEqualTo(KEYS / 2);
    }
}

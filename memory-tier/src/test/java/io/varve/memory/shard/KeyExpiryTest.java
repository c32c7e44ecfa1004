package io.varve.memory.shard;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.testing.CacheFixture.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests changes of keys' expiry times. Confined to the test's thread. */
class KeyExpiryTest {
    private static final byte[] KEY = bytes("key");
    private static final int DATABASE = 3;
    private static final int ACCESS = 0x123456;

    private final ManualTicker ticker = new ManualTicker();
    private final CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(1 << 20).withShards(1)
            .withSegmentSizeBytes(4096).withEvictionPolicy(EvictionPolicy.NOEVICTION).withTicker(ticker)));
    private final long soon = ticker.wallMillis() + 10_000;

    @AfterEach
    void close() {
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
        fixture.close();
    }

    private static byte[] value(int length) {
        byte[] value = new byte[length];
        for (int i = 0; i < length; i++) {
            value[i] = (byte) (i * 31 + length);
        }
        return value;
    }

    @Test
    void expire_setsChangesAndRemovesTheTime() {
        fixture.set(DATABASE, KEY, value(20), Item.NEVER);
        assertThat(fixture.expire(DATABASE, KEY, soon)).isTrue();
        assertThat(fixture.expireAt(DATABASE, KEY)).isEqualTo(soon);
        assertThat(fixture.cache.expiringSize(DATABASE)).isEqualTo(1);
        fixture.expire(DATABASE, KEY, soon + 1);
        assertThat(fixture.expireAt(DATABASE, KEY)).isEqualTo(soon + 1);
        assertThat(fixture.cache.expiringSize(DATABASE)).isEqualTo(1);
        fixture.expire(DATABASE, KEY, Item.NEVER);
        assertThat(fixture.expireAt(DATABASE, KEY)).isEqualTo(Item.NEVER);
        assertThat(fixture.cache.expiringSize(DATABASE)).isZero();
        assertThat(fixture.get(DATABASE, KEY)).isEqualTo(value(20));
    }

    @Test
    void expire_ofAKeyWithoutATime_toNever_changesNothing() {
        fixture.set(DATABASE, KEY, value(20), Item.NEVER);
        long live = fixture.cache.stats().liveBytes();
        fixture.expire(DATABASE, KEY, Item.NEVER);
        assertThat(fixture.expireAt(DATABASE, KEY)).isEqualTo(Item.NEVER);
        assertThat(fixture.cache.stats().liveBytes()).isEqualTo(live);
    }

    @Test
    void expire_beyondTheLatestTime_isReducedToIt() {
        fixture.set(DATABASE, KEY, value(20), Item.NEVER);
        fixture.expire(DATABASE, KEY, Long.MAX_VALUE);
        assertThat(fixture.expireAt(DATABASE, KEY)).isEqualTo(Item.LATEST_EXPIRY_MILLIS);
        assertThat(fixture.cache.expiringSize(DATABASE)).isEqualTo(1);
    }

    @Test
    void expiredKey_isGone_andOneWhoseTimeWasRemovedStays() {
        fixture.set(DATABASE, KEY, value(20), Item.NEVER);
        fixture.set(DATABASE, bytes("lasting"), value(20), soon);
        fixture.expire(DATABASE, KEY, soon);
        fixture.expire(DATABASE, bytes("lasting"), Item.NEVER);
        ticker.advanceMillis(20_000);
        fixture.maintainFully();
        assertThat(fixture.get(DATABASE, KEY)).isNull();
        assertThat(fixture.get(DATABASE, bytes("lasting"))).isEqualTo(value(20));
        assertThat(fixture.cache.size(DATABASE)).isEqualTo(1);
    }

    /**
     * An item without expiry fields gets them: in place if it is the last of its segment, else in a copy. Lengths from
     * 2047 bytes and from 1024 bytes have other layouts: a long capacity, and a run of its own.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 1000, 1024, 2046, 2047, 3000, 100_000})
    void expire_keepsTheRestOfTheItem(int length) {
        byte[] value = value(length);
        assertThat(fixture.restore(DATABASE, KEY, ItemType.HASH, 1, value, 0, Item.NEVER, ACCESS)).isTrue();
        fixture.set(DATABASE, bytes("behind"), value(10), Item.NEVER);
        fixture.set(DATABASE, bytes("last"), value, Item.NEVER);
        for (byte[] name : List.of(KEY, bytes("last"))) {
            fixture.expire(DATABASE, name, soon);
            assertThat(fixture.expireAt(DATABASE, name)).isEqualTo(soon);
            assertThat(fixture.get(DATABASE, name)).isEqualTo(value);
        }
        fixture.withItem(DATABASE, KEY, item -> {
            assertThat(item.type()).isEqualTo(ItemType.HASH);
            assertThat(item.encoding()).isEqualTo(1);
        });
        assertThat(fixture.get(DATABASE, bytes("behind"))).isEqualTo(value(10));
        assertThat(fixture.cache.size(DATABASE)).isEqualTo(3);
        assertThat(fixture.cache.expiringSize(DATABASE)).isEqualTo(2);
    }

    @Test
    void expire_inAFullCache_isRefusedOrComplete() {
        byte[] value = value(90);
        List<byte[]> names = fillUntilRefused(value);
        List<byte[]> refused = new ArrayList<>();
        for (byte[] name : names) {
            try {
                fixture.expire(DATABASE, name, soon);
                assertThat(fixture.expireAt(DATABASE, name)).isEqualTo(soon);
            } catch (CacheFullException full) {
                refused.add(name);
                assertThat(fixture.expireAt(DATABASE, name)).isEqualTo(Item.NEVER);
            }
            assertThat(fixture.get(DATABASE, name)).isEqualTo(value);
        }
        assertThat(refused).isNotEmpty();
        assertThat(fixture.cache.expiringSize(DATABASE)).isEqualTo(names.size() - refused.size());
    }

    private List<byte[]> fillUntilRefused(byte[] value) {
        List<byte[]> names = new ArrayList<>();
        while (true) {
            byte[] name = bytes("key " + names.size());
            try {
                fixture.set(DATABASE, name, value, Item.NEVER);
            } catch (CacheFullException full) {
                return names;
            }
            names.add(name);
        }
    }
}

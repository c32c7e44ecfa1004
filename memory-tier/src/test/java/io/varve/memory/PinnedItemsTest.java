package io.varve.memory;

import java.util.Arrays;
import java.util.stream.IntStream;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that items stay in memory from {@code pinItem} to {@code unpinItem}, and that their bytes are counted. */
final class PinnedItemsTest {
    private static final int MIB = 1 << 20;
    private static final int VALUE = 200;
    private static final long FAR = 4_000_000_000_000L;
    private static final int PINNED = 100;
    /** Every so many keys are large: in a run of their own. */
    private static final int LARGE_EVERY = 25;
    private static final int LARGE_BYTES = 20_000;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(EvictionPolicy policy) {
        return new CacheFixture(InMemoryCache.open(CacheConfig.defaults(MIB).withShards(2).withSegmentSizeBytes(4096)
                .withMaxOpenSegments(2).withEvictionPolicy(policy).withHashSeed(7).withTicker(ticker)
                .withPenalties(new PenaltySettings(true, PenaltyRanges.MAX_CLASSES, 0))));
    }

    private static byte[] name(int i) {
        return CacheFixture.bytes("key" + i);
    }

    private static byte[] value(int i) {
        byte[] value = new byte[i < PINNED && i % LARGE_EVERY == 0 ? LARGE_BYTES : VALUE];
        Arrays.fill(value, (byte) i);
        return value;
    }

    private static void fill(CacheFixture fixture, int from, int count) {
        for (int i = from; i < from + count; i++) {
            byte[] value = value(i);
            assertThat(fixture.cache.admit(value.length + 4096L)).as("key %d", i).isTrue();
            fixture.session.writesInto(i % PenaltyRanges.MAX_CLASSES);
            fixture.set(0, name(i), value, FAR);
        }
    }

    private static boolean pin(CacheFixture fixture, int i, long maxBytes) {
        boolean[] done = {false};
        fixture.withItem(0, name(i), item -> done[0] = fixture.session.pinItem(item, maxBytes));
        return done[0];
    }

    private static boolean unpin(CacheFixture fixture, int i) {
        boolean[] done = {false};
        fixture.withItem(0, name(i), item -> done[0] = fixture.session.unpinItem(item));
        return done[0];
    }

    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, mode = EnumSource.Mode.EXCLUDE, names = "NOEVICTION")
    void pinnedItemsOutliveAnyPressure(EvictionPolicy policy) {
        try (CacheFixture fixture = open(policy)) {
            fill(fixture, 0, PINNED);
            for (int i = 0; i < PINNED; i++) {
                assertThat(pin(fixture, i, MIB)).isTrue();
            }
            for (int round = 0; round < 10; round++) {
                fill(fixture, 10_000 + round * 3000, 3000);
                // The clocks of all others are newer than theirs.
                ticker.advanceMillis(10_000);
                fixture.cache.maintain();
            }
            // All that there can be: the others are evicted for it.
            fixture.cache.admit(MIB * 3 / 4);
            for (int i = 0; i < PINNED; i++) {
                assertThat(fixture.get(0, name(i))).as("key %d", i).isEqualTo(value(i));
            }
            assertThat(fixture.cache.stats().pinnedItems()).isEqualTo(PINNED);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            for (int i = 0; i < PINNED; i++) {
                assertThat(unpin(fixture, i)).isTrue();
            }
            assertThat(fixture.cache.stats().pinnedBytes()).isZero();
            fill(fixture, 100_000, 3000);
            fixture.cache.admit(MIB * 3 / 4);
            assertThat(IntStream.range(0, PINNED).filter(i -> fixture.get(0, name(i)) == null))
                    .as("they are evicted like any others").isNotEmpty();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void pinnedItemsAloneYieldNoMemory() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU)) {
            fill(fixture, PINNED, 2000);
            for (int i = PINNED; i < PINNED + 2000; i++) {
                pin(fixture, i, MIB);
            }
            assertThat(fixture.cache.admit(MIB * 3 / 4)).isFalse();
            assertThat(fixture.cache.size(0)).isEqualTo(2000);
            for (int i = PINNED; i < PINNED + 2000; i++) {
                unpin(fixture, i);
            }
            assertThat(fixture.cache.admit(MIB * 3 / 4)).isTrue();
        }
    }

    @Test
    void theLimitIsKept() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU)) {
            fill(fixture, PINNED, 3);
            assertThat(pin(fixture, PINNED, 0)).isFalse();
            assertThat(pin(fixture, PINNED, MIB)).isTrue();
            long bytes = fixture.cache.stats().pinnedBytes();
            assertThat(bytes).isBetween((long) VALUE, 2L * VALUE);
            assertThat(pin(fixture, PINNED, 0)).as("it is pinned already").isTrue();
            assertThat(pin(fixture, PINNED + 1, 2 * bytes - 1)).isFalse();
            assertThat(pin(fixture, PINNED + 1, 2 * bytes)).isTrue();
            assertThat(fixture.cache.stats().pinnedItems()).isEqualTo(2);
            assertThat(unpin(fixture, PINNED + 2)).isFalse();
        }
    }

    @Test
    void aPinLastsUntilTheKeyIsGone() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU)) {
            fill(fixture, PINNED, 3);
            assertThat(pin(fixture, PINNED, MIB)).isTrue();
            fixture.set(0, name(PINNED), new byte[LARGE_BYTES], Item.NEVER);
            assertThat(fixture.cache.stats().pinnedItems()).isEqualTo(1);
            assertThat(fixture.cache.stats().pinnedBytes()).isGreaterThan(LARGE_BYTES);
            fixture.delete(0, name(PINNED));
            assertThat(fixture.cache.stats().pinnedItems()).isZero();
            fixture.set(0, name(PINNED), new byte[1], Item.NEVER);
            assertThat(unpin(fixture, PINNED)).as("another key of this name").isFalse();
            assertThat(pin(fixture, PINNED + 1, MIB)).isTrue();
            fixture.expire(0, name(PINNED + 1), ticker.wallMillis() + 1000);
            ticker.advanceMillis(2000);
            fixture.maintainFully();
            assertThat(fixture.get(0, name(PINNED + 1))).isNull();
            assertThat(fixture.cache.stats().pinnedItems()).isZero();
            assertThat(pin(fixture, PINNED + 2, MIB)).isTrue();
            fixture.cache.flush(0);
            assertThat(fixture.cache.stats().pinnedItems()).isZero();
            assertThat(fixture.cache.stats().pinnedBytes()).isZero();
            fixture.maintainFully();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }
}

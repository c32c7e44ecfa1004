package io.varve.memory;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.report.CacheStats;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that items of one lifetime share segments, however they got their TTL, so that segments die as a whole. */
final class LifetimeClassesTest {
    private static final int ITEMS = 40_000;
    private static final int VALUE_BYTES = 100;
    private static final int PER_SECOND = 1000;
    private static final long SHORT_MILLIS = 15_000;
    private static final long LONG_MILLIS = 60_000;

    private final ManualTicker ticker = new ManualTicker();

    /** Half of the items live four times as long; when the others have expired, hardly a byte had to be copied. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void itemsOfASegmentExpireTogether(boolean ttlAfterwards) {
        CacheConfig config = CacheConfig.defaults(32 << 20).withShards(2).withSegmentSizeBytes(32 << 10)
                .withTicker(ticker);
        try (CacheFixture fixture = new CacheFixture(Cache.open(config))) {
            for (int i = 0; i < ITEMS; i++) {
                byte[] key = CacheFixture.bytes("key" + i);
                long expireAt = ticker.wallMillis() + (i % 2 == 0 ? SHORT_MILLIS : LONG_MILLIS);
                fixture.set(0, key, new byte[VALUE_BYTES], ttlAfterwards ? Item.NEVER : expireAt);
                if (ttlAfterwards) {
                    assertThat(fixture.expire(0, key, expireAt)).isTrue();
                }
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            CacheStats full = fixture.cache.stats();
            assertThat(full.deadBytes()).as("dead after loading").isLessThan(full.liveBytes() / 20);
            ticker.advanceMillis(SHORT_MILLIS + 2000);
            fixture.maintainFully();
            CacheStats half = fixture.cache.stats();
            assertThat(half.items()).isEqualTo(ITEMS / 2);
            assertThat(half.bytesMoved()).as("bytes moved").isLessThan(half.liveBytes() / 20);
            assertThat(half.deadBytes()).as("dead").isLessThan(half.liveBytes() / 10);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** Begun from nothing, heads are many and small; the pool must not be short of addresses for them. */
    @ParameterizedTest
    @ValueSource(ints = {4, 64})
    void anInitialLoadIsChargedAboutItsData(int shards) {
        CacheConfig config = CacheConfig.defaults(4L << 30).withShards(shards).withTicker(ticker);
        long[] ttls = {15_000, 30_000, 45_000, 60_000};
        try (CacheFixture fixture = new CacheFixture(Cache.open(config))) {
            for (int i = 0; i < 3 * ITEMS; i++) {
                fixture.set(0, CacheFixture.bytes("key" + i), new byte[10 * VALUE_BYTES],
                        ticker.wallMillis() + ttls[i % ttls.length]);
            }
            CacheStats stats = fixture.cache.stats();
            assertThat(stats.chargedBytes()).as("charged").isLessThan(stats.usedBytes() * 11 / 10);
        }
    }

    /** A cache that may hold far more than it does spends no more on dead bytes than a small one. */
    @ParameterizedTest
    @CsvSource({"67108864, 8", "805306368, 8", "4294967296, 8", "68719476736, 8", "1073741824, 32"})
    void littleDataInALargeCacheHasFewDeadBytes(long maxMemoryBytes, int shards) {
        CacheConfig config = CacheConfig.defaults(maxMemoryBytes).withShards(shards).withTicker(ticker);
        long[] ttls = {15_000, 30_000, 45_000, 60_000};
        try (CacheFixture fixture = new CacheFixture(Cache.open(config))) {
            long dead = 0;
            long live = 0;
            for (int second = 0; second < 120; second++) {
                for (int i = 0; i < PER_SECOND; i++) {
                    byte[] key = CacheFixture.bytes("key" + second + "-" + i);
                    fixture.set(0, key, new byte[10 * VALUE_BYTES], ticker.wallMillis() + ttls[i % ttls.length]);
                }
                ticker.advanceMillis(1000);
                fixture.maintainFully();
                if (second >= 60) {
                    CacheStats stats = fixture.cache.stats();
                    dead += stats.deadBytes();
                    live += stats.liveBytes();
                }
            }
            CacheStats stats = fixture.cache.stats();
            assertThat((double) dead / live).as("dead, of what lives").isLessThan(0.10);
            assertThat((double) stats.bytesMoved() / stats.bytesWritten()).as("copied, of what was written")
                    .isLessThan(0.10);
            assertThat(stats.chargedBytes()).as("charged").isLessThan(2 * stats.usedBytes() + (8 << 20));
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }
}

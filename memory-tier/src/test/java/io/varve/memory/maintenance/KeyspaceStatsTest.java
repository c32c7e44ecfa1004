package io.varve.memory.maintenance;

import io.varve.memory.Cache;
import io.varve.memory.collection.FieldTimesTest;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.report.CacheStats;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the counts of maintenance, and the cost of reading them. Confined to the test's thread. */
class KeyspaceStatsTest {
    private static final int PERIOD_MILLIS = (int) (KeyspaceStats.PERIOD_NANOS / 1_000_000);

    /** Maximum number of items examined in vain in all databases of a shard together. */
    private static final long MAX_CLOCK_READS = 4096;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(ExpireAlgorithm algorithm) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(64 << 20).withShards(4).withDatabases(4)
                .withExpireAlgorithm(algorithm).withExpireBaseMillis(60_000).withTicker(ticker)));
    }

    private void set(CacheFixture fixture, int database, int from, int to, long ttlMillis) {
        for (int i = from; i < to; i++) {
            fixture.set(database, CacheFixture.bytes("k" + i), CacheFixture.bytes("value"),
                    ttlMillis == Item.NEVER ? Item.NEVER : ticker.wallMillis() + ttlMillis);
        }
    }

    @ParameterizedTest
    @EnumSource(ExpireAlgorithm.class)
    void reportsReadNoItems(ExpireAlgorithm algorithm) {
        try (CacheFixture fixture = open(algorithm)) {
            long before = LiveRanges.checks();
            set(fixture, 0, 0, 10_000, Item.NEVER);
            set(fixture, 1, 0, 10_000, 500);
            assertThat(LiveRanges.checks()).as("accesses are counted").isGreaterThan(before + 20_000);
            fixture.maintainFully();
            ticker.advanceMillis(600);
            before = LiveRanges.checks();
            CacheStats stats = fixture.cache.stats();
            assertThat(fixture.cache.size(1)).isEqualTo(stats.databases().get(1).items());
            assertThat(LiveRanges.checks()).isEqualTo(before);
            assertThat(stats.items()).isEqualTo(20_000);
            assertThat(stats.expiringItems()).isEqualTo(10_000);
        }
    }

    /** With buckets of a minute nothing is reclaimed before it is counted. */
    @Test
    void maintenanceCountsExpiredItemsOnceASecond() {
        try (CacheFixture fixture = open(ExpireAlgorithm.WHEEL)) {
            fixture.cache.reconfigure(fixture.cache.config().withActiveExpire(false));
            set(fixture, 0, 0, 1000, 500);
            set(fixture, 0, 1000, 3000, 5000);
            fixture.maintainFully();
            ticker.advanceMillis(600);
            fixture.maintainFully();
            assertThat(fixture.cache.stats().expiredUnreclaimed()).as("counted at the start").isZero();
            assertThat(fixture.cache.countExpiredUnreclaimed()).isEqualTo(1000);
            ticker.advanceMillis(PERIOD_MILLIS - 600);
            fixture.maintainFully();
            assertThat(fixture.cache.stats().expiredUnreclaimed()).isEqualTo(1000);
            ticker.advanceMillis(10_000);
            fixture.maintainFully();
            assertThat(fixture.cache.stats().expiredUnreclaimed()).isEqualTo(3000);
            assertThat(fixture.cache.countExpiredUnreclaimed()).isEqualTo(3000);
        }
    }

    @Test
    void averageTtlIsThatOfTheDatabase() {
        try (CacheFixture fixture = open(ExpireAlgorithm.WHEEL)) {
            set(fixture, 0, 0, 1000, Item.NEVER);
            set(fixture, 1, 0, 1000, 100_000);
            set(fixture, 2, 0, 1000, 900_000);
            fixture.maintainFully();
            ticker.advanceMillis(PERIOD_MILLIS);
            fixture.maintainFully();
            CacheStats stats = fixture.cache.stats();
            assertFigures(stats.databases().get(0), 1000, 0, 0);
            assertFigures(stats.databases().get(1), 1000, 1000, 99_000);
            assertThat(stats.databases().get(2).averageTtlMillis()).isCloseTo(899_000, within(1L));
            assertFigures(stats.databases().get(3), 0, 0, 0);
            assertThat(stats.databases().get(0).indexBytes()).isPositive();
            assertThat(stats.databases().get(3).indexBytes()).isZero();
            assertThat(stats.databases().stream().mapToLong(CacheStats.Database::indexBytes).sum())
                    .isEqualTo(stats.indexBytes());
            fixture.cache.flush(1);
            assertFigures(fixture.cache.stats().databases().get(1), 0, 0, 0);
        }
    }

    /**
     * Most items examined by time are hashes whose fields have times and whose keys have none, except one key in each
     * database: the search for it among them is limited.
     */
    @Test
    void samplingExpiringKeysReadsFewHashes() {
        int hashes = 60_000;
        int databases = 16;
        try (CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(64 << 20).withShards(1)
                .withDatabases(databases).withExpireBaseMillis(60_000).withTicker(ticker)))) {
            fixture.cache.reconfigure(fixture.cache.config().withActiveExpire(false));
            byte[] hash = FieldTimesTest.packed(Item.NEVER, ticker.wallMillis() + 1_000_000);
            for (int i = 0; i < hashes; i++) {
                assertThat(
                        fixture.restore(i % databases, CacheFixture.bytes("h" + i), ItemType.HASH, Item.TIMED, hash, 0,
                                Item.NEVER, 1))
                        .isTrue();
            }
            for (int database = 0; database < databases; database++) {
                set(fixture, database, 0, 1, 1_000_000);
            }
            fixture.maintainFully();
            assertThat(fixture.cache.stats().expiringItems()).isEqualTo(databases);
            long before = LiveRanges.checks();
            fixture.maintainFully();
            long idle = LiveRanges.checks() - before;
            ticker.advanceMillis(PERIOD_MILLIS);
            before = LiveRanges.checks();
            fixture.maintainFully();
            long accesses = LiveRanges.checks() - before - idle;
            // A few thousand of the sampled ones are examined, with a few accesses each; finding all would take some
            // sixty thousand per database.
            assertThat(accesses).isBetween(MAX_CLOCK_READS / 2, MAX_CLOCK_READS * 20);
        }
    }

    private static void assertFigures(CacheStats.Database database, long items, long expiring, long averageTtlMillis) {
        assertThat(database.items()).isEqualTo(items);
        assertThat(database.expiringItems()).isEqualTo(expiring);
        assertThat(database.averageTtlMillis()).isEqualTo(averageTtlMillis);
    }
}

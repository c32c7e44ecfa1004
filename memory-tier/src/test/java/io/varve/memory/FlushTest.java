package io.varve.memory;

import java.util.concurrent.TimeUnit;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.Ticker;
import io.varve.memory.report.CacheStats;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests how the memory of flushed databases is freed. Confined to the test's thread. */
class FlushTest {
    private static final int ITEMS = 60_000;
    private static final int VALUE_BYTES = 100;
    private static final int SEGMENT_BYTES = 64 << 10;

    /**
     * A clock that advances by two microseconds with each reading, so that work is done in slices. Confined to the
     * test's thread.
     */
    private static final class SteppingTicker implements Ticker {
        private long nanos = 1;

        @Override
        public long wallMillis() {
            return 1_700_000_000_000L + TimeUnit.NANOSECONDS.toMillis(nanos);
        }

        @Override
        public long nanoTime() {
            nanos += 2000;
            return nanos;
        }
    }

    private static CacheFixture open() {
        return new CacheFixture(
                Cache.open(CacheConfig.defaults(32L << 20).withShards(2).withSegmentSizeBytes(SEGMENT_BYTES)
                        .withTicker(new SteppingTicker())));
    }

    private static void fill(CacheFixture fixture, int database, int items) {
        for (int i = 0; i < items; i++) {
            assertThat(fixture.cache.admit(VALUE_BYTES + 200)).isTrue();
            fixture.set(database, CacheFixture.bytes("key " + i), new byte[VALUE_BYTES], Item.NEVER);
        }
    }

    /** Reclaims to the end; @return rounds in which a part of the items was left */
    private static int reclaim(CacheFixture fixture, long untilLiveBytes, boolean watch) {
        CacheStats before = fixture.cache.stats();
        int partial = 0;
        for (int round = 0; fixture.cache.stats().liveBytes() > untilLiveBytes; round++) {
            assertThat(round).as("rounds").isLessThan(100_000);
            fixture.cache.maintain();
            CacheStats now = fixture.cache.stats();
            double left = (double) now.liveBytes() / before.liveBytes();
            if (left > 0.1 && left < 0.9) {
                partial++;
                if (watch) {
                    assertThat((double) now.segmentsInUse() / before.segmentsInUse())
                            .as("segments with %.2f left", left)
                            .isLessThan(left + 0.3);
                }
            }
        }
        return partial;
    }

    /**
     * There are sixteen spare databases: further flushes have to wait for some to be reclaimed, but not for the large
     * one.
     */
    @Test
    void smallFlushesDoNotWaitForALargeOne() {
        try (CacheFixture fixture = open()) {
            fill(fixture, 0, ITEMS);
            long full = fixture.cache.stats().liveBytes();
            fixture.cache.flush(0);
            for (int i = 0; i < 40; i++) {
                fill(fixture, 1, 10);
                fixture.cache.flush(1);
                fixture.cache.flush(2);
            }
            assertThat(fixture.cache.size(1)).isZero();
            assertThat((double) fixture.cache.stats().liveBytes() / full).as("of the large one is left")
                    .isGreaterThan(0.5);
            reclaim(fixture, 0, false);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** There are as many spare databases as databases: the second flush of all waits until enough are reclaimed. */
    @Test
    void allDatabasesAreFlushedTogether() {
        try (CacheFixture fixture = open()) {
            int databases = fixture.cache.databaseCount();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < databases; i++) {
                    fill(fixture, i, 50);
                }
                fixture.cache.flushAll();
                for (int i = 0; i < databases; i++) {
                    assertThat(fixture.cache.size(i)).isZero();
                }
            }
            reclaim(fixture, 0, false);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void memoryIsReleasedAsItemsAreFreed() {
        try (CacheFixture fixture = open()) {
            fill(fixture, 0, ITEMS);
            fill(fixture, 3, ITEMS / 4);
            fixture.cache.flushAll();
            assertThat(reclaim(fixture, 0, true)).as("rounds on the way").isGreaterThan(3);
            assertThat(fixture.cache.stats().bytesMoved()).isZero();
            assertThat(fixture.cache.stats().segmentsCleaned()).as("nothing was cleaned").isZero();
            assertThat(fixture.cache.stats().bytesReclaimed()).isZero();
            assertThat(fixture.cache.stats().reclaimCost()).isZero();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void aFewItemsOfAnotherDatabaseAreMoved() {
        try (CacheFixture fixture = open()) {
            fill(fixture, 0, ITEMS);
            fill(fixture, 1, ITEMS / 40);
            long others = fixture.cache.stats().liveBytes() * 2 / 41;
            fixture.cache.flush(0);
            fill(fixture, 2, 1);
            assertThat(reclaim(fixture, others, false)).isGreaterThan(3);
            fixture.maintainFully();
            for (int i = 0; i < ITEMS / 40; i++) {
                assertThat(fixture.get(1, CacheFixture.bytes("key " + i))).hasSize(VALUE_BYTES);
            }
            assertThat(fixture.cache.size(1)).isEqualTo(ITEMS / 40);
            assertThat(fixture.cache.size(2)).isEqualTo(1);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void manyItemsOfAnotherDatabaseStayWhereTheyAreUntilTheCleanerComes() {
        try (CacheFixture fixture = open()) {
            fill(fixture, 0, ITEMS / 4);
            fill(fixture, 1, ITEMS);
            fixture.cache.flush(0);
            fixture.maintainFully();
            // Items that shared a segment with evicted ones.
            assertThat(fixture.cache.stats().bytesMoved()).isLessThan(4 * SEGMENT_BYTES);
            assertThat(fixture.cache.size(1)).isEqualTo(ITEMS);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void largeItemsAreFlushed() {
        try (CacheFixture fixture = open()) {
            fill(fixture, 0, ITEMS / 10);
            for (int i = 0; i < 20; i++) {
                assertThat(fixture.cache.admit(300_000)).isTrue();
                fixture.set(0, CacheFixture.bytes("large " + i), new byte[200_000], Item.NEVER);
            }
            fixture.cache.flushAll();
            fixture.maintainFully();
            assertThat(fixture.cache.stats().datasetBytes()).isZero();
            assertThat(fixture.cache.stats().liveBytes()).isZero();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }
}

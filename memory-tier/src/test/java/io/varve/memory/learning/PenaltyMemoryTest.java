package io.varve.memory.learning;

import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.report.MemoryCurve;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the memory of penalty tracking and access recording, and when it is charged. Confined to the test's thread. */
final class PenaltyMemoryTest extends PenaltyHarness {
    /** The memory of a class whose histograms are as long as they get. */
    private static final long MAX_HISTOGRAM_BYTES = 94 << 10;

    /** The paper's Table 3 has 25.08 MB at a set of 10 GB, 0.24 %. */
    @Test
    void trackingTakesAtMostAFourHundredthOfTenGigabytes() {
        long memory = 10L << 30;
        long histograms = PenaltyRanges.MAX_CLASSES * MAX_HISTOGRAM_BYTES;
        try (CacheFixture fixture = open(CacheConfig.defaults(memory).withTicker(ticker).withPenalties(TRACKED)
                .withCurves(new CurveSettings(true, CurveSettings.USUAL_WINDOW)))) {
            fixture.maintainFully();
            long tables = report(fixture.cache).bytes();
            long recorder = Objects.requireNonNull(fixture.cache.curve(MemoryCurve.ALL_CLASSES)).recorderBytes();
            assertThat(tables).as("what is remembered, and what waits").isBetween(16_000_000L, 20_000_000L);
            assertThat(tables + recorder + histograms).isBetween(22_000_000L, 26_000_000L);
        }
    }

    /** The recorder of accesses has histograms for a class when something of it was drawn. */
    @Test
    void recorderMemoryOfAClassIsChargedAfterItsFirstWindow() {
        try (CacheFixture fixture = open(config(64 * MIB).withCurves(new CurveSettings(true, 10_000)))) {
            set(fixture, NAME, 100);
            read(fixture, 20_000);
            read(fixture, 20_000);
            long recorder = Objects.requireNonNull(fixture.cache.curve(MemoryCurve.ALL_CLASSES)).recorderBytes();
            long used = fixture.cache.stats().usedBytes();
            hint(fixture, NAME, 5);
            read(fixture, 20_000);
            long more = Objects.requireNonNull(fixture.cache.curve(MemoryCurve.ALL_CLASSES)).recorderBytes() - recorder;
            assertThat(more).isBetween(7_000L, 9_000L);
            assertThat(fixture.cache.stats().usedBytes() - used).isEqualTo(more);
            fixture.cache.reconfigure(fixture.cache.config().withCurves(CurveSettings.OFF));
            assertThat(fixture.cache.stats().usedBytes()).as("all of it is given back").isEqualTo(used - recorder);
        }
    }

    /** As a window ends, histograms grow with the time for which items have been waited for. */
    @Test
    void recorderMemoryForFollowedKeysIsChargedAfterTheWindow() {
        int keys = 20_000;
        try (CacheFixture fixture = open(config(64 * MIB))) {
            for (int key = 0; key < keys; key++) {
                set(fixture, CacheFixture.bytes("once" + key), 100);
            }
            set(fixture, NAME, 100);
            fixture.cache.reconfigure(fixture.cache.config().withCurves(new CurveSettings(true, 10_000)));
            read(fixture, 20_000);
            read(fixture, 20_000);
            long min = recorderBytes(fixture);
            long used = fixture.cache.stats().usedBytes();
            for (int key = 0; key < keys; key++) {
                fixture.get(0, CacheFixture.bytes("once" + key));
            }
            fixture.cache.maintain();
            long more = recorderBytes(fixture) - min;
            assertThat(more).as("of one histogram").isBetween(2000L, 8000L);
            assertThat(fixture.cache.stats().usedBytes() - used).isEqualTo(more);
        }
    }

    private static long recorderBytes(CacheFixture fixture) {
        return Objects.requireNonNull(fixture.cache.curve(MemoryCurve.ALL_CLASSES)).recorderBytes();
    }

    private static void read(CacheFixture fixture, int times) {
        for (int i = 0; i < times; i++) {
            fixture.get(0, NAME);
        }
        fixture.cache.maintain();
    }

    @Test
    void switchedOffTrackingTakesNoMemory() {
        try (CacheFixture fixture = open(config(8 * MIB).withPenalties(PenaltySettings.OFF))) {
            Cache cache = fixture.cache;
            assertThat(cache.penalties()).isNull();
            assertThat(cache.itemClasses()).isEqualTo(1);
            long charged = cache.stats().chargedBytes();
            long used = cache.stats().usedBytes();
            cache.reconfigure(cache.config().withPenalties(TRACKED));
            PenaltyReport report = report(cache);
            assertThat(report.bytes()).isEqualTo(8L * MIB / 128 + 8L * MIB / 256);
            assertThat(cache.stats().chargedBytes()).isEqualTo(charged + report.bytes());
            assertThat(cache.stats().usedBytes()).isEqualTo(used + report.bytes());
            cache.reconfigure(cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_PENALTY)
                    .withPenalties(PenaltySettings.OFF));
            assertThat(report(cache)).as("the policy needs it").isNotNull();
            assertThat(Objects.requireNonNull(cache.curve(MemoryCurve.ALL_CLASSES)).isKnown()).isFalse();
            fill(fixture, NAME, 5);
            assertThat(classOf(fixture, NAME)).isPositive();
            cache.reconfigure(cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU));
            assertThat(cache.penalties()).isNull();
            assertThat(cache.curve(MemoryCurve.ALL_CLASSES)).isNull();
            assertThat(classOf(fixture, NAME)).as("no class has a known cost").isZero();
            fixture.delete(0, NAME);
            fixture.cache.returnFreeMemorySoon();
            fixture.maintainFully();
            assertThat(cache.stats().chargedBytes()).isLessThanOrEqualTo(charged + 10_000);
            assertThat(cache.stats().usedBytes()).isLessThanOrEqualTo(used + 10_000);
            cache.reconfigure(cache.config().withPenalties(TRACKED));
            assertThat(report(cache).measured()).as("starts over").isZero();
        }
    }

    /** A thread that changes a setting does not wait for memory to be reclaimed. */
    @Test
    void inAFullCacheMaintenanceAllocatesTheTables() {
        try (CacheFixture fixture = open(config(8 * MIB).withPenalties(PenaltySettings.OFF)
                .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU))) {
            IntStream.range(0, 30_000).forEach(i -> set(fixture, CacheFixture.bytes("k" + i), 500));
            assertThat(fixture.cache.stats().evicted()).isPositive();
            fixture.cache.reconfigure(fixture.cache.config().withPenalties(TRACKED));
            ticker.advanceMillis(2000);
            fixture.maintainFully();
            assertThat(report(fixture.cache).bytes()).as("remembered, and waiting")
                    .isEqualTo(8L * MIB / 128 + 8L * MIB / 256);
            assertThat(fixture.cache.stats().chargedBytes()).isLessThanOrEqualTo(8L * MIB);
            fill(fixture, NAME, 5);
            assertThat(classOf(fixture, NAME)).isEqualTo(RANGES.classOf(5000));
        }
    }

    /** Tables are in proportion: even the smallest memories have space for items. */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"ALLKEYS_LRU", "ALLKEYS_PENALTY", "ALLKEYS_HYPERBOLIC"})
    void withLittleMemoryNoWriteIsRefused(EvictionPolicy policy) {
        for (int shards : List.of(1, 4, 8, 32)) {
            try (CacheFixture fixture = open(CacheConfig.defaults(MIB).withShards(shards).withHashSeed(7)
                    .withTicker(ticker).withEvictionPolicy(policy))) {
                for (int i = 0; i < 20_000; i++) {
                    byte[] name = CacheFixture.bytes("k" + i);
                    if (fixture.get(0, name) == null) {
                        ticker.advanceMillis(i % 2 * 5L);
                        set(fixture, name, 200);
                    }
                    if (i % 100 == 0) {
                        fixture.cache.maintain();
                    }
                }
                assertThat(fixture.cache.stats().items()).as("%s shards", shards).isGreaterThan(1500);
                assertThat(fixture.cache.stats().chargedBytes()).isLessThanOrEqualTo(MIB);
                assertThat(fixture.cache.checkIntegrity()).isEmpty();
            }
        }
    }
}

package io.varve.memory.learning;

import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.report.CacheStats;
import io.varve.memory.report.MemoryCurve;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests the miss-ratio curve that a cache learns from its own accesses, and its accuracy. Confined to the test's
 * thread.
 */
final class CurveTest {
    private static final int MIB = 1 << 20;
    private static final CurveSettings RECORDED = new CurveSettings(true, 100_000);
    private static final int USUAL_READS = 250_000;
    private static final int READS = TestBudget.ofInt("varve.curve.reads", USUAL_READS, 4_000_000);
    /** Few reads give few samples: one point is the standard error of 2,500. */
    private static final double TOLERANCE = READS > USUAL_READS ? 0.02 : 0.03;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(long maxMemoryBytes, CurveSettings curves) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(maxMemoryBytes).withShards(4)
                .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU).withEvictionSamples(10).withHashSeed(7)
                .withTicker(ticker).withCurves(curves)));
    }

    private static MemoryCurve curve(CacheFixture fixture) {
        return Objects.requireNonNull(fixture.cache.curve(MemoryCurve.ALL_CLASSES));
    }

    private static byte[] name(int key) {
        return CacheFixture.bytes("key:" + key);
    }

    private static void set(CacheFixture fixture, int key, int valueBytes, long expireAtMillis) {
        assertThat(fixture.cache.admit(valueBytes + 100)).isTrue();
        fixture.set(0, name(key), new byte[valueBytes], expireAtMillis);
    }

    /** Reads, and brings in what is missing. @return the share of the reads that missed */
    private double readThrough(CacheFixture fixture, int reads, IntUnaryOperator keys, IntUnaryOperator valueBytes) {
        fixture.cache.resetStats();
        for (int i = 0; i < reads; i++) {
            if (i % 20 == 0) {
                ticker.advanceMillis(2);
                if (i % 400 == 0) {
                    fixture.cache.maintain();
                }
            }
            int key = keys.applyAsInt(i);
            if (fixture.get(0, name(key)) == null) {
                set(fixture, key, valueBytes.applyAsInt(key), Item.NEVER);
            }
        }
        CacheStats stats = fixture.cache.stats();
        return (double) stats.misses() / (stats.hits() + stats.misses());
    }

    /**
     * The more skewed, the larger the exponent: of a part of the keys that is so small as x, x^(1/exponent) of the
     * reads are.
     */
    @ParameterizedTest
    @CsvSource({"1, 100, 100", "3, 20, 1000"})
    void theCurvePredictsTheMissRatioOfTheCache(double exponent, int minValue, int maxValue) {
        IntUnaryOperator sizes = key -> minValue + Math.floorMod(key * 31, maxValue - minValue + 1);
        long limit = (long) (READS > USUAL_READS ? 16 : 4) * MIB;
        int keys = (int) (1.6 * limit / ((minValue + maxValue) / 2 + 35));
        SplittableRandom random = new SplittableRandom(5);
        IntUnaryOperator requested = _ -> (int) (keys * Math.pow(random.nextDouble(), exponent));
        try (CacheFixture fixture = open(limit, new CurveSettings(true, READS / 10))) {
            // Of keys read for the first time since recording began, the earlier read is unknown: those are to be
            // forgotten.
            readThrough(fixture, 2 * READS, requested, sizes);
            double measured = readThrough(fixture, READS, requested, sizes);
            assertThat(fixture.cache.stats().evicted()).as("there is too little memory").isPositive();
            MemoryCurve curve = curve(fixture);
            if (READS > USUAL_READS) {
                System.out.printf("exponent %.0f, values of %d to %d bytes: misses %.4f, reported %.4f%n", exponent,
                        minValue, maxValue, measured, curve.missRatio(limit));
            }
            assertThat(curve.missRatio(limit)).isCloseTo(measured, within(TOLERANCE));
            assertThat(curve.missRatio(limit / 2.0)).isGreaterThan(measured + 0.05);
            assertThat(curve.missRatio(2.0 * limit)).isLessThan(measured - 0.05);
        }
    }

    @Test
    void withoutTheSettingNothingIsRecorded() {
        try (CacheFixture fixture = open(8 * MIB, CurveSettings.OFF)) {
            assertThat(fixture.cache.curve(MemoryCurve.ALL_CLASSES)).isNull();
            long charged = fixture.cache.stats().chargedBytes();
            long used = fixture.cache.stats().usedBytes();
            fixture.cache.reconfigure(fixture.cache.config().withCurves(RECORDED));
            MemoryCurve curve = curve(fixture);
            assertThat(curve.isKnown()).isFalse();
            assertThat(curve.missRatio(1e9)).isEqualTo(1);
            assertThat(curve.recorderBytes()).isBetween(80_000L, 100_000L);
            assertThat(fixture.cache.stats().chargedBytes()).isEqualTo(charged + curve.recorderBytes());
            assertThat(fixture.cache.stats().usedBytes()).isEqualTo(used + curve.recorderBytes());
            fixture.get(0, name(1));
            fixture.cache.reconfigure(fixture.cache.config().withCurves(CurveSettings.OFF));
            assertThat(fixture.cache.curve(MemoryCurve.ALL_CLASSES)).isNull();
            assertThat(fixture.cache.stats().chargedBytes()).isEqualTo(charged);
            fixture.get(0, name(1));
            fixture.cache.reconfigure(fixture.cache.config().withCurves(RECORDED));
            assertThat(curve(fixture).accesses()).as("starts over").isZero();
        }
    }

    @Test
    void recorderMemoryFollowsMaxmemory() {
        try (CacheFixture fixture = open(8 * MIB, RECORDED)) {
            long small = curve(fixture).recorderBytes();
            long others = fixture.cache.stats().chargedBytes() - small;
            fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(12 * MIB));
            assertThat(curve(fixture).recorderBytes()).isEqualTo(small);
            fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(512 * MIB));
            assertThat(curve(fixture).recorderBytes()).as("a 256th").isBetween(1_500_000L, 3_000_000L);
            fixture.cache.reconfigure(fixture.cache.config().withMaxMemoryBytes(8 * MIB));
            assertThat(curve(fixture).recorderBytes()).isEqualTo(small);
            fixture.cache.reconfigure(fixture.cache.config().withCurves(CurveSettings.OFF));
            assertThat(fixture.cache.stats().chargedBytes()).as("nothing stays charged").isEqualTo(others);
        }
    }

    /**
     * Reads all keys repeatedly, so that in enough memory all but the first reads would hit, unless the keys have
     * expired.
     */
    private double reported(Runnable between, CacheFixture fixture) {
        for (int round = 0; round < 40; round++) {
            for (int key = 0; key < 1000; key++) {
                if (fixture.get(0, name(key)) == null) {
                    set(fixture, key, 100, ticker.wallMillis() + 2000);
                }
            }
            ticker.advanceMillis(1);
            between.run();
        }
        return curve(fixture).missRatio(1e9);
    }

    @Test
    void deletedExpiredAndFlushedKeysMissInAnyMemory() {
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            assertThat(reported(() -> {}, fixture)).as("all come again").isLessThan(0.1);
        }
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            assertThat(reported(() -> {
                for (int key = 0; key < 1000; key += 2) {
                    fixture.delete(0, name(key));
                }
            }, fixture)).as("half are deleted").isCloseTo(0.5, within(0.1));
        }
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            assertThat(reported(() -> {
                ticker.advanceMillis(2500);
                fixture.maintainFully();
            }, fixture)).as("all expire").isGreaterThan(0.99);
        }
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            assertThat(reported(() -> ticker.advanceMillis(2500), fixture)).as("all expire, unreported")
                    .isGreaterThan(0.99);
        }
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            assertThat(reported(() -> {
                fixture.cache.flush(0);
                fixture.maintainFully();
            }, fixture)).as("all are flushed").isGreaterThan(0.99);
            assertThat(curve(fixture).followedKeys()).isZero();
        }
    }

    /** As clients do that take out of a cache what they write elsewhere: most of it has been evicted before. */
    @Test
    void keysDeletedAfterEvictionMissInAnyMemory() {
        try (CacheFixture fixture = open(4 * MIB, RECORDED)) {
            for (int round = 0; round < 40; round++) {
                for (int key = 0; key < 1000; key++) {
                    assertThat(fixture.get(0, name(key))).isNull();
                    set(fixture, key, 20_000, Item.NEVER);
                }
                for (int key = 0; key < 1000; key++) {
                    fixture.delete(0, name(key));
                }
                ticker.advanceMillis(1);
            }
            assertThat(fixture.cache.stats().evicted()).as("of 40,000").isGreaterThan(20_000);
            assertThat(curve(fixture).missRatio(1e9)).isGreaterThan(0.99);
        }
    }

    /** As of a session that lives on for as long as it is used: each read puts its end off. */
    @Test
    void aKeyWithAPostponedExpiryDoesNotMiss() {
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            double missed = reported(() -> {
                for (int key = 0; key < 1000; key++) {
                    assertThat(fixture.expire(0, name(key), ticker.wallMillis() + 2000)).isTrue();
                }
                ticker.advanceMillis(1200);
            }, fixture);
            assertThat(fixture.cache.stats().misses()).as("of 40,000 reads").isEqualTo(1000);
            assertThat(missed).isLessThan(0.1);
        }
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            assertThat(reported(() -> {
                for (int key = 0; key < 1000; key++) {
                    assertThat(fixture.expire(0, name(key), ticker.wallMillis() + 10)).isTrue();
                }
                ticker.advanceMillis(1200);
            }, fixture)).as("brought forward").isGreaterThan(0.9);
        }
    }

    /** Also items that were evicted before their time, and would have expired in more memory. */
    @Test
    void aKeptExpiryTimeIsRecorded() {
        try (CacheFixture fixture = open(4 * MIB, RECORDED)) {
            for (int round = 0; round < 40; round++) {
                for (int key = 0; key < 1000; key++) {
                    assertThat(fixture.get(0, name(key))).isNull();
                    set(fixture, key, 20_000, ticker.wallMillis() + 2000);
                    set(fixture, key, 20_000, CacheSession.KEEP);
                }
                ticker.advanceMillis(5000);
            }
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(20_000);
            assertThat(curve(fixture).missRatio(1e9)).isGreaterThan(0.9);
        }
    }

    /** Keys of one name in several databases are several; SWAPDB changes nothing of them. */
    @Test
    void databasesAreDistinguished() {
        try (CacheFixture fixture = open(16 * MIB, RECORDED)) {
            for (int round = 0; round < 60; round++) {
                for (int key = 0; key < 1000; key++) {
                    for (int database = 0; database < 2; database++) {
                        if (fixture.get(database, name(key)) == null) {
                            fixture.set(database, name(key), new byte[100], Item.NEVER);
                        }
                    }
                }
                fixture.cache.swap(0, 1);
            }
            MemoryCurve curve = curve(fixture);
            double all = curve.largestBytes() - curve.fixedBytes();
            assertThat(all / curve.bytesPerItemByte()).as("2,000 items of some 130 bytes")
                    .isBetween(200_000.0, 320_000.0);
            assertThat(curve.items().missRatio(100_000)).as("a loop through twice as much").isGreaterThan(0.9);
        }
    }

    @Test
    void aWindowHasAMinimumLength() {
        assertThatThrownBy(() -> new CurveSettings(true, 0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("mrc-window 0: expected at least 10000");
    }

    /** Few of the keys that are never requested again are followed. */
    @Test
    void keysAccessedOnceAreDropped() {
        try (CacheFixture fixture = open(2 * MIB, new CurveSettings(true, 10_000))) {
            readThrough(fixture, 60_000, i -> i, _ -> 100);
            MemoryCurve curve = curve(fixture);
            assertThat(curve.samplingRate()).isGreaterThan(0.009);
            // Some 26,000 items are in twice the memory, one in a hundred is drawn.
            assertThat(curve.followedKeys()).isBetween(150, 500);
            assertThat(curve.missRatio(2 * MIB)).isEqualTo(1);
        }
    }
}

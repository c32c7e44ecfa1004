package io.varve.memory.learning;

import java.util.Objects;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.item.Item;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The base of tests of a cache that measures the cost of misses, with a clock of its own. Confined to the test's
 * thread.
 */
abstract class PenaltyHarness {
    static final int MIB = 1 << 20;
    static final PenaltySettings TRACKED = new PenaltySettings(true, PenaltyRanges.MAX_CLASSES, 0);
    static final PenaltyRanges RANGES = new PenaltyRanges(PenaltyRanges.MAX_CLASSES);
    static final byte[] NAME = CacheFixture.bytes("a key");

    final ManualTicker ticker = new ManualTicker();

    CacheConfig config(int maxMemoryBytes) {
        return CacheConfig.defaults(maxMemoryBytes).withShards(2).withSegmentSizeBytes(16 << 10).withMaxOpenSegments(2)
                .withHashSeed(7).withTicker(ticker).withPenalties(TRACKED);
    }

    CacheFixture open(CacheConfig config) {
        return new CacheFixture(Cache.open(config));
    }

    static PenaltyReport report(Cache cache) {
        return Objects.requireNonNull(cache.penalties());
    }

    static ClassReport report(Cache cache, int penaltyClass) {
        return report(cache).classes().get(penaltyClass);
    }

    static void set(CacheFixture fixture, byte[] name, int valueBytes) {
        assertThat(fixture.cache.admit(valueBytes + 100)).isTrue();
        fixture.set(0, name, new byte[valueBytes], Item.NEVER);
    }

    /** A read that misses, and a write after so long. */
    void fill(CacheFixture fixture, byte[] name, int millis) {
        assertThat(fixture.get(0, name)).isNull();
        ticker.advanceMillis(millis);
        set(fixture, name, 100);
    }

    static int classOf(CacheFixture fixture, byte[] name) {
        int[] found = new int[1];
        fixture.withItem(0, name, item -> found[0] = fixture.session.penaltyClass(item));
        return found[0];
    }

    static void hint(CacheFixture fixture, byte[] name, int penaltyClass) {
        fixture.withItem(0, name, item -> fixture.session.penaltyClass(item, penaltyClass));
    }
}

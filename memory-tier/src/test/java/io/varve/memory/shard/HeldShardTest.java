package io.varve.memory.shard;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the work of a cache while another thread's command holds one of two shards. Confined to the test's thread,
 * except for that command.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldShardTest {
    private static final byte[] VALUE = new byte[1000];
    private static final PenaltySettings TRACKED = new PenaltySettings(true, 16, 0);

    private final ManualTicker ticker = new ManualTicker();
    private final Cache cache = Cache.open(CacheConfig.defaults(1 << 20).withShards(2).withSegmentSizeBytes(4096)
            .withMaxOpenSegments(2).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU).withHashSeed(7).withTicker(ticker));

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
    void memoryIsReclaimedInTheOtherShard() throws InterruptedException {
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
    void itemsOfTheOtherShardExpireAndThoseOfTheHeldShardLater() throws InterruptedException {
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

    /** The holder of a shard may wait for the thread that changes the settings. */
    @Test
    void penaltiesAreTrackedInTheOtherShardAtOnceAndInTheHeldShardSoon() throws InterruptedException {
        try (CacheFixture fixture = new CacheFixture(cache)) {
            byte[] its = keysOf(fixture, 0, 1).getFirst();
            byte[] others = keysOf(fixture, 1, 1).getFirst();
            fixture.whileHeld(0, () -> cache.reconfigure(cache.config().withPenalties(TRACKED)));
            fill(fixture, others);
            assertThat(report().measured()).isEqualTo(1);
            fill(fixture, its);
            assertThat(report().measured()).isEqualTo(1);
            followSoon();
            fixture.delete(0, its);
            fill(fixture, its);
            assertThat(report().measured()).isEqualTo(2);
            cache.returnFreeMemorySoon();
            fixture.maintainFully();
            long tables = report().bytes();
            long held = cache.stats().chargedBytes();
            fixture.whileHeld(0, () -> cache.reconfigure(cache.config().withPenalties(PenaltySettings.OFF)));
            assertThat(held - cache.stats().chargedBytes()).as("its tables are still there").isEqualTo(tables / 2);
            followSoon();
            assertThat(held - cache.stats().chargedBytes()).isEqualTo(tables);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    /** The shard has not seen the end of tracking when tracking restarts. */
    @Test
    void countsFromBeforeARestartOfTrackingAreForgotten() throws InterruptedException {
        try (CacheFixture fixture = new CacheFixture(cache)) {
            cache.reconfigure(cache.config().withPenalties(TRACKED));
            List<byte[]> its = keysOf(fixture, 0, 2);
            fill(fixture, its.getFirst());
            assertThat(report().measured()).isEqualTo(1);
            fixture.whileHeld(0, () -> {
                cache.reconfigure(cache.config().withPenalties(PenaltySettings.OFF));
                cache.reconfigure(cache.config().withPenalties(TRACKED));
            });
            followSoon();
            assertThat(report().measured()).isZero();
            fill(fixture, its.getLast());
            assertThat(report().measured()).isEqualTo(1);
        }
    }

    /** Nothing is measured there yet, but a known class of a key stays known, and a client's hint takes effect. */
    @Test
    void classesStayUntilTrackingBeginsInTheShard() throws InterruptedException {
        cache.close();
        Cache one = Cache.open(CacheConfig.defaults(16 << 20).withShards(1).withHashSeed(7).withTicker(ticker)
                .withPenalties(TRACKED));
        try (CollectionsFixture fixture = new CollectionsFixture(one)) {
            fixture.session.writesInto(4);
            fixture.makeHash("hash", 2000, 100, Item.NEVER);
            fixture.session.writesInto(CacheSession.AUTOMATIC);
            one.reconfigure(one.config().withPenalties(PenaltySettings.OFF));
            fixture.plain.whileHeld(0, () -> one.reconfigure(one.config().withPenalties(TRACKED)));
            assertThat(Objects.requireNonNull(one.penalties()).bytes()).as("it has not begun").isZero();
            fixture.transfer("hash", "moved", 0, true);
            fixture.session.writesInto(5);
            fixture.plain.set(0, CacheFixture.bytes("small"), VALUE, Item.NEVER);
            List<ClassReport> classes = Objects.requireNonNull(one.penalties()).classes();
            assertThat(classes.get(4).bytes()).isGreaterThan(2000 * 100);
            assertThat(classes.get(5).bytes()).isGreaterThan(VALUE.length);
            assertThat(classes.get(0).bytes()).as("neither nodes nor root item").isZero();
            fixture.assertSound();
        }
    }

    private PenaltyReport report() {
        return Objects.requireNonNull(cache.penalties());
    }

    /** A read that misses, and a write after a while. */
    private void fill(CacheFixture fixture, byte[] name) {
        assertThat(fixture.get(0, name)).isNull();
        ticker.advanceMillis(5);
        assertThat(cache.admit(2L * VALUE.length)).isTrue();
        fixture.set(0, name, VALUE, Item.NEVER);
    }

    private void followSoon() {
        ticker.advanceMillis(2000);
        cache.maintain();
    }
}

package io.varve.memory.learning;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.InMemoryCache;
import io.varve.memory.collection.HashTree;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.ValueRun;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the penalties that a cache measures, and the classes of its items. Confined to the test's thread. */
final class PenaltyTrackingTest extends PenaltyHarness {
    /** Writes over everything else until a key is evicted. */
    private static void evict(CacheFixture fixture, byte[] name) {
        for (int i = 0; fixture.expireAt(0, name) != null; i++) {
            set(fixture, CacheFixture.bytes("other " + i), 500);
        }
    }

    @Test
    void theTimeFromMissToWriteDeterminesTheClass() {
        try (CacheFixture fixture = open(config(8 * MIB))) {
            assertThat(fixture.cache.itemClasses()).isEqualTo(16);
            for (int millis : new int[] {1, 5, 40, 200, 5000}) {
                byte[] name = CacheFixture.bytes("after " + millis);
                fill(fixture, name, millis);
                assertThat(classOf(fixture, name)).as("after %s ms", millis).isEqualTo(RANGES.classOf(millis * 1000L));
                assertThat(report(fixture.cache, RANGES.classOf(millis * 1000L)).penaltyMicros())
                        .isEqualTo(millis * 1000.0);
            }
            set(fixture, CacheFixture.bytes("never missed"), 100);
            assertThat(classOf(fixture, CacheFixture.bytes("never missed"))).isZero();
            PenaltyReport report = report(fixture.cache);
            assertThat(report.measured()).isEqualTo(5);
            assertThat(report.classes()).hasSize(16);
            ClassReport first = report.classes().get(0);
            assertThat(first.penaltyMicros()).isNaN();
            assertThat(first.suggestedShare()).isNaN();
            assertThat(first.misses()).as("moved to the classes that the writes named").isZero();
            assertThat(first.writes()).isEqualTo(1);
            int fast = RANGES.classOf(1000);
            assertThat(report.classes().get(fast).writes()).isEqualTo(1);
            assertThat(report.classes().get(fast).range()).isEqualTo("0.63 to 1.27 ms");
            fixture.get(0, CacheFixture.bytes("after 1"));
            assertThat(report(fixture.cache, fast).reads()).isEqualTo(2);
            assertThat(report(fixture.cache, fast).misses()).isEqualTo(1);
            fixture.get(0, CacheFixture.bytes("nobody writes it"));
            assertThat(report(fixture.cache, 0).misses()).isEqualTo(1);
            assertThat(report(fixture.cache).classes().stream().mapToDouble(ClassReport::share).sum()).isBetween(0.999,
                    1.001);
        }
    }

    /** Each client that misses a key of unknown class misses an item of the class that the fill then names. */
    @Test
    void allMissesThatAWriteEndsCountForItsClass() {
        try (CacheFixture fixture = open(config(8 * MIB))) {
            for (int i = 0; i < 5; i++) {
                assertThat(fixture.get(0, NAME)).isNull();
            }
            assertThat(report(fixture.cache, 0).misses()).isEqualTo(5);
            ticker.advanceMillis(40);
            set(fixture, NAME, 100);
            int known = RANGES.classOf(40_000);
            assertThat(report(fixture.cache, 0).misses()).isZero();
            assertThat(report(fixture.cache, 0).reads()).isZero();
            assertThat(report(fixture.cache, known).misses()).isEqualTo(5);
            assertThat(report(fixture.cache, known).reads()).isEqualTo(5);
            assertThat(report(fixture.cache).measured()).as("one fill").isEqualTo(1);
        }
    }

    @Test
    void aHintPrecedesTheMeasuredAndThePresentClass() {
        try (CacheFixture fixture = open(config(8 * MIB))) {
            fixture.session.writesInto(3);
            fill(fixture, NAME, 5);
            assertThat(classOf(fixture, NAME)).as("a hint goes before what was measured").isEqualTo(3);
            assertThat(report(fixture.cache, 3).penaltyMicros()).as("and tells what its class costs").isEqualTo(5000);

            fixture.session.writesInto(CacheSession.AUTOMATIC);
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).as("what is written over keeps its class, in place").isEqualTo(3);
            set(fixture, NAME, 900);
            assertThat(classOf(fixture, NAME)).as("and elsewhere").isEqualTo(3);
            set(fixture, NAME, fixture.cache.runThresholdBytes());
            assertThat(classOf(fixture, NAME)).as("and large").isEqualTo(3);
            hint(fixture, NAME, 9);
            assertThat(classOf(fixture, NAME)).isEqualTo(9);
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).as("a hint for a key").isEqualTo(9);

            fixture.delete(0, NAME);
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).as("what was deleted is not remembered").isZero();

            fixture.delete(0, NAME);
            fill(fixture, NAME, 5);
            fixture.session.writesInto(2);
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).as("a hint goes before what there was").isEqualTo(2);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void classesOfEvictedKeysAreRemembered() {
        try (CacheFixture fixture = open(config(2 * MIB).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU))) {
            fill(fixture, NAME, 40);
            int known = classOf(fixture, NAME);
            evict(fixture, NAME);
            assertThat(report(fixture.cache).rememberedKeys()).isPositive();
            long misses = report(fixture.cache, known).misses();
            assertThat(fixture.get(0, NAME)).isNull();
            assertThat(report(fixture.cache, known).misses()).as("the miss is one of its class").isEqualTo(misses + 1);
            // Later than any fill: nothing is measured.
            ticker.advanceMillis(61_000);
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).isEqualTo(known);

            evict(fixture, NAME);
            fill(fixture, NAME, 5);
            assertThat(classOf(fixture, NAME)).as("what was measured goes before what is remembered")
                    .isEqualTo(RANGES.classOf(5000));
        }
    }

    @Test
    void aDemotedKeyIsRestoredWithItsClass() {
        try (CacheFixture fixture = open(config(2 * MIB).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU))) {
            fixture.cache.attachSecondaryTier((_, _, _, _, _) -> true);
            fill(fixture, NAME, 40);
            int known = classOf(fixture, NAME);
            evict(fixture, NAME);
            assertThat(fixture.get(0, NAME)).isNull();
            long measured = report(fixture.cache).measured();
            assertThat(fixture.cache.admit(200)).isTrue();
            assertThat(fixture.restore(0, NAME, ItemType.STRING, 0, new byte[100], 0, Item.NEVER, 0)).isTrue();
            assertThat(classOf(fixture, NAME)).isEqualTo(known);
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).isEqualTo(known);
            assertThat(report(fixture.cache).measured()).as("no fill has followed the miss").isEqualTo(measured);
            byte[] other = CacheFixture.bytes("another key");
            assertThat(fixture.restore(0, other, ItemType.STRING, 0, new byte[100], 0, Item.NEVER, 0, known)).isTrue();
            assertThat(classOf(fixture, other)).as("reported by the secondary tier").isEqualTo(known);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** Before a restart there may have been more classes, and tracking may have been off when the item returned. */
    @Test
    void aRestoredClassIsLimitedToExistingClasses() {
        try (CacheFixture fixture = open(config(8 * MIB).withPenalties(new PenaltySettings(false, 4, 0)))) {
            assertThat(fixture.restore(0, NAME, ItemType.STRING, 0, new byte[100], 0, Item.NEVER, 0, 12)).isTrue();
            fixture.cache.reconfigure(fixture.cache.config().withPenalties(new PenaltySettings(true, 4, 0)));
            assertThat(classOf(fixture, NAME)).isEqualTo(3);
            fixture.session.writesInto(classOf(fixture, NAME));
            assertThat(report(fixture.cache, 3).bytes()).isPositive();
        }
    }

    /**
     * The table of remembered classes has leaves for sixteen, and errs: one key in some hundred seemed to be of a class
     * from 2 to 15, and could not be renamed.
     */
    @Test
    void aRememberedClassIsLimitedToExistingClasses() {
        int keys = 80_000;
        CacheConfig config = config(8 * MIB).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU);
        try (CacheFixture fixture = open(config.withPenalties(new PenaltySettings(true, 2, 0)))) {
            for (int i = 0; i < 2 * keys; i++) {
                byte[] name = CacheFixture.bytes("key " + i % keys);
                set(fixture, name, 300);
                assertThat(classOf(fixture, name)).as("key %s", i).isLessThan(2);
            }
            assertThat(report(fixture.cache).classes().stream().mapToDouble(ClassReport::share).sum()).as("of memory")
                    .isBetween(0.999, 1.001);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** It runs again once there is memory, and finds its miss unchanged. */
    @Test
    void aRefusedWriteIsNotCounted() {
        try (CacheFixture fixture = open(config(2 * MIB))) {
            assertThat(fixture.get(0, NAME)).isNull();
            ticker.advanceMillis(40);
            long writes = report(fixture.cache).classes().stream().mapToLong(ClassReport::writes).sum();
            byte[] value = new byte[400 << 10];
            List<byte[]> others = new ArrayList<>();
            assertThatThrownBy(() -> {
                while (others.size() < 100) {
                    byte[] other = CacheFixture.bytes("other " + others.size());
                    fixture.set(0, other, value, Item.NEVER);
                    others.add(other);
                }
            }).isInstanceOf(CacheFullException.class);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> fixture.set(0, NAME, value, Item.NEVER))
                        .isInstanceOf(CacheFullException.class);
            }
            PenaltyReport refused = report(fixture.cache);
            assertThat(refused.measured()).isZero();
            assertThat(refused.classes().stream().mapToLong(ClassReport::writes).sum() - writes)
                    .isEqualTo(others.size());
            assertThat(refused.classes().get(0).misses()).isEqualTo(1);
            // Another write, over an item that is there, has nothing to do with the one that was refused.
            fixture.set(0, others.get(0), value, Item.NEVER);
            assertThat(classOf(fixture, others.get(0))).isZero();
            PenaltyReport rewritten = report(fixture.cache);
            assertThat(rewritten.measured()).isZero();
            assertThat(rewritten.classes().get(0).writes() - refused.classes().get(0).writes()).isEqualTo(1);
            assertThat(rewritten.classes().get(0).misses()).isEqualTo(1);
            others.forEach(other -> fixture.delete(0, other));
            fixture.set(0, NAME, value, Item.NEVER);
            int measured = RANGES.classOf(40_000);
            assertThat(classOf(fixture, NAME)).isEqualTo(measured);
            assertThat(report(fixture.cache).measured()).isEqualTo(1);
            assertThat(report(fixture.cache, measured).misses()).isEqualTo(1);
            assertThat(report(fixture.cache, measured).writes()).isEqualTo(1);
        }
    }

    /** Whatever is remembered of a key at its miss, and at the write after it. */
    @Test
    void aMissMovesToTheRightClass() {
        CacheConfig small = config(2 * MIB).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU);
        try (CacheFixture fixture = open(small)) {
            SplittableRandom random = new SplittableRandom(3);
            long misses = 0;
            for (int i = 0; i < 60_000; i++) {
                byte[] name = CacheFixture.bytes("k" + random.nextInt(20_000));
                if (fixture.get(0, name) == null) {
                    misses++;
                    // More than one client may find that it is not there, before one of them has it.
                    for (int again = random.nextInt(4); again > 0; again--) {
                        assertThat(fixture.get(0, name)).isNull();
                        misses++;
                    }
                    // Others fill before it, and what is remembered of it may be forgotten, or another's.
                    for (int other = 0; other < 3; other++) {
                        byte[] between = CacheFixture.bytes("k" + random.nextInt(20_000));
                        fixture.session.writesInto(random.nextInt(1, PenaltyRanges.MAX_CLASSES));
                        set(fixture, between, 100);
                    }
                    fixture.session.writesInto(CacheSession.AUTOMATIC);
                    ticker.advanceMillis(random.nextInt(1, 1000));
                    set(fixture, name, 100);
                }
            }
            PenaltyReport report = report(fixture.cache);
            assertThat(report.classes()).allMatch(of -> of.misses() >= 0 && of.reads() >= of.misses());
            assertThat(report.classes().stream().mapToLong(ClassReport::misses).sum()).isEqualTo(misses);
            assertThat(report.classes().get(0).misses()).as("each was measured or hinted, and none so fast").isZero();
        }
    }

    @Test
    void peekCountsNothing() {
        try (CacheFixture fixture = open(config(8 * MIB))) {
            fixture.session.touching(false);
            assertThat(fixture.get(0, NAME)).isNull();
            fixture.session.touching(true);
            assertThat(fixture.expireAt(0, NAME)).isNull();
            ticker.advanceMillis(5);
            set(fixture, NAME, 100);
            fixture.session.touching(false);
            assertThat(fixture.get(0, NAME)).isNotNull();
            PenaltyReport report = report(fixture.cache);
            assertThat(report.measured()).isZero();
            assertThat(report.classes()).allMatch(of -> of.reads() == 0);
        }
    }

    @Test
    void anItemKeepsItsClassWhenItMoves() {
        try (CacheFixture fixture = open(config(8 * MIB))) {
            fixture.session.writesInto(11);
            set(fixture, NAME, 100);
            set(fixture, CacheFixture.bytes("another"), 100);
            fixture.session.writesInto(CacheSession.AUTOMATIC);
            assertThat(fixture.expire(0, NAME, ticker.wallMillis() + 1_000_000)).isTrue();
            assertThat(classOf(fixture, NAME)).as("with an expiry time, moved").isEqualTo(11);
            assertThat(fixture.expire(0, NAME, Item.NEVER)).isTrue();
            for (int bytes : new int[] {90, 3000, 100_000, 10}) {
                fixture.resize(0, NAME, bytes, bytes, (byte) 1);
                assertThat(classOf(fixture, NAME)).as("with %s bytes", bytes).isEqualTo(11);
                assertThat(fixture.cache.checkIntegrity()).isEmpty();
            }
            ValueRun run = Objects.requireNonNull(
                    fixture.cache.newRun(fixture.session.headroom(NAME.length), fixture.cache.runThresholdBytes()));
            fixture.putRun(0, NAME, run, Item.NEVER);
            assertThat(classOf(fixture, NAME)).as("as a run").isEqualTo(11);
            assertThat(report(fixture.cache, 11).bytes()).isGreaterThan(fixture.cache.runThresholdBytes());
            set(fixture, NAME, 100);

            // A cleaner moves it: nearly all that lies beside it dies.
            for (int i = 0; i < 10_000; i++) {
                set(fixture, CacheFixture.bytes("k" + i), 300);
            }
            for (int i = 0; i < 10_000; i++) {
                if (i % 50 != 0) {
                    fixture.delete(0, CacheFixture.bytes("k" + i));
                }
            }
            long moved = fixture.cache.stats().bytesMoved();
            ticker.advanceMillis(10_000);
            fixture.maintainFully();
            assertThat(fixture.cache.stats().bytesMoved()).isGreaterThan(moved);
            assertThat(classOf(fixture, NAME)).as("cleaned").isEqualTo(11);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            fixture.delete(0, NAME);
            fixture.delete(0, CacheFixture.bytes("another"));
            assertThat(report(fixture.cache, 11).bytes()).isZero();
        }
    }

    /** Its nodes are items that count for it. */
    @Test
    void aLargeCollectionHasOneClass() {
        try (CollectionsFixture fixture = new CollectionsFixture(Cache.open(config(16 * MIB)))) {
            fixture.session.writesInto(4);
            fixture.makeHash("hash", 2000, 100, Item.NEVER);
            fixture.session.writesInto(CacheSession.AUTOMATIC);
            long bytes = report(fixture.cache, 4).bytes();
            assertThat(bytes).isGreaterThan(2000 * 100);
            fixture.transfer("hash", "moved", 0, true);
            // One that lies in another shard is copied there, and the first goes in slices.
            fixture.plain.maintainFully();
            assertThat(report(fixture.cache, 4).bytes()).isBetween(bytes - 1000, bytes + 1000);
            fixture.transfer("moved", "copied", 0, false);
            assertThat(report(fixture.cache, 4).bytes()).isBetween(2 * bytes - 2000, 2 * bytes + 2000);
            fixture.with("copied", new HashTree(), tree -> fixture.put(tree, "one more", "x".repeat(2000)));
            assertThat(report(fixture.cache, 4).bytes()).isGreaterThan(2 * bytes);
            fixture.assertSound();
            fixture.withTimes("copied", ticker.wallMillis() + 500_000,
                    tree -> fixture.put(tree, "with a time", "x", ticker.wallMillis() + 500_000));
            assertThat(classOf(fixture.plain, CacheFixture.bytes("copied"))).isEqualTo(4);
            fixture.assertSound();

            hint(fixture.plain, CacheFixture.bytes("copied"), 7);
            assertThat(report(fixture.cache, 7).bytes()).as("the root item").isBetween(1L, 500L);
            fixture.assertSound();
            fixture.cache.flush(0);
            fixture.assertNothingLives();
            assertThat(report(fixture.cache).classes()).allMatch(of -> of.bytes() == 0);
        }
    }

    /** Nodes that are too large for a segment are found where large items are sampled for eviction. */
    @Test
    void largeNodesHaveTheClassOfTheirCollection() {
        try (CollectionsFixture fixture = new CollectionsFixture(
                Cache.open(config(8 * MIB).withShards(1).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)))) {
            int fieldBytes = 2 * fixture.cache.runThresholdBytes();
            fixture.makeHash("hash", 4, fieldBytes, Item.NEVER);
            hint(fixture.plain, CacheFixture.bytes("hash"), 7);
            assertThat(report(fixture.cache, 7).bytes()).as("the root item").isBetween(1L, 500L);
            for (int i = 0; report(fixture.cache, 7).bytes() < 4L * fieldBytes; i++) {
                assertThat(i).as("writes, while it has %s bytes", report(fixture.cache, 7).bytes()).isLessThan(100_000);
                set(fixture.plain, CacheFixture.bytes("other " + i), 500);
                if (i % 200 == 0) {
                    // It is the one that is in use.
                    ticker.advanceMillis(1000);
                    assertThat(fixture.with("hash", new HashTree(), HashTree::size)).isEqualTo(4);
                }
            }
            assertThat(report(fixture.cache, 0).bytes()).as("the others").isLessThan(8L * MIB - 4L * fieldBytes);
            fixture.assertSound();
        }
    }

    @Test
    void aClassOutOfRangeIsRefused() {
        try (CacheFixture fixture = open(config(8 * MIB).withPenalties(new PenaltySettings(true, 4, 0)))) {
            assertThat(fixture.cache.itemClasses()).isEqualTo(4);
            fixture.session.writesInto(2);
            assertThatThrownBy(() -> fixture.session.writesInto(4)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("0 to 3");
            set(fixture, NAME, 100);
            assertThat(classOf(fixture, NAME)).as("nothing has changed").isEqualTo(2);
            assertThatThrownBy(() -> hint(fixture, NAME, 4)).isInstanceOf(IllegalArgumentException.class);
            assertThat(classOf(fixture, NAME)).isEqualTo(2);
            fixture.delete(0, NAME);
            fixture.session.writesInto(CacheSession.AUTOMATIC);
            fill(fixture, NAME, 600);
            assertThat(classOf(fixture, NAME)).as("the last has all that is longer").isEqualTo(3);
            CacheConfig config = fixture.cache.config();
            assertThatThrownBy(() -> fixture.cache.reconfigure(config.withPenalties(TRACKED)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("penalty-classes");
        }
    }

    /** The place that keys come from gets twice as slow: those of them that are still there are worth it at once. */
    @Test
    void aClassHasThePresentCostOfItsKeys() {
        CacheConfig config = config(2 * MIB).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)
                .withCurves(new CurveSettings(false, CurveSettings.MIN_WINDOW));
        try (CacheFixture fixture = open(config)) {
            int before = RANGES.classOf(1000);
            int after = RANGES.classOf(2000);
            for (int i = 0; i < 50; i++) {
                fill(fixture, CacheFixture.bytes("slow " + i), 1);
            }
            endPeriod(fixture);
            assertThat(report(fixture.cache, before).penaltyMicros()).isEqualTo(1000);
            for (int i = 0; i < 50; i++) {
                evict(fixture, CacheFixture.bytes("slow " + i));
                fill(fixture, CacheFixture.bytes("slow " + i), 2);
                assertThat(classOf(fixture, CacheFixture.bytes("slow " + i))).isEqualTo(after);
            }
            endPeriod(fixture);
            assertThat(report(fixture.cache, after).penaltyMicros()).isEqualTo(2000);
            assertThat(report(fixture.cache, before).penaltyMicros()).as("of those that were filled before")
                    .isEqualTo(2000);
        }
    }

    private void endPeriod(CacheFixture fixture) {
        for (int i = 0; i < CurveSettings.MIN_WINDOW; i++) {
            fixture.get(0, CacheFixture.bytes("asked for, and nowhere"));
        }
        ticker.advanceMillis(200);
        fixture.cache.maintain();
    }

    /** For policies that weigh items by it. */
    @Test
    void missCosts_arePublishedAtTheEndOfAPeriod() {
        CacheConfig config = config(8 * MIB).withEvictionPolicy(EvictionPolicy.ALLKEYS_HYPERBOLIC)
                .withCurves(new CurveSettings(false, CurveSettings.MIN_WINDOW));
        try (CacheFixture fixture = open(config)) {
            ShardContext context = ((InMemoryCache) fixture.cache).context();
            fill(fixture, NAME, 40);
            fill(fixture, CacheFixture.bytes("fast"), 1);
            ticker.advanceMillis(200);
            fixture.cache.maintain();
            assertThat(context.missMicros()).isNull();
            for (int i = 0; i < CurveSettings.MIN_WINDOW; i++) {
                fixture.get(0, NAME);
            }
            ticker.advanceMillis(200);
            fixture.cache.maintain();
            double[] reported = Objects.requireNonNull(context.missMicros());
            assertThat(reported).hasSize(16);
            assertThat(reported[RANGES.classOf(40_000)]).isEqualTo(40_000);
            assertThat(reported[RANGES.classOf(1000)]).isEqualTo(1000);
            assertThat(reported[0]).as("of what nothing was measured").isEqualTo(20_500);
            assertThat(report(fixture.cache, 0).penaltyMicros()).isNaN();
            assertThat(report(fixture.cache, RANGES.classOf(1000)).penaltyMicros()).isEqualTo(1000);
            fixture.cache.reconfigure(fixture.cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)
                    .withPenalties(PenaltySettings.OFF));
            assertThat(context.missMicros()).isNull();
        }
    }
}

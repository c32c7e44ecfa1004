package io.varve.memory.learning;

import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.MemoryCurve;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.shard.ItemFootprint;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the benefit of partitioning memory by the cost of misses. Confined to the test's thread. */
final class PartitionControllerTest {
    private static final int MIB = 1 << 20;
    private static final int MEMORY = 4 * MIB;
    private static final int VALUE_BYTES = 200;
    private static final int CHEAP_MILLIS = 1;
    private static final int DEAR_MILLIS = 10;
    private static final PenaltyRanges RANGES = new PenaltyRanges(PenaltyRanges.MAX_CLASSES);
    private static final int CHEAP = RANGES.classOf(1000 * CHEAP_MILLIS);
    private static final int DEAR = RANGES.classOf(1000 * DEAR_MILLIS);
    /** Keys of each kind: all items together would take twice the memory. */
    private static final int KEYS = MEMORY / (VALUE_BYTES + 40);
    private static final int READS = 150_000;
    private static final int HINTED_CHEAP = 3;
    private static final int HINTED_DEAR = 2;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(EvictionPolicy policy, int floorPercent) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(MEMORY).withShards(4).withHashSeed(7)
                .withEvictionSamples(10).withTicker(ticker).withEvictionPolicy(policy)
                .withPenalties(new PenaltySettings(false, PenaltyRanges.MAX_CLASSES, floorPercent))
                .withCurves(new CurveSettings(false, 20_000))));
    }

    /**
     * Reads through, half of the reads for keys that cost ten times as much. @return what the misses of the second half
     * of the reads cost, ms
     */
    private long cost(CacheFixture fixture, boolean hints) {
        SplittableRandom random = new SplittableRandom(5);
        long cost = 0;
        for (int i = 0; i < READS; i++) {
            boolean dear = random.nextBoolean();
            int key = (int) (KEYS * Math.pow(random.nextDouble(), 2));
            byte[] name = CacheFixture.bytes((dear ? "dear" : "cheap") + key);
            if (i % 100 == 0) {
                ticker.advanceMillis(10);
                fixture.cache.maintain();
            }
            if (fixture.get(0, name) == null) {
                int millis = dear ? DEAR_MILLIS : CHEAP_MILLIS;
                ticker.advanceMillis(millis);
                cost += i < READS / 2 ? 0 : millis;
                if (hints) {
                    fixture.session.writesInto(dear ? HINTED_DEAR : HINTED_CHEAP);
                }
                assertThat(fixture.cache.admit(VALUE_BYTES + 100)).isTrue();
                fixture.set(0, name, new byte[VALUE_BYTES], Item.NEVER);
            }
        }
        assertThat(fixture.cache.stats().evicted()).isPositive();
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
        return cost;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void missesCostLessThanUnderLru(boolean hints) {
        long lru;
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_LRU, 0)) {
            lru = cost(fixture, false);
        }
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_PENALTY, 0)) {
            long divided = cost(fixture, hints);
            assertThat(divided).as("under LRU %s ms", lru).isLessThan(lru * 65 / 100);
            PenaltyReport report = Objects.requireNonNull(fixture.cache.penalties());
            assertThat(report.divisions()).isGreaterThan(5);
            ClassReport dear = report.classes().get(hints ? HINTED_DEAR : DEAR);
            ClassReport cheap = report.classes().get(hints ? HINTED_CHEAP : CHEAP);
            assertThat(dear.suggestedShare()).isGreaterThan(0.7);
            assertThat(dear.share()).isGreaterThan(0.7);
            assertThat(dear.penaltyMicros()).isEqualTo(1000.0 * DEAR_MILLIS);
            assertThat(cheap.penaltyMicros()).isEqualTo(1000.0 * CHEAP_MILLIS);
        }
    }

    /** Nothing is worth keeping of the cheap ones but what the floor says. */
    @Test
    void aFloorIsKept() {
        double[] without = cheapShares(0);
        double[] with = cheapShares(PenaltySettings.MAX_FLOOR_PERCENT);
        double floor = PenaltySettings.MAX_FLOOR_PERCENT / 100.0;
        assertThat(without[0]).as("suggested").isLessThan(floor / 2);
        assertThat(with[0]).as("suggested").isBetween(floor * 0.99, floor * 2);
        assertThat(with[1]).as("what they have").isGreaterThan(floor * 0.9);
    }

    /**
     * Cheap keys are read in a loop through twice the memory: no memory that they could get would help. @return the
     * share that is suggested for them, and that they have
     */
    private double[] cheapShares(int floorPercent) {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_PENALTY, floorPercent)) {
            SplittableRandom random = new SplittableRandom(6);
            for (int i = 0; i < READS; i++) {
                boolean dear = random.nextBoolean();
                int key = dear ? (int) (KEYS * Math.pow(random.nextDouble(), 2)) : i % (4 * KEYS);
                byte[] name = CacheFixture.bytes((dear ? "dear" : "cheap") + key);
                if (i % 100 == 0) {
                    ticker.advanceMillis(10);
                    fixture.cache.maintain();
                }
                if (fixture.get(0, name) == null) {
                    ticker.advanceMillis(dear ? DEAR_MILLIS : CHEAP_MILLIS);
                    assertThat(fixture.cache.admit(VALUE_BYTES + 100)).isTrue();
                    fixture.set(0, name, new byte[VALUE_BYTES], Item.NEVER);
                }
            }
            ClassReport cheap = Objects.requireNonNull(fixture.cache.penalties()).classes().get(CHEAP);
            return new double[] {cheap.suggestedShare(), cheap.share()};
        }
    }

    /**
     * Among so many small items, a sample hardly ever contains a large one, and a segment's first items are not
     * representative.
     */
    @ParameterizedTest
    @ValueSource(ints = {3_000, 12_000, 40_000})
    void aClassOfFewLargeItemsKeepsWithinItsShare(int largeBytes) {
        try (CacheFixture fixture = openOneShard(EvictionPolicy.ALLKEYS_PENALTY)) {
            SplittableRandom random = new SplittableRandom(4);
            // A loop through twice the memory: no memory that they could get would help.
            readThrough(fixture, i -> i % 4 == 0, i -> i / 4 % (2 * MEMORY / largeBytes),
                    _ -> skewed(random, 6 * KEYS), largeBytes, 40);
            ClassReport large = report(fixture, HINTED_CHEAP);
            assertThat(large.suggestedShare()).isLessThan(0.1);
            assertThat(large.share()).isLessThan(0.2);
            // A segment that is emptied for them has two and more small ones for each byte that goes, as they get
            // fewer.
            assertThat(fixture.cache.stats().bytesMoved()).isLessThan(8 * fixture.cache.stats().bytesReclaimed());
        }
    }

    /** The large items deserve a part of the memory: among these, too, idle items are evicted first. */
    @Test
    void idleItemsOfAClassOfFewLargeItemsAreEvicted() {
        double[] misses = new double[2];
        for (EvictionPolicy policy : new EvictionPolicy[] {EvictionPolicy.ALLKEYS_LRU,
                EvictionPolicy.ALLKEYS_PENALTY}) {
            try (CacheFixture fixture = openOneShard(policy)) {
                SplittableRandom random = new SplittableRandom(4);
                long[] missed = readThrough(fixture, i -> i % 4 == 0, _ -> skewed(random, MEMORY / 12_000),
                        _ -> skewed(random, 6 * KEYS), 12_000, 40);
                misses[policy == EvictionPolicy.ALLKEYS_LRU ? 0 : 1] = missed[0] * CHEAP_MILLIS
                        + missed[1] * DEAR_MILLIS;
                if (policy == EvictionPolicy.ALLKEYS_PENALTY) {
                    ClassReport large = report(fixture, HINTED_CHEAP);
                    assertThat(large.share()).isCloseTo(Math.max(large.suggestedShare(), 1.0 / 16), within(0.08));
                }
            }
        }
        assertThat(misses[1]).as("what misses cost, ms; under LRU %s", misses[0]).isLessThan(misses[0]);
    }

    /**
     * More than half of the items, and a twentieth of the bytes: a threshold through all items would leave nothing else
     * to evict, and nothing to gain.
     */
    @Test
    void manySmallItemsOverTheirShareEvictOthersToo() {
        try (CacheFixture fixture = openOneShard(EvictionPolicy.ALLKEYS_PENALTY)) {
            SplittableRandom random = new SplittableRandom(4);
            // The small ones come once, and never again.
            readThrough(fixture, i -> i % 2 == 0, i -> i, _ -> skewed(random, 4 * MEMORY / 3000), 1, 3000);
            ClassReport small = report(fixture, HINTED_CHEAP);
            assertThat(small.suggestedShare()).isLessThan(0.05);
            assertThat(small.share()).isLessThan(0.15);
            assertThat(fixture.cache.stats().bytesMoved()).isLessThan(4 * fixture.cache.stats().bytesReclaimed());
        }
    }

    /**
     * A loop of expensive keys that has just started: most of its reads were first ones, and none of the next is. Cheap
     * keys are requested nine times as often.
     */
    @Test
    void memoryIsPartitionedByTheForecast() {
        try (CacheFixture fixture = openOneShard(EvictionPolicy.ALLKEYS_PENALTY)) {
            SplittableRandom random = new SplittableRandom(4);
            int loop = KEYS / 2;
            readThrough(fixture, 10 * loop * 6 / 5, i -> i % 10 != 0, _ -> random.nextInt(KEYS * 2 / 3),
                    i -> i / 10 % loop, VALUE_BYTES, VALUE_BYTES);
            ClassReport dear = report(fixture, HINTED_DEAR);
            // The loop is to be held whole.
            double ofAll = (double) loop * ItemFootprint.usualBytes("dear1000".length(), VALUE_BYTES, false) / MEMORY;
            assertThat(dear.suggestedShare()).isBetween(ofAll, 0.8);
            MemoryCurve wasRead = Objects.requireNonNull(fixture.cache.curve(HINTED_DEAR));
            assertThat(wasRead.missRatio(MEMORY)).as("of the reads that there were").isGreaterThan(0.65);
        }
    }

    /**
     * The place that dear keys come from gets twice as slow: what it fills is of another class from then on, and what
     * lies there of it is worth more, not less.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 4})
    void aClassWithRisingCostKeepsItsMemory(int oneDeleteIn) {
        // The class of deleted keys is unknown: so it takes until evicted keys are missed, and a window ends.
        int learnt = oneDeleteIn == 0 ? READS : READS + READS / 3;
        double before = 0;
        double max = 0;
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_PENALTY, 0)) {
            SplittableRandom random = new SplittableRandom(5);
            for (int i = 0; i < 2 * READS; i++) {
                readOrDelete(fixture, random, i, oneDeleteIn);
                double suggested = report(fixture, CHEAP).suggestedShare();
                before = i < READS ? suggested : before;
                max = i < learnt ? 0 : Math.max(max, suggested);
            }
            assertThat(max).as("suggested for cheap keys, at any time after that").isLessThan(before + 0.02);
            assertThat(report(fixture, CHEAP).suggestedShare()).as("in the end").isLessThan(before / 2);
            assertThat(suggested(fixture)).isCloseTo(1, within(1e-9));
        }
    }

    /** The expensive keys' share comes from their group with the class before, which has no items and no reads left. */
    @Test
    void aGroupKeepsItsShareWithoutTheFirstOfItsClasses() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_PENALTY, 0)) {
            SplittableRandom random = new SplittableRandom(5);
            for (int i = 0; i < 2 * READS; i++) {
                if (i == READS + READS / 2) {
                    for (int key = 0; key < KEYS; key++) {
                        fixture.delete(0, CacheFixture.bytes("dear" + key));
                    }
                }
                readOrDelete(fixture, random, i, 4);
            }
            assertThat(report(fixture, RANGES.classOf(2000 * CHEAP_MILLIS)).suggestedShare()).isLessThan(0.01);
            assertThat(report(fixture, RANGES.classOf(4000 * CHEAP_MILLIS)).suggestedShare()).isGreaterThan(0.7);
            assertThat(suggested(fixture)).isCloseTo(1, within(1e-9));
        }
    }

    private static double suggested(CacheFixture fixture) {
        return Objects.requireNonNull(fixture.cache.penalties()).classes().stream()
                .mapToDouble(ClassReport::suggestedShare).sum();
    }

    /** Half of the keys cost twice what the others do, and four times as much from half on. */
    private void readOrDelete(CacheFixture fixture, SplittableRandom random, int i, int oneDeleteIn) {
        boolean dear = random.nextBoolean();
        byte[] name = CacheFixture.bytes((dear ? "dear" : "cheap") + skewed(random, KEYS));
        if (i % 100 == 0) {
            ticker.advanceMillis(10);
            fixture.cache.maintain();
        }
        if (oneDeleteIn > 0 && random.nextInt(oneDeleteIn) == 0) {
            // A write to where it comes from: the next read fetches it.
            fixture.delete(0, name);
        } else if (fixture.get(0, name) == null) {
            int times = !dear ? 1 : i < READS ? 2 : 4;
            ticker.advanceMillis((long) times * CHEAP_MILLIS);
            assertThat(fixture.cache.admit(VALUE_BYTES + 100)).isTrue();
            fixture.set(0, name, new byte[VALUE_BYTES], Item.NEVER);
        }
    }

    private CacheFixture openOneShard(EvictionPolicy policy) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(MEMORY).withShards(1).withSegmentSizeBytes(64 << 10)
                .withHashSeed(7).withTicker(ticker).withEvictionPolicy(policy)
                .withPenalties(new PenaltySettings(false, PenaltyRanges.MAX_CLASSES, 0))
                .withCurves(new CurveSettings(false, 20_000))));
    }

    private static int skewed(SplittableRandom random, int keys) {
        return (int) (keys * Math.pow(random.nextDouble(), 2));
    }

    private static ClassReport report(CacheFixture fixture, int penaltyClass) {
        return Objects.requireNonNull(fixture.cache.penalties()).classes().get(penaltyClass);
    }

    /** Reads of cheap and of dear keys, of values of two sizes. @return how many of each missed in the second half */
    private long[] readThrough(CacheFixture fixture, IntPredicate isCheap, IntUnaryOperator cheapKeys,
            IntUnaryOperator dearKeys, int cheapBytes, int dearBytes) {
        return readThrough(fixture, READS, isCheap, cheapKeys, dearKeys, cheapBytes, dearBytes);
    }

    private long[] readThrough(CacheFixture fixture, int reads, IntPredicate isCheap, IntUnaryOperator cheapKeys,
            IntUnaryOperator dearKeys, int cheapBytes, int dearBytes) {
        long[] missed = new long[2];
        for (int i = 0; i < reads; i++) {
            boolean cheap = isCheap.test(i);
            byte[] name = CacheFixture
                    .bytes((cheap ? "cheap" + cheapKeys.applyAsInt(i) : "dear" + dearKeys.applyAsInt(i)));
            if (i % 100 == 0) {
                ticker.advanceMillis(10);
                fixture.cache.maintain();
            }
            if (fixture.get(0, name) == null) {
                missed[cheap ? 0 : 1] += i < reads / 2 ? 0 : 1;
                int valueBytes = cheap ? cheapBytes : dearBytes;
                fixture.session.writesInto(cheap ? HINTED_CHEAP : HINTED_DEAR);
                ticker.advanceMillis(cheap ? CHEAP_MILLIS : DEAR_MILLIS);
                assertThat(fixture.cache.admit(valueBytes + 100)).isTrue();
                fixture.set(0, name, new byte[valueBytes], Item.NEVER);
            }
        }
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
        return missed;
    }

    /**
     * Shares are all of the memory, so one class or another is always over its share by an item: no segment is emptied
     * for that.
     */
    @Test
    void classesAtTheirShareAreNotEvictedItemByItem() {
        long lru = movedByEqualClasses(EvictionPolicy.ALLKEYS_LRU);
        assertThat(movedByEqualClasses(EvictionPolicy.ALLKEYS_PENALTY)).as("bytes moved; under LRU %s", lru)
                .isLessThan(3 * lru);
    }

    private long movedByEqualClasses(EvictionPolicy policy) {
        try (CacheFixture fixture = open(policy, 0)) {
            SplittableRandom random = new SplittableRandom(8);
            for (int i = 0; i < READS; i++) {
                boolean even = random.nextBoolean();
                byte[] name = CacheFixture
                        .bytes((even ? "even" : "odd") + (int) (KEYS * Math.pow(random.nextDouble(), 2)));
                if (i % 100 == 0) {
                    ticker.advanceMillis(10);
                    fixture.cache.maintain();
                }
                if (fixture.get(0, name) == null) {
                    ticker.advanceMillis(DEAR_MILLIS);
                    if (policy == EvictionPolicy.ALLKEYS_PENALTY) {
                        fixture.session.writesInto(even ? HINTED_CHEAP : HINTED_DEAR);
                    }
                    assertThat(fixture.cache.admit(VALUE_BYTES + 100)).isTrue();
                    fixture.set(0, name, new byte[VALUE_BYTES], Item.NEVER);
                }
            }
            if (policy == EvictionPolicy.ALLKEYS_PENALTY) {
                ClassReport cheap = Objects.requireNonNull(fixture.cache.penalties()).classes().get(HINTED_CHEAP);
                // With equal curves, one class may have two thirds at nearly the same cost: the optimum is flat.
                assertThat(cheap.suggestedShare()).isBetween(0.25, 0.75);
                assertThat(cheap.share()).isCloseTo(cheap.suggestedShare(), within(0.05));
            }
            return fixture.cache.stats().bytesMoved();
        }
    }

    /** Shares change, and nothing goes because of that. */
    @Test
    void nothingIsEvictedBeforeMemoryIsNeeded() {
        try (CacheFixture fixture = open(EvictionPolicy.ALLKEYS_PENALTY, 0)) {
            for (int round = 0; round < 60; round++) {
                for (int key = 0; key < 1000; key++) {
                    byte[] name = CacheFixture.bytes((key % 2 == 0 ? "dear" : "cheap") + key);
                    if (fixture.get(0, name) == null) {
                        ticker.advanceMillis(key % 2 == 0 ? DEAR_MILLIS : CHEAP_MILLIS);
                        fixture.set(0, name, new byte[VALUE_BYTES], Item.NEVER);
                    }
                }
                fixture.cache.maintain();
            }
            PenaltyReport report = Objects.requireNonNull(fixture.cache.penalties());
            assertThat(report.divisions()).isPositive();
            assertThat(fixture.cache.stats().items()).isEqualTo(1000);
            assertThat(fixture.cache.stats().evicted()).isZero();
            fixture.cache.reconfigure(fixture.cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU));
            fixture.cache.reconfigure(fixture.cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_PENALTY));
            assertThat(Objects.requireNonNull(fixture.cache.penalties()).classes())
                    .allMatch(of -> Double.isNaN(of.suggestedShare()));
        }
    }
}

package io.varve.memory.segment;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the segments of a shard: lifetimes, open segments, cleaning and integrity checks. */
class SegmentsTest {
    private static final int SEGMENT_BYTES = 4096;
    /** Four of these fill a segment. */
    private static final int QUARTER = SEGMENT_BYTES / 4;
    private static final long NOW = 1_700_000_000_000L;
    private static final int HEADS = 3;

    private final MemoryBudget budget = new MemoryBudget(64 * SEGMENT_BYTES);
    private final SegmentPool pool = new SegmentPool(new Regions(), budget, 64L * SEGMENT_BYTES, SEGMENT_BYTES);
    private final Segments segments = new Segments(pool, HEADS, 1);

    @AfterEach
    void integrity() {
        List<String> failures = new ArrayList<>();
        segments.checkIntegrity(failures::add);
        assertThat(failures).isEmpty();
        pool.close();
    }

    @ParameterizedTest
    @CsvSource({"-1,0", "0,1", "1,1", "1000,1", "1001,2", "1500,2", "1501,3", "2000,3", "2001,4", "3000,4", "3001,5",
            "4000,5", "8000,7", "15000,9", "16000,9", "16001,10", "30000,11", "45000,12", "60000,13", "64000,13",
            "64001,14", "86400000,34", "281474976710654,60"})
    void twoLifetimeClassesForEachDoublingFromASecond(long ttlMillis, int expected) {
        assertThat(Segments.lifetimeClass(ttlMillis)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
            // policy, live of 4096, lifetime, expected: gain is (4096 - live) / live
            "GREEDY, 1024, 10000, 3", "GREEDY, 2048, 10000, 1", "GREEDY, 4096, 10000, 0",
            "ORIGINAL, 1024, 10000, 30000", "ORIGINAL, 3072, 300, 100", "MODIFIED, 1024, 10000, 300",
            "MODIFIED, 2048, 3600000, 1897.366596", "MODIFIED, 1024, 0, 3", "ORIGINAL, 1024, 0, 3"})
    void profitIsThatOfThePaper(CleanerPolicy policy, int liveBytes, double lifetimeMillis, double expected) {
        assertThat(CleaningProfit.of(policy, liveBytes, SEGMENT_BYTES, lifetimeMillis)).isCloseTo(expected,
                within(1e-6));
    }

    @Test
    void lifetimeIsTheMeanOfRemainingTimeAndAgeUpToAnHour() {
        Segment segment = new Segment(0);
        assertThat(segment.meanLifetimeMillis(NOW)).isZero();
        segment.addLifetime(NOW + 10_000, NOW);
        segment.addLifetime(NOW + 20_000, NOW);
        assertThat(segment.meanLifetimeMillis(NOW)).isEqualTo(15_000);
        assertThat(segment.meanLifetimeMillis(NOW + 40_000)).as("past expiry: the difference").isEqualTo(25_000);
        segment.addLifetime(Item.NEVER, NOW - 6_000);
        assertThat(segment.meanLifetimeMillis(NOW)).isEqualTo((10_000 + 20_000 + 6_000) / 3.0);
        segment.addLifetime(Item.NEVER, NOW - 100 * Segment.MAX_AGE_MILLIS);
        segment.removeLifetime(NOW + 10_000);
        segment.removeLifetime(NOW + 20_000);
        assertThat(segment.meanLifetimeMillis(NOW)).isEqualTo(Segment.MAX_AGE_MILLIS);
        segment.removeLifetime(Item.NEVER);
        assertThat(segment.meanWrittenAtMillis()).as("the mean stays when one of them dies")
                .isEqualTo(NOW - (6_000 + 100 * Segment.MAX_AGE_MILLIS) / 2);
    }

    @Test
    void overwritesMoveTheMeanWriteTimeTowardsNow() {
        Segment segment = new Segment(0);
        for (int i = 0; i < 1000; i++) {
            segment.addLifetime(Item.NEVER, NOW - 100_000);
        }
        double exact = NOW - 100_000;
        for (int i = 0; i < 700; i++) {
            segment.overwritten(NOW, 1);
            exact += (NOW - exact) / 1000;
        }
        assertThat((double) segment.meanWrittenAtMillis()).isCloseTo(exact, org.assertj.core.data.Offset.offset(10.0));
        Segment single = new Segment(1);
        single.addLifetime(Item.NEVER, NOW - 5000);
        single.overwritten(NOW - 1000, 1);
        assertThat(single.meanWrittenAtMillis()).as("of one item only the last write counts").isEqualTo(NOW - 1000);
    }

    @Test
    void sumsOfTheLatestExpiryTimesDoNotOverflow() {
        Segment segment = new Segment(0);
        int items = SegmentSizing.MAX_BYTES / ItemLayout.size(0, 0, true);
        for (int i = 0; i < items; i++) {
            segment.addLifetime(ItemLayout.MAX_EXPIRE_AT_MILLIS, NOW);
        }
        assertThat(segment.meanLifetimeMillis(NOW)).isCloseTo(Segment.MAX_SUMMED_MILLIS - NOW, within(1e6));
        for (int i = 0; i < items; i++) {
            segment.removeLifetime(ItemLayout.MAX_EXPIRE_AT_MILLIS);
        }
        assertThat(segment.expireAtSum()).isZero();
    }

    /** Three sealed segments: half empty and short-lived, a quarter empty and long-lived, nearly full. */
    @Test
    void policiesChooseDifferentSegments() {
        int shortLived = fill(NOW + 1_000, 2);
        int longLived = fill(NOW + 100_000, 1);
        int full = fill(NOW + 1_000_000_000L, 0);
        // greedy: 1, 0.33, 0; modified: 31.6, 105.4; original: 1000, 33333
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.GREEDY, NOW, 0, false)).isEqualTo(shortLived);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.MODIFIED, NOW, 0, false)).isEqualTo(longLived);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.ORIGINAL, NOW, 0, false)).isEqualTo(longLived);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.ORIGINAL, NOW, 0.26, false)).isEqualTo(shortLived);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.ORIGINAL, NOW, 0.75, false))
                .isEqualTo(SegmentPool.NONE);
        assertThat(segments.cleaning().leastUtilized()).isEqualTo(shortLived);
        assertThat(segments.cleaning().oldestSealed()).isEqualTo(shortLived);
        assertThat(segments.utilization(shortLived)).isEqualTo(0.5);
        assertThat(segments.cleaning().randomSealed(new SplittableRandom(1))).isIn(shortLived, longLived, full);
        segments.cleaning().begin(longLived);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.ORIGINAL, NOW, 0, false))
                .as("not the one under cleaning")
                .isEqualTo(shortLived);
        segments.cleaning().abort(longLived);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.ORIGINAL, NOW, 0, false)).isEqualTo(longLived);
    }

    @Test
    void fullestSegment_isTheOldestWithNearlyTheMostBytesOfTheClasses() {
        boolean[] classes = new boolean[ItemLayout.MAX_PENALTY_CLASS + 1];
        classes[3] = true;
        classes[5] = true;
        assertThat(segments.cleaning().fullestOf(classes)).isEqualTo(SegmentPool.NONE);
        List<Long> one = fourItems(Item.NEVER);
        List<Long> other = fourItems(Item.NEVER);
        List<Long> third = fourItems(Item.NEVER);
        segments.closeOpenSegments();
        segments.penaltyClass(one.get(0), 3);
        segments.penaltyClass(other.get(0), 3);
        segments.penaltyClass(other.get(1), 5);
        third.forEach(location -> segments.penaltyClass(location, 4));
        int fullest = Location.segment(other.get(0));
        assertThat(segments.cleaning().fullestOf(classes)).isEqualTo(fullest);
        segments.penaltyClass(one.get(1), 5);
        assertThat(segments.cleaning().fullestOf(classes)).as("of equals the older")
                .isEqualTo(Location.segment(one.get(0)));
        segments.penaltyClass(other.get(2), 5);
        assertThat(segments.cleaning().fullestOf(classes)).as("a little fuller is not fuller").isEqualTo(fullest);
        segments.penaltyClass(other.get(2), 0);
        segments.penaltyClass(one.get(1), 0);
        assertThat(segments.cleaning().classBytes(fullest, classes)).isEqualTo(2 * QUARTER);
        assertThat(segments.cleaning().classBytes(Location.segment(third.get(0)), classes)).isZero();
        third.stream().limit(3).forEach(segments::itemRemoved);
        assertThat(segments.cleaning().fullestOf(classes)).as("what is dead is the cleaner's").isEqualTo(fullest);
        segments.itemRemoved(other.get(1));
        assertThat(segments.cleaning().classBytes(fullest, classes)).isEqualTo(QUARTER);
        classes[0] = true;
        assertThat(segments.cleaning().classBytes(fullest, classes)).isEqualTo(3 * QUARTER);
        assertThat(segments.classBytes(3)).isEqualTo(2 * QUARTER);
    }

    @Test
    void modifiedPolicyWeighsLifetimeLessThanTheOriginal() {
        int emptier = fill(NOW + 10_000, 2);
        int stabler = fill(NOW + 60_000, 1);
        // original: 10000, 20000; modified: 100, 81.6
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.ORIGINAL, NOW, 0, false)).isEqualTo(stabler);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.MODIFIED, NOW, 0, false)).isEqualTo(emptier);
    }

    @Test
    void aSegmentWithoutLiveItemsIsFreedWithoutACopy() {
        List<Long> first = fourItems(Item.NEVER);
        fourItems(Item.NEVER);
        assertThat(pool.segmentsInUse()).isEqualTo(2);
        for (long location : first) {
            assertThat(segments.freedWhole()).isZero();
            segments.itemRemoved(location);
        }
        assertThat(segments.freedWhole()).isEqualTo(1);
        assertThat(pool.segmentsInUse()).isEqualTo(1);
        assertThat(segments.usedBytes()).isEqualTo(SEGMENT_BYTES);
    }

    @Test
    void anOpenSegmentWithoutLiveItemsIsFilledFromItsStart() {
        long first = write(QUARTER, Item.NEVER);
        long second = write(QUARTER, Item.NEVER);
        segments.itemRemoved(first);
        assertThat(segments.deadBytes()).isEqualTo(QUARTER);
        segments.itemRemoved(second);
        assertThat(segments.usedBytes()).isZero();
        assertThat(write(QUARTER, Item.NEVER)).isEqualTo(first);
        assertThat(pool.segmentsInUse()).isEqualTo(1);
    }

    @Test
    void theDeadTailOfAnOpenSegmentIsReused() {
        write(QUARTER, Item.NEVER);
        long second = write(QUARTER, Item.NEVER);
        segments.itemRemoved(second);
        assertThat(segments.deadBytes()).isZero();
        assertThat(write(100, Item.NEVER)).isEqualTo(second);
    }

    @Test
    void anAppendedItemIsNotFreedBeforeItIsBorn() {
        long old = write(QUARTER, Item.NEVER);
        long location = segments.append(QUARTER, Segments.DEFAULT_CLASS, NOW);
        segments.itemRemoved(old);
        writeItem(location, QUARTER, Item.NEVER);
        segments.itemWritten(location, QUARTER, Item.NEVER, NOW);
        assertThat(segments.append(QUARTER, Segments.DEFAULT_CLASS, NOW)).isGreaterThan(location);
        createAndRemove(segments, pool, location + QUARTER, QUARTER);
        assertThat(segments.liveBytes()).isEqualTo(QUARTER);
    }

    @Test
    void aClassGetsItsOwnOpenSegmentAfterOneSegmentOfData() {
        long shortTtl = NOW + 15_000;
        long longTtl = NOW + 60_000;
        fourItems(shortTtl);
        long own = write(QUARTER, shortTtl);
        long other = write(QUARTER, longTtl);
        assertThat(Location.segment(own)).isNotEqualTo(Location.segment(other));
        assertThat(Location.segment(write(QUARTER, shortTtl))).isEqualTo(Location.segment(own));
        assertThat(Location.segment(write(QUARTER, Item.NEVER))).isEqualTo(Location.segment(other));
    }

    @Test
    void thereAreNoMoreOpenSegmentsThanAllowed() {
        for (long ttlMillis : new long[] {1_000, 15_000, 30_000, 60_000, 120_000}) {
            fourItems(NOW + ttlMillis);
            fourItems(NOW + ttlMillis);
            assertThat(segments.openSegments().count()).isLessThanOrEqualTo(HEADS);
        }
        assertThat(segments.openSegments().count()).isEqualTo(HEADS);
    }

    /** An empty open segment that is too small for the next item: if it were sealed, it would never be freed. */
    @Test
    void anEmptyOpenSegmentThatIsTooSmallIsFreed() {
        MemoryBudget large = new MemoryBudget(64 << 20);
        try (SegmentPool parts = new SegmentPool(new Regions(), large, 256 << 20, 1 << 20)) {
            Segments shard = new Segments(parts, HEADS, 1);
            long small = shard.append(100, Segments.DEFAULT_CLASS, NOW);
            createAndRemove(shard, parts, small, 100);
            long big = shard.append(40_000, Segments.DEFAULT_CLASS, NOW);
            assertThat(Location.segment(big)).isNotEqualTo(Location.segment(small));
            assertThat(parts.segmentsInUse()).isEqualTo(1);
            assertThat(shard.cleaning().oldestSealed()).isEqualTo(SegmentPool.NONE);
            createAndRemove(shard, parts, big, 40_000);
            List<String> failures = new ArrayList<>();
            shard.checkIntegrity(failures::add);
            assertThat(failures).isEmpty();
        }
    }

    /** Without pressure a segment whose items are about to expire is not cleaned: they would be copied for nothing. */
    @Test
    void segmentsThatExpireSoonAreNotCleaned() {
        fourItems(NOW + 60_000);
        List<Long> own = fourItems(NOW + 60_000);
        fourItems(NOW + 60_000);
        segments.itemRemoved(own.get(0));
        segments.itemRemoved(own.get(1));
        int id = Location.segment(own.get(2));
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.MODIFIED, NOW, 0.25, true)).isEqualTo(id);
        long late = NOW + 59_000;
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.MODIFIED, late, 0.25, true))
                .isEqualTo(SegmentPool.NONE);
        assertThat(segments.cleaning().mostProfitable(CleanerPolicy.MODIFIED, late, 0.25, false)).isEqualTo(id);
    }

    @Test
    void anIdleOpenSegmentIsSealed() {
        fourItems(NOW + 15_000);
        long own = write(QUARTER, NOW + 15_000);
        long later = NOW + Segments.IDLE_MILLIS;
        assertThat(segments.closeIdleSegments(later - 1)).isZero();
        assertThat(segments.closeIdleSegments(later)).isEqualTo(1);
        assertThat(segments.state(Location.segment(own))).isEqualTo(SegmentState.SEALED);
        assertThat(segments.openSegments().count()).as("the default head stays").isEqualTo(1);
        assertThat(Location.segment(write(QUARTER, NOW + 15_000))).isNotEqualTo(Location.segment(own));
    }

    @Test
    void anEmptyOpenSegmentReturnsToThePool() {
        segments.itemRemoved(write(QUARTER, Item.NEVER));
        assertThat(pool.segmentsInUse()).isEqualTo(1);
        assertThat(segments.closeIdleSegments(NOW + Segments.IDLE_MILLIS)).isEqualTo(1);
        assertThat(pool.segmentsInUse()).isZero();
    }

    @Test
    void emptyOpenSegmentsAreFreedOnRequest() {
        segments.itemRemoved(write(QUARTER, Item.NEVER));
        assertThat(segments.closeIdleSegments(NOW)).isZero();
        segments.freeEmptyOpenSegments();
        assertThat(pool.segmentsInUse()).isZero();
        write(QUARTER, Item.NEVER);
        segments.freeEmptyOpenSegments();
        assertThat(pool.segmentsInUse()).as("in which something lives").isEqualTo(1);
    }

    @Test
    void aFullPoolUsesRemainingSpaceAndThenRefuses() {
        budget.limit(2 * SEGMENT_BYTES);
        fourItems(NOW + 15_000);
        write(3 * QUARTER, NOW + 15_000);
        long used = segments.usedBytes();
        assertThatThrownBy(() -> segments.append(2 * QUARTER, Segments.DEFAULT_CLASS, NOW))
                .isSameAs(CacheFullException.INSTANCE);
        assertThat(segments.usedBytes()).isEqualTo(used);
        assertThat(segments.openSegments().count()).isEqualTo(2);
        assertThat(Location.segment(write(QUARTER, Item.NEVER))).as("another class's open segment has space")
                .isEqualTo(1);
    }

    @Test
    void anItemGrowsInPlaceOnlyAtTheTailOfAnOpenSegmentWithSpace() {
        long first = write(QUARTER, Item.NEVER);
        long second = write(QUARTER, Item.NEVER);
        assertThat(segments.extendTail(first, QUARTER + 10)).isFalse();
        assertThat(segments.extendTail(second, 3 * QUARTER + 1)).isFalse();
        assertThat(segments.extendTail(second, QUARTER + 10)).isTrue();
        long address = pool.address(second);
        ItemLayout.insertExpiryFields(address);
        ItemLayout.expireAtMillis(address, NOW + 5);
        segments.expiryChanged(second, Item.NEVER, NOW + 5, NOW);
        assertThat(segments.usedBytes()).isEqualTo(2 * QUARTER + 10).isEqualTo(segments.liveBytes());
        segments.closeOpenSegments();
        assertThat(segments.extendTail(second, QUARTER + 20)).isFalse();
    }

    @Test
    void anItemDoesNotGrowInTheOpenSegmentOfAnotherClass() {
        int shortClass = Segments.lifetimeClass(15_000);
        for (int grown = 0; grown < SEGMENT_BYTES; grown += QUARTER + 10) {
            long location = write(QUARTER, Item.NEVER);
            if (!segments.extendTail(location, QUARTER + 10, shortClass)) {
                segments.itemRemoved(location);
                location = write(QUARTER, Item.NEVER);
                assertThat(segments.extendTail(location, QUARTER + 10, shortClass)).isTrue();
            }
            ItemLayout.insertExpiryFields(pool.address(location));
        }
        long next = write(QUARTER, Item.NEVER);
        assertThat(segments.extendTail(next, QUARTER + 10, shortClass)).as("a segment's worth has passed").isFalse();
        assertThat(segments.extendTail(next, QUARTER + 10, Segments.lifetimeClass(60_000))).isTrue();
        ItemLayout.insertExpiryFields(pool.address(next));
        long own = write(QUARTER, NOW + 15_000);
        assertThat(Location.segment(own)).isNotEqualTo(Location.segment(next));
        assertThat(segments.extendTail(own, QUARTER, shortClass)).isTrue();
    }

    @Test
    void largeItemsAreAccountedForAndReleased() {
        int capacity = 100_000;
        int size = ItemLayout.size(2, capacity, true);
        LargeRun run = requireNonNull(pool.largeItems().allocate(size - capacity, capacity));
        long location = pool.largeItems().adopt(run, run.address() - (size - capacity), 0);
        ItemLayout.write(pool.address(location), ItemType.STRING, 0, 0, 2, capacity, capacity, true, 0);
        segments.itemWritten(location, size, Item.NEVER, NOW);
        assertThat(segments.liveBytes()).isEqualTo(size).isEqualTo(segments.usedBytes());
        assertThat(segments.liveItems()).isEqualTo(1);
        assertThat(segments.extendTail(location, size + 10)).isFalse();
        segments.expiryChanged(location, Item.NEVER, NOW + 1, NOW);
        segments.itemRemoved(location);
        assertThat(segments.liveBytes()).isZero();
        assertThat(segments.largeItems()).isZero();
        assertThat(pool.largeItems().count()).isZero();
        assertThat(budget.chargedBytes()).isZero();
    }

    @Test
    void cleaningEndsOnlyWithoutLiveItems() {
        int id = fill(Item.NEVER, 1);
        segments.cleaning().begin(id);
        assertThatThrownBy(() -> segments.cleaning().end(id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> segments.cleaning().begin(id)).isInstanceOf(IllegalStateException.class);
        long next = SegmentCleaning.firstOf(id);
        int items = 0;
        for (long at = segments.cleaning().nextLive(id, next); at != Location.NONE; at = segments.cleaning()
                .nextLive(id, next)) {
            next = segments.cleaning().after(at);
            segments.itemRemoved(at);
            items++;
        }
        assertThat(items).isEqualTo(3);
        assertThat(segments.state(id)).as("not freed under the cleaner").isEqualTo(SegmentState.CLEANING);
        segments.cleaning().end(id);
        assertThat(segments.state(id)).isEqualTo(SegmentState.FREE);
        assertThat(segments.freedWhole()).isZero();
    }

    @Test
    void abortedCleaningOfAnEmptySegmentFreesIt() {
        int id = fill(Item.NEVER, 3);
        segments.cleaning().begin(id);
        segments.itemRemoved(segments.cleaning().nextLive(id, SegmentCleaning.firstOf(id)));
        segments.cleaning().abort(id);
        assertThat(segments.state(id)).isEqualTo(SegmentState.FREE);
    }

    @Test
    void aWalkEndsWithAnItemAtTheEndOfTheLargestSegment() {
        MemoryBudget large = new MemoryBudget(2L * SegmentSizing.MAX_BYTES);
        try (SegmentPool largest = new SegmentPool(new Regions(), large, 2L * SegmentSizing.MAX_BYTES,
                SegmentSizing.MAX_BYTES)) {
            Segments shard = new Segments(largest, 1, 1);
            int size = SegmentSizing.MAX_BYTES;
            long location = shard.append(size, Segments.DEFAULT_CLASS, NOW);
            int capacity = size - 2 - 12;
            ItemLayout.write(largest.address(location), ItemType.STRING, 0, 0, 2, 0, capacity, false, 0);
            shard.itemWritten(location, size, Item.NEVER, NOW);
            int id = Location.segment(location);
            assertThat(shard.cleaning().nextLive(id, SegmentCleaning.firstOf(id))).isEqualTo(location);
            assertThat(shard.cleaning().nextLive(id, shard.cleaning().after(location))).isEqualTo(Location.NONE);
        }
    }

    @Test
    void integrityCheckDetectsErrors() {
        long location = write(QUARTER, NOW + 1_000);
        ItemLayout.expireAtMillis(pool.address(location), NOW + 2_000);
        List<String> failures = new ArrayList<>();
        segments.checkIntegrity(failures::add);
        assertThat(failures).singleElement().asString().contains("sum of expiry times");
        segments.expiryChanged(location, NOW + 1_000, NOW + 2_000, NOW);
        ItemLayout.markDead(pool.address(location));
        failures.clear();
        segments.checkIntegrity(failures::add);
        assertThat(failures).hasSize(5);
        writeItem(location, QUARTER, NOW + 2_000);
    }

    @Test
    void writesAreCountedAndMovesAreNot() {
        write(QUARTER, Item.NEVER);
        long moved = segments.appendMoved(QUARTER, Segments.DEFAULT_CLASS, NOW);
        assertThat(segments.bytesWritten()).isEqualTo(QUARTER);
        createAndRemove(segments, pool, moved, QUARTER);
    }

    @Test
    void statesRefuseIllegalTransitions() {
        int legal = 0;
        List<UnaryOperator<SegmentState>> transitions = List.of(SegmentState::open,
                SegmentState::seal, SegmentState::beginClean, SegmentState::abortClean, SegmentState::endClean,
                SegmentState::free);
        for (SegmentState state : SegmentState.values()) {
            for (UnaryOperator<SegmentState> transition : transitions) {
                try {
                    assertThat(transition.apply(state)).isNotEqualTo(state);
                    legal++;
                } catch (IllegalStateException refused) {
                    assertThat(refused).hasMessageContaining(state.toString());
                }
            }
        }
        assertThat(legal).as("arrows in the diagram").isEqualTo(7);
    }

    /** A sealed segment of four items of which some died, and its id. */
    private int fill(long expireAtMillis, int dead) {
        List<Long> locations = fourItems(expireAtMillis);
        segments.closeOpenSegments();
        for (int i = 0; i < dead; i++) {
            segments.itemRemoved(locations.get(i));
        }
        return Location.segment(locations.getFirst());
    }

    private List<Long> fourItems(long expireAtMillis) {
        List<Long> locations = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            locations.add(write(QUARTER, expireAtMillis));
        }
        return locations;
    }

    private long write(int size, long expireAtMillis) {
        int lifetimeClass = Segments.lifetimeClass(expireAtMillis == Item.NEVER ? Item.NEVER : expireAtMillis - NOW);
        long location = segments.append(size, lifetimeClass, NOW);
        writeItem(location, size, expireAtMillis);
        segments.itemWritten(location, size, expireAtMillis, NOW);
        return location;
    }

    /** Writes the item that was appended last, and removes it. */
    private static void createAndRemove(Segments shard, SegmentPool pool, long location, int size) {
        writeItem(pool, location, size, Item.NEVER);
        shard.itemWritten(location, size, Item.NEVER, NOW);
        shard.itemRemoved(location);
    }

    private void writeItem(long location, int size, long expireAtMillis) {
        writeItem(pool, location, size, expireAtMillis);
    }

    private static void writeItem(SegmentPool pool, long location, int size, long expireAtMillis) {
        boolean fields = expireAtMillis != Item.NEVER;
        int capacity = size - 2 - ItemLayout.headerSize(2, 0, fields);
        if (capacity > ItemLayout.MAX_SHORT_CAPACITY) {
            capacity -= 4;
        }
        long address = pool.address(location);
        ItemLayout.write(address, ItemType.STRING, 0, 0, 2, capacity, capacity, fields, 0);
        if (fields) {
            ItemLayout.expireAtMillis(address, expireAtMillis);
        }
    }
}

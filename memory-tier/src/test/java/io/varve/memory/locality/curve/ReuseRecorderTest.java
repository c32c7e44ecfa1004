package io.varve.memory.locality.curve;

import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.locality.curve.ReuseRecorder.NEVER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the results of the recorder against closed forms and the exact stack. Confined to the test's thread. */
class ReuseRecorderTest {
    private static final Sampling ONE_PERCENT = new Sampling(0.01, 0.01, 64_000);
    private static final int ITEM = 100;

    private static long hash(long key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8_FEB8_6659_FD93L;
        return mixed ^ mixed >>> 32;
    }

    private static void read(ReuseRecorder recorder, long key) {
        recorder.read(hash(key), 0, ITEM, NEVER, 0);
    }

    private static double meanDifference(MissRatioCurve one, MissRatioCurve other) {
        double sum = 0;
        for (int i = 1; i <= 100; i++) {
            double bytes = other.largestBytes() * i / 100;
            sum += Math.abs(one.missRatio(bytes) - other.missRatio(bytes));
        }
        return sum / 100;
    }

    /**
     * With uniform requests, LRU holds a fixed share of the keys; and in a stream of N requests for M keys, which
     * begins with an empty cache, the reads that hit with an eviction time of x M are (1 - e^-x) - (1 - e^-x (1 + x)) M
     * / N.
     */
    @ParameterizedTest
    @ValueSource(ints = {3, 10, 40})
    void uniformRequests_missAsTheClosedFormPredicts(int requestsAKey) {
        int keys = 20_000;
        for (Sampling sampling : new Sampling[] {Sampling.all(keys), new Sampling(0.01, 1, 4000)}) {
            ReuseRecorder recorder = new ReuseRecorder(1, sampling, 1);
            SplittableRandom random = new SplittableRandom(2);
            for (int i = 0; i < keys * requestsAKey; i++) {
                read(recorder, random.nextInt(keys));
            }
            MissRatioCurve curve = recorder.curve(0);
            MissRatioCurve forecast = recorder.forecast(0, 0);
            for (double share = 0.05; share < 0.9; share += 0.05) {
                double x = -Math.log(1 - share);
                double hits = share - (1 - (1 - share) * (1 + x)) / requestsAKey;
                assertThat(curve.missRatio(share * keys * ITEM)).as("share %.2f, %s", share, sampling)
                        .isCloseTo(1 - hits, within(sampling.lowest() == 1 ? 0.004 : 0.02));
                // The next requests find LRU with all that it holds.
                assertThat(forecast.missRatio(share * keys * ITEM)).as("next, share %.2f, %s", share, sampling)
                        .isCloseTo(1 - share, within(sampling.lowest() == 1 ? 0.006 : 0.03));
                assertThat((double) recorder.evictionTime(share * keys * ITEM, 0)).as("share %.2f, %s", share, sampling)
                        .isCloseTo(x * keys, within(keys * (sampling.lowest() == 1 ? 0.02 : 0.15)));
            }
            assertThat(curve.largestBytes()).isCloseTo(-keys * ITEM * Math.expm1(-requestsAKey),
                    within(keys * ITEM * 0.06));
            assertThat(recorder.evictionTime(2.0 * keys * ITEM, 0)).isEqualTo(Long.MAX_VALUE);
        }
    }

    /** A class is read for the first time when another has been there for long, and windows end all the time. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aLateClassIsForecastFromItsBeginning(int late) {
        int keys = 10_000;
        ReuseRecorder recorder = new ReuseRecorder(2, new Sampling(0.05, 0.05, 30_000), 1);
        SplittableRandom random = new SplittableRandom(6);
        for (int i = 0; i < 10 * keys; i++) {
            recorder.read(hash(random.nextInt(keys)), 1 - late, ITEM, NEVER, 0);
        }
        for (int i = 1; i <= 6 * keys; i++) {
            boolean second = i % 2 == 0;
            recorder.read(hash((second ? keys : 0) + random.nextInt(keys)), second ? late : 1 - late, ITEM, NEVER, 0);
            if (i % (keys / 2) == 0) {
                recorder.forget(0.9, 0);
            }
        }
        for (int itemClass = 0; itemClass < 2; itemClass++) {
            MissRatioCurve forecast = recorder.forecast(itemClass, 0);
            for (double share = 0.1; share < 0.85; share += 0.1) {
                assertThat(forecast.missRatio(share * keys * ITEM)).as("class %d, share %.1f", itemClass, share)
                        .isCloseTo(1 - share, within(0.05));
            }
        }
        // Three reads for each of its keys: many were first ones.
        assertThat(recorder.curve(late, 0).missRatio(0.9 * keys * ITEM)).isGreaterThan(0.2);
    }

    /** No key is requested before it exists: the reads alone determine the curve, whatever was written before them. */
    @Test
    void loadedItemsAreNotCountedAsHits() {
        int keys = 20_000;
        ReuseRecorder recorder = new ReuseRecorder(1, Sampling.all(keys), 1);
        for (int key = 0; key < keys; key++) {
            recorder.write(hash(key), 0, ITEM, NEVER, 0);
        }
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < keys / 4; i++) {
            read(recorder, random.nextInt(keys));
        }
        MissRatioCurve curve = recorder.curve(0);
        MissRatioCurve forecast = recorder.forecast(0, 0);
        assertThat(curve.missRatio(0.75 * keys * ITEM)).isGreaterThan(0.2);
        for (double share = 0.1; share < 1; share += 0.1) {
            assertThat(forecast.missRatio(share * keys * ITEM)).as("share %.1f", share)
                    .isCloseTo(curve.missRatio(share * keys * ITEM), within(0.03));
        }
    }

    /**
     * In the second round all reads hit if the loop fits; in the first round no key could have been requested before.
     */
    @Test
    void aLoopRunTwiceIsForecastToHit() {
        int loop = 10_000;
        ReuseRecorder recorder = new ReuseRecorder(1, Sampling.all(loop), 1);
        for (int i = 0; i < 2 * loop; i++) {
            read(recorder, i % loop);
            if (i == loop + loop / 20) {
                // So few have come again that each stands for four, and no more.
                assertThat(recorder.forecast(0, 0).missRatio(1.1 * loop * ITEM)).isCloseTo(1 - 4 * 0.05 / 1.05,
                        within(0.03));
            }
        }
        assertThat(recorder.forecast(0, 0).missRatio(1.1 * loop * ITEM)).isCloseTo(0, within(0.06));
        assertThat(recorder.curve(0).missRatio(1.1 * loop * ITEM)).isCloseTo(0.5, within(0.01));
        assertThat(recorder.forecast(0, 0).missRatio(0.9 * loop * ITEM)).isGreaterThan(0.97);
    }

    /** A class that comes slowly needs long to fill a memory of its own, and is followed for as long. */
    @Test
    void keysAreDroppedByClass() {
        ReuseRecorder recorder = new ReuseRecorder(2, Sampling.all(2000), 1);
        for (int key = 0; key < 1000; key++) {
            recorder.read(hash(key), key % 2, ITEM, NEVER, 0);
        }
        recorder.stopFollowingOlder(new long[] {100, 599});
        assertThat(recorder.followedKeys()).isEqualTo(50 + 300);
        PendingSamples[] pending = PendingSamples.ofClasses(2);
        recorder.settle(pending, 0, 0, recorder.slots());
        assertThat(pending[0].weight()).isEqualTo(50);
        assertThat(pending[1].weight()).isEqualTo(300);
        assertThat(recorder.checkIntegrity()).isEmpty();
        assertThat((double) recorder.evictionTime(1, 250.0 * ITEM, pending)).as("every other access")
                .isCloseTo(500, within(20.0));
        assertThat(recorder.evictionTime(1, 2000.0 * ITEM, pending)).isEqualTo(Long.MAX_VALUE);
    }

    /** The curves are those of a recorder that has only these classes. */
    @Test
    void aClassWithoutSamplesTakesNoMemory() {
        ReuseRecorder few = new ReuseRecorder(2, Sampling.all(2000), 1);
        ReuseRecorder many = new ReuseRecorder(16, Sampling.all(2000), 1);
        assertThat(many.bytes()).isEqualTo(few.bytes());
        SplittableRandom random = new SplittableRandom(9);
        for (int i = 0; i < 20_000; i++) {
            int key = random.nextInt(1000);
            few.read(hash(key), key % 2, ITEM, NEVER, 0);
            many.read(hash(key), key % 2 * 13, ITEM, NEVER, 0);
        }
        assertThat(many.bytes()).isEqualTo(few.bytes());
        PendingSamples[] ofFew = PendingSamples.ofClasses(2);
        PendingSamples[] ofMany = PendingSamples.ofClasses(16);
        few.settle(ofFew, 0, 0, few.slots());
        many.settle(ofMany, 0, 0, many.slots());
        for (double bytes = 1000; bytes < 100_000; bytes += 1000) {
            assertThat(many.curve(ofMany).missRatio(bytes)).isEqualTo(few.curve(ofFew).missRatio(bytes));
            assertThat(many.curve(13, ofMany).missRatio(bytes)).isEqualTo(few.curve(1, ofFew).missRatio(bytes));
        }
        assertThat(many.curve(5, ofMany).largestBytes()).as("no requests").isZero();
        many.write(hash(5000), 7, ITEM, NEVER, 0);
        long more = new ReuseHistograms(0).bytes();
        assertThat(many.bytes()).isEqualTo(few.bytes() + more);
        assertThat(many.checkIntegrity()).isEmpty();
        few.forget(0.5, ofFew);
        many.forget(0.5, ofMany);
        assertThat(many.bytes()).isEqualTo(few.bytes() + more);
    }

    /** As reported by the writes that fill missed keys. */
    @Test
    void readsCountedForAnotherClassAreMoved() {
        ReuseRecorder recorder = new ReuseRecorder(2, Sampling.all(2000), 1);
        for (int key = 0; key < 100; key++) {
            recorder.readMiss(hash(key), 0, 0);
            recorder.readMiss(hash(key), 0, 0);
            recorder.moveSampledReads(0, 1, 2);
            recorder.write(hash(key), 1, ITEM, NEVER, 0);
        }
        for (int key = 0; key < 100; key++) {
            recorder.read(hash(key), 1, ITEM, NEVER, 0);
        }
        PendingSamples[] pending = PendingSamples.ofClasses(2);
        recorder.settle(pending, 0, 0, recorder.slots());
        // Of 300 reads of class 1, two thirds found nothing, and the others all hit if there is memory for a hundred.
        assertThat(recorder.curve(1, pending).missRatio(200 * ITEM)).isCloseTo(2.0 / 3, within(0.01));
        recorder.moveSampledReads(0, 1, 1000);
        assertThat(recorder.curve(1, pending).missRatio(200 * ITEM)).as("there are none left to be moved")
                .isCloseTo(2.0 / 3, within(0.01));
    }

    /**
     * Each key is one of the second class from its next access on: together both are the stream that there was, and the
     * younger one alone knows of no time that is longer than it is old.
     */
    @Test
    void classesWithMovingKeysAreOneStream() {
        int keys = 20_000;
        ReuseRecorder one = new ReuseRecorder(2, Sampling.all(keys), 1);
        ReuseRecorder turning = new ReuseRecorder(2, Sampling.all(keys), 1);
        SplittableRandom random = new SplittableRandom(2);
        int before = 30 * keys;
        boolean[] turned = new boolean[keys];
        for (int i = 0; i < before + keys; i++) {
            int key = random.nextInt(keys);
            one.read(hash(key), 0, ITEM, NEVER, 0);
            turning.read(hash(key), turned[key] ? 1 : 0, ITEM, NEVER, 0);
            turned[key] = i >= before;
            if (i % (2 * keys) == 0) {
                one.forget(0.9, 0);
                turning.forget(0.9, 0);
            }
        }
        PendingSamples[] pending = PendingSamples.ofClasses(2);
        turning.settle(pending, 0, 0, turning.slots());
        MissRatioCurve together = turning.forecast(0, new int[] {0, 0}, pending);
        for (double share = 0.1; share < 0.95; share += 0.05) {
            double bytes = share * keys * ITEM;
            assertThat(together.missRatio(bytes)).as("share %.2f", share)
                    .isCloseTo(one.forecast(0, 0).missRatio(bytes), within(0.01));
        }
        assertThat(turning.forecast(1, 0).largestBytes()).as("of the younger one").isLessThan(0.7 * keys * ITEM);
        assertThat(turning.forecast(1, new int[] {0, 0}, pending).missRatio(keys * ITEM)).as("no group's first")
                .isEqualTo(1);
    }

    /** LRU's worst case: what does not hold the whole loop holds nothing of use. */
    @Test
    void aLoopMissesUntilItFits() {
        ReuseRecorder recorder = new ReuseRecorder(1, new Sampling(0.01, 1, 1000), 1);
        int loop = 10_000;
        for (int i = 0; i < 50 * loop; i++) {
            read(recorder, i % loop);
        }
        MissRatioCurve curve = recorder.curve(0);
        assertThat(curve.missRatio(0.96 * loop * ITEM)).isGreaterThan(0.99);
        assertThat(curve.missRatio(1.04 * loop * ITEM)).isCloseTo(0.02, within(0.01));
    }

    /** Half of the reads go to one key, which a sample of keys would have or not have. */
    @Test
    void aKeyWithHalfOfTheReadsIsWeightedCorrectly() {
        for (long seed = 0; seed < 5; seed++) {
            ReuseRecorder recorder = new ReuseRecorder(1, ONE_PERCENT, seed);
            SplittableRandom random = new SplittableRandom(seed + 100);
            int others = 50_000;
            for (int i = 0; i < 500_000; i++) {
                read(recorder, random.nextBoolean() ? 0 : 1 + random.nextInt(others));
            }
            assertThat(recorder.curve(0).missRatio(50 * ITEM)).as("seed %d", seed).isCloseTo(0.5, within(0.02));
        }
    }

    @Test
    void writesAndDeletesOfAllSizes_haveTheCurveOfAnExactStack() {
        for (Sampling sampling : new Sampling[] {Sampling.all(20_000), new Sampling(0.01, 1, 3000)}) {
            ReuseRecorder recorder = new ReuseRecorder(1, sampling, 1);
            StackDistances exact = new StackDistances();
            mixed(recorder, exact, 400_000, key -> key % 7 == 0 ? 5000 : 50 + key % 100);
            assertThat(meanDifference(recorder.curve(0), exact.curve())).as("%s", sampling)
                    .isLessThan(sampling.lowest() == 1 ? 0.004 : 0.015);
        }
    }

    private static void mixed(ReuseRecorder recorder, StackDistances exact, int accesses, IntFunction<Integer> bytes) {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < accesses; i++) {
            int key = (int) (20_000 * Math.pow(random.nextDouble(), 3));
            int chance = random.nextInt(10);
            if (chance == 0) {
                recorder.remove(hash(key), 0);
                exact.remove(hash(key));
            } else if (chance < 3) {
                int written = 2 * bytes.apply(key);
                recorder.write(hash(key), 0, written, NEVER, 0);
                exact.write(hash(key), written);
            } else {
                recorder.read(hash(key), 0, bytes.apply(key), NEVER, 0);
                exact.read(hash(key), bytes.apply(key));
            }
        }
    }

    /**
     * A server of little memory reports misses that found nothing and the writes that follow, where one of much memory
     * reports reads.
     */
    @Test
    void aMissAndItsFillCountAsOneRead() {
        ReuseRecorder recorder = new ReuseRecorder(1, Sampling.all(2000), 1);
        StackDistances exact = new StackDistances();
        SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < 200_000; i++) {
            int key = (int) (2000 * Math.pow(random.nextDouble(), 2));
            exact.read(hash(key), ITEM);
            if (random.nextInt(3) == 0) {
                recorder.readMiss(hash(key), 0, 0);
                recorder.write(hash(key), 0, ITEM, NEVER, 0);
            } else {
                read(recorder, key);
            }
        }
        assertThat(meanDifference(recorder.curve(0), exact.curve())).isLessThan(0.01);
    }

    /** As a server does with an evicted item, whose expiry is not reported. */
    @Test
    void expiredItemsAreNoReuseWhetherReportedOrNot() {
        int keys = 5000;
        long lifeMillis = 4000;
        ReuseRecorder notified = new ReuseRecorder(1, Sampling.all(keys), 1);
        ReuseRecorder untold = new ReuseRecorder(1, Sampling.all(keys), 1);
        StackDistances exact = new StackDistances();
        long[] deadlines = new long[keys];
        ArrayDeque<Integer> living = new ArrayDeque<>();
        SplittableRandom random = new SplittableRandom(5);
        for (int now = 1; now < 400_000; now++) {
            while (!living.isEmpty() && deadlines[living.getFirst()] <= now) {
                int removed = living.removeFirst();
                deadlines[removed] = 0;
                notified.remove(hash(removed), now);
                exact.remove(hash(removed));
            }
            int key = random.nextInt(keys);
            if (deadlines[key] == 0) {
                deadlines[key] = now + lifeMillis;
                living.add(key);
            }
            notified.read(hash(key), 0, ITEM, NEVER, now);
            untold.read(hash(key), 0, ITEM, deadlines[key], now);
            exact.read(hash(key), ITEM);
        }
        assertThat(exact.curve().missRatio(1e12)).as("there are reads that no memory helps").isGreaterThan(0.3);
        assertThat(meanDifference(notified.curve(400_000), exact.curve())).isLessThan(0.01);
        assertThat(meanDifference(untold.curve(400_000), exact.curve())).isLessThan(0.02);
    }

    @Test
    void eachClassHasTheCurveOfItsOwnStream() {
        ReuseRecorder recorder = new ReuseRecorder(3, new Sampling(0.01, 1, 8000), 1);
        StackDistances[] exact = {new StackDistances(), new StackDistances()};
        SplittableRandom random = new SplittableRandom(6);
        for (int i = 0; i < 600_000; i++) {
            int itemClass = random.nextInt(4) == 0 ? 1 : 0;
            int key = itemClass == 0 ? random.nextInt(5000) : (int) (20_000 * Math.pow(random.nextDouble(), 2));
            int bytes = itemClass == 0 ? 1000 : 30;
            long hash = hash(key + 1_000_000L * itemClass);
            if (random.nextInt(5) == 0) {
                recorder.write(hash, itemClass, bytes, NEVER, 0);
                exact[itemClass].write(hash, bytes);
            } else {
                recorder.read(hash, itemClass, bytes, NEVER, 0);
                exact[itemClass].read(hash, bytes);
            }
        }
        assertThat(meanDifference(recorder.curve(0, 0), exact[0].curve())).isLessThan(0.015);
        assertThat(meanDifference(recorder.curve(1, 0), exact[1].curve())).isLessThan(0.02);
        assertThat(recorder.curve(2, 0).largestBytes()).as("a class of which nothing was seen").isZero();
        assertThat(recorder.curve(2, 0).missRatio(1)).isEqualTo(1);
    }

    @Test
    void forgettingWeightsNewSamples() {
        ReuseRecorder recorder = new ReuseRecorder(1, new Sampling(0.01, 1, 4000), 1);
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 300_000; i++) {
            read(recorder, random.nextInt(50_000));
        }
        int keys = 10_000;
        for (int period = 0; period < 20; period++) {
            for (int i = 0; i < 50_000; i++) {
                read(recorder, 100_000 + random.nextInt(keys));
            }
            recorder.forget(0.5, 0);
            recorder.stopFollowingOlder(new long[] {200_000});
        }
        MissRatioCurve curve = recorder.curve(0);
        for (double share = 0.1; share < 0.95; share += 0.1) {
            assertThat(curve.missRatio(share * keys * ITEM)).as("share %.1f", share).isCloseTo(1 - share, within(0.03));
        }
        assertThat(curve.largestBytes()).isCloseTo(keys * ITEM, within(keys * ITEM * 0.1));
        assertThat(recorder.rate()).as("the table has space again").isGreaterThan(0.2);
        assertThat(recorder.reads()).isCloseTo(50_000, within(500.0));
    }

    @Test
    void removeAll_leavesNoReuse() {
        ReuseRecorder recorder = new ReuseRecorder(1, Sampling.all(1000), 1);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 1000; i++) {
                read(recorder, i);
            }
            recorder.removeAll();
        }
        assertThat(recorder.followedKeys()).isZero();
        assertThat(recorder.curve(0).missRatio(1e9)).isEqualTo(1);
    }

    @Test
    void theRateAdaptsToATableOfFixedMemory() {
        ReuseRecorder recorder = new ReuseRecorder(1, new Sampling(0.01, 1, 1000), 1);
        SplittableRandom random = new SplittableRandom(8);
        for (int i = 0; i < 300_000; i++) {
            read(recorder, random.nextInt(10_000));
        }
        assertThat(recorder.followedKeys()).isBetween(800, 1100);
        assertThat(recorder.rate()).isBetween(0.08, 0.12);
        for (int i = 0; i < 300_000; i++) {
            read(recorder, random.nextInt(100_000));
        }
        assertThat(recorder.followedKeys()).isBetween(800, 1600);
        assertThat(recorder.rate()).isBetween(0.0099, 0.0125);
        for (int i = 0; i < 2_000_000; i++) {
            read(recorder, 1_000_000 + i);
        }
        assertThat(recorder.followedKeys()).as("three quarters of 2,048 slots").isBetween(1200, 1600);
        assertThat(recorder.rate()).isLessThan(0.001);
    }

    /** But for histograms, which grow with the longest reuse time: by a step for each power of two. */
    @Test
    void recordingAllocatesNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ReuseRecorder recorder = new ReuseRecorder(2, Sampling.DEFAULT, 1);
        SplittableRandom random = new SplittableRandom(9);
        int quiet = 0;
        for (int round = 0; round < 6; round++) {
            long bytes = recorder.bytes();
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 200_000; i++) {
                long hash = hash(random.nextInt(150_000));
                recorder.read(hash, i & 1, ITEM, NEVER, i);
                recorder.write(hash + 1, i & 1, ITEM, i + 100, i);
                recorder.readMiss(hash + 2, 0, i);
                recorder.remove(hash + 1, i);
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            if (recorder.bytes() == bytes) {
                // Asking how much it is may allocate itself.
                assertThat(allocated).isLessThan(1000);
                quiet++;
            }
        }
        assertThat(quiet).as("rounds without a longer reuse time").isGreaterThan(2);
    }

    /** With short reuse times only, the histograms take little memory; the longest of all, never, takes none. */
    @Test
    void histogramsGrowWithTheLongestReuseTime() {
        ReuseRecorder recorder = new ReuseRecorder(1, Sampling.all(2000), 1);
        recorder.read(hash(0), 0, ITEM, NEVER, 0);
        long min = recorder.bytes();
        read(recorder, 0);
        assertThat(recorder.bytes()).as("one access later").isEqualTo(min);
        for (int key = 1; key < 1000; key++) {
            read(recorder, key);
        }
        recorder.stopFollowingOlder(new long[] {100});
        assertThat(recorder.bytes()).as("never again").isEqualTo(min);
        read(recorder, 999);
        for (int key = 2000; key < 3000; key++) {
            read(recorder, key);
        }
        read(recorder, 999);
        long steps = ReuseHistograms.TIMES.bucket(1000) / 64L;
        assertThat(recorder.bytes()).as("of two histograms").isEqualTo(min + 2 * steps * 64 * Double.BYTES);
        assertThat(recorder.checkIntegrity()).isEmpty();
    }

    @Test
    void errorsNameTheValueOutOfRange() {
        assertThatThrownBy(() -> new ReuseRecorder(0, Sampling.DEFAULT, 1)).hasMessageContaining("must be 1 to 128");
        assertThatThrownBy(() -> new ReuseRecorder(129, Sampling.DEFAULT, 1)).hasMessageContaining("129");
        assertThatThrownBy(() -> new Sampling(0, 1, 10)).hasMessageContaining("0.0 to 1.0");
        assertThatThrownBy(() -> new Sampling(0.5, 0.4, 10)).hasMessageContaining("0.5 to 0.4");
        assertThatThrownBy(() -> new Sampling(0.5, 1.1, 10)).hasMessageContaining("1.1");
        assertThatThrownBy(() -> new Sampling(0.5, 1, 0)).hasMessageContaining("not 0");
        ReuseRecorder recorder = new ReuseRecorder(1, Sampling.DEFAULT, 1);
        assertThatThrownBy(() -> recorder.forget(1.5, 0)).hasMessageContaining("1.5");
        assertThat(recorder.curve(0).missRatio(100)).as("of nothing").isEqualTo(1);
    }
}

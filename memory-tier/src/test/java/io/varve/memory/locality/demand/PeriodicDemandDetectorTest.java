package io.varve.memory.locality.demand;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.locality.demand.PeriodicDemandDetector.Advice.NOTHING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests when a class with periodic demand is dumped, loaded and woken. */
class PeriodicDemandDetectorTest {
    private static final int CYCLE = 100;
    private static final int PEAK = 50;
    private static final int RATE = 200;
    private static final DemandSettings SETTINGS = new DemandSettings(1000, 400, 10, 0.5, 0.1, 0.5, 100);

    /** A stream of requests to one class. Confined to the test's thread. */
    private static final class Stream {
        private final PeriodicDemandDetector detector;
        private final ReuseSampler keys = new ReuseSampler(1, 4096, SETTINGS.historySlots());
        private final SplittableRandom random = new SplittableRandom(1);
        private final List<String> advices = new ArrayList<>();
        private int slot;

        Stream(DemandSettings settings) {
            detector = new PeriodicDemandDetector(settings);
        }

        /** So many accesses, each to one of the keys from a first one on. */
        void slot(int accesses, int firstKey, int keyCount) {
            slot(accesses, accesses, firstKey, keyCount);
        }

        void slot(int accesses, int reads, int firstKey, int keyCount) {
            for (int i = 0; i < accesses; i++) {
                keys.access(hash(firstKey + random.nextInt(keyCount)), 0);
            }
            PeriodicDemandDetector.Advice advice = detector.endSlot(accesses, reads, keys.take(0));
            keys.endSlot();
            if (detector.valleyBeganSlotsAgo() >= 0) {
                keys.valleyBegan(0, detector.valleyBeganSlotsAgo());
            }
            slot++;
            if (advice != NOTHING) {
                advices.add(slot + " " + advice);
            }
        }

        void slots(int count, IntUnaryOperator accesses, int firstKey, int keyCount) {
            for (int i = 0; i < count; i++) {
                slot(accesses.applyAsInt(slot), firstKey, keyCount);
            }
        }
    }

    private static long hash(long key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8_FEB8_6659_FD93L;
        return mixed ^ mixed >>> 32;
    }

    private static int square(int slot) {
        return slot % CYCLE < PEAK ? RATE : 5;
    }

    @Test
    void theSecondValleyDumpsAPeriodicClassAndMissesLoadIt() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(CYCLE + PEAK, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).isEmpty();
        stream.slots(10, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).containsExactly(CYCLE + PEAK + 10 + " DUMP");
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.DUMPED);
        assertThat(stream.detector.periodic()).isTrue();
        assertThat(stream.detector.intervalSlots()).isEqualTo(CYCLE);
        assertThat(stream.detector.valleySlots()).isEqualTo(CYCLE - PEAK);
        stream.slots(40, PeriodicDemandDetectorTest::square, 0, 500);

        for (int i = 1; i < 100; i++) {
            assertThat(stream.detector.missed()).isFalse();
        }
        assertThat(stream.detector.missed()).isTrue();
        assertThat(stream.detector.missed()).isFalse();
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.AWAKE);

        stream.slots(CYCLE, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).containsExactly(CYCLE + PEAK + 10 + " DUMP", 2 * CYCLE + PEAK + 10 + " DUMP");
    }

    @Test
    void aHitAmongTheMissesPreventsTheWake() {
        Stream stream = dumped();
        for (int i = 0; i < 1000; i++) {
            assertThat(stream.detector.missed()).isFalse();
            if (i % 99 == 98) {
                stream.detector.hit();
            }
        }
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.DUMPED);
    }

    /**
     * A valley in which a few keys are still requested a third as often as all are in the peak; each request is a miss.
     */
    @Test
    void readsInTheValleyDoNotWakeAClass() {
        int valley = 150;
        Stream stream = new Stream(SETTINGS);
        for (int i = 0; i < CYCLE + PEAK + 10; i++) {
            boolean isPeak = i % CYCLE < PEAK;
            stream.slot(isPeak ? 3 * valley : valley, 0, isPeak ? 500 : 5);
        }
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.DUMPED);
        for (int i = 0; i < 30; i++) {
            for (int miss = 0; miss < valley; miss++) {
                assertThat(stream.detector.missed()).isFalse();
            }
            stream.slot(valley, 0, 5);
        }
        for (int miss = 1; miss < 2 * valley; miss++) {
            assertThat(stream.detector.missed()).isFalse();
        }
        assertThat(stream.detector.missed()).as("twice as many in a slot").isTrue();
    }

    /** A trough that is deeper than where the class is dumped: it is what is read there that counts. */
    @Test
    void readsOnTheWayIntoTheValleyDoNotWakeAClass() {
        Stream stream = new Stream(SETTINGS);
        for (int i = 0; stream.advices.isEmpty(); i++) {
            assertThat(i).as("slots without a dump").isLessThan(3 * CYCLE);
            int ofCycle = i % CYCLE;
            boolean isPeak = ofCycle < PEAK;
            int valley = ofCycle < CYCLE - 15 ? 110 : 20;
            stream.slot(isPeak ? 1000 : valley, 0, isPeak ? 500 : 5);
        }
        for (int i = 0; i < 10; i++) {
            for (int miss = 0; miss < 110; miss++) {
                assertThat(stream.detector.missed()).isFalse();
            }
            stream.slot(110, 0, 5);
        }
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.DUMPED);
    }

    /** A class that is written to at all times, and read by day. */
    @Test
    void writesInTheValleyDoNotPreventAWake() {
        Stream stream = new Stream(SETTINGS);
        for (int i = 0; i < CYCLE + PEAK + 10; i++) {
            boolean isPeak = i % CYCLE < PEAK;
            stream.slot(isPeak ? 1100 : 500, isPeak ? 600 : 0, 0, isPeak ? 500 : 5);
        }
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.DUMPED);
        for (int miss = 1; miss < 100; miss++) {
            assertThat(stream.detector.missed()).isFalse();
        }
        assertThat(stream.detector.missed()).isTrue();
    }

    private static Stream dumped() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(CYCLE + PEAK + 10, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.DUMPED);
        return stream;
    }

    /** Even if the first requested keys are present. */
    @Test
    void aPeakWithoutMissesLoadsAClass() {
        Stream stream = dumped();
        stream.slots(90, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).containsExactly(CYCLE + PEAK + 10 + " DUMP", 2 * CYCLE + 10 + " LOAD");
    }

    @Test
    void aClassWokenInAValleyIsDumpedAfterAnotherValleyTime() {
        Stream stream = dumped();
        stream.slots(5, PeriodicDemandDetectorTest::square, 0, 500);
        for (int i = 0; i < 100; i++) {
            stream.detector.missed();
        }
        assertThat(stream.detector.state()).isEqualTo(PeriodicDemandDetector.State.AWAKE);
        stream.slots(10, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).hasSize(1);
        stream.slots(1, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).containsExactly(CYCLE + PEAK + 10 + " DUMP", CYCLE + PEAK + 26 + " DUMP");
    }

    @Test
    void oneOfManyThreadsLoadsTheClass() throws InterruptedException {
        PeriodicDemandDetector detector = dumped().detector;
        AtomicInteger loads = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int miss = 0; miss < 500; miss++) {
                    loads.addAndGet(detector.missed() ? 1 : 0);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(loads).hasValue(1);
        assertThat(detector.state()).isEqualTo(PeriodicDemandDetector.State.AWAKE);
    }

    /** Days whose load follows the sun, with noise. */
    @Test
    void aWaveIsPeriodic() {
        Stream stream = new Stream(SETTINGS);
        SplittableRandom noise = new SplittableRandom(5);
        stream.slots(800, slot -> (int) (100 - 100 * Math.cos(2 * Math.PI * slot / 200)) + noise.nextInt(4), 0, 1000);
        assertThat(stream.detector.intervalSlots()).isBetween(190L, 210L);
        assertThat(stream.advices.stream().filter(advice -> advice.endsWith("DUMP"))).hasSizeBetween(2, 4);
        assertThat(stream.advices.stream().filter(advice -> advice.endsWith("LOAD"))).hasSizeBetween(2, 4);
    }

    /**
     * All keys stay in use in the valley too: no key is idle for as long as the distance of two peaks.
     */
    @Test
    void constantlyUsedKeysAreNotDumped() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(800, slot -> (int) (150 - 100 * Math.cos(2 * Math.PI * slot / 200)), 0, 200);
        assertThat(stream.detector.intervalSlots()).isBetween(190L, 210L);
        assertThat(stream.advices).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 50, 5000})
    void aSteadyRateIsNotPeriodic(int rate) {
        Stream stream = new Stream(SETTINGS);
        SplittableRandom noise = new SplittableRandom(6);
        stream.slots(1000, slot -> {
            int accesses = 0;
            for (int i = 0; i < 20; i++) {
                accesses += noise.nextInt(rate);
            }
            return accesses / 10;
        }, 0, 300);
        assertThat(stream.advices).isEmpty();
        assertThat(stream.detector.periodic()).isFalse();
    }

    /** Figure 17, point 6: the rate jumps to and fro, its mean stays. */
    @Test
    void thrashingIsNotAValley() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(1000, slot -> slot % 8 < 4 ? 2 * RATE : 0, 0, 500);
        assertThat(stream.advices).isEmpty();
    }

    @Test
    void aShortPauseIsNotAValley() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(CYCLE + 20, PeriodicDemandDetectorTest::square, 0, 500);
        stream.slots(9, slot -> 0, 0, 500);
        stream.slots(21, slot -> RATE, 0, 500);
        assertThat(stream.advices).isEmpty();
    }

    @Test
    void peaksOfDifferentKeysAreNotDumped() {
        Stream stream = new Stream(SETTINGS);
        for (int detector = 0; detector < 5; detector++) {
            stream.slots(CYCLE, PeriodicDemandDetectorTest::square, 10_000 * detector, 500);
        }
        assertThat(stream.advices).isEmpty();
        assertThat(stream.detector.intervalSlots()).isEqualTo(CYCLE);
        assertThat(stream.detector.periodic()).isFalse();
    }

    /** Half of the average is what a peak must be above the valley. */
    @Test
    void aRippleIsNotAPeak() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(600, slot -> slot % CYCLE < PEAK ? 120 : 80, 0, 500);
        assertThat(stream.advices).isEmpty();
    }

    @Test
    void anUnusedClassIsInNoValley() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(300, slot -> 0, 0, 500);
        stream.slots(CYCLE, PeriodicDemandDetectorTest::square, 0, 500);
        stream.slots(PEAK, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).isEmpty();
        stream.slots(10, PeriodicDemandDetectorTest::square, 0, 500);
        assertThat(stream.advices).containsExactly("460 DUMP");
    }

    @Test
    void aClassThatBecameSteadyIsLearntAgain() {
        Stream stream = new Stream(SETTINGS);
        stream.slots(CYCLE, PeriodicDemandDetectorTest::square, 0, 500);
        stream.slots(SETTINGS.historySlots() + 1, slot -> RATE, 0, 500);
        assertThat(stream.detector.intervalSlots()).isEqualTo(-1);
        stream.slots(20, slot -> 5, 0, 500);
        assertThat(stream.advices).isEmpty();
    }

    @Test
    void settingsOutOfRangeAreRefused() {
        assertThat(DemandSettings.DEFAULT.misses()).isEqualTo(100);
        assertThatThrownBy(() -> new DemandSettings(0, 400, 10, 0.5, 0.1, 0.5, 100)).hasMessageContaining("slot");
        assertThatThrownBy(() -> new DemandSettings(1, 24, 10, 0.5, 0.1, 0.5, 100)).hasMessageContaining("not 24");
        assertThatThrownBy(() -> new DemandSettings(1, 400, 0, 0.5, 0.1, 0.5, 100)).hasMessageContaining("not 0");
        assertThatThrownBy(() -> new DemandSettings(1, 400, 10, 0, 0.1, 0.5, 100)).hasMessageContaining("swing");
        assertThatThrownBy(() -> new DemandSettings(1, 400, 10, 0.5, 0.5, 0.5, 100))
                .hasMessageContaining("closeness");
        assertThatThrownBy(() -> new DemandSettings(1, 400, 10, 0.5, 0.1, Double.NaN, 100))
                .hasMessageContaining("NaN");
        assertThatThrownBy(() -> new DemandSettings(1, 400, 10, 0.5, 0.1, 0.5, 0)).hasMessageContaining("miss");
    }
}

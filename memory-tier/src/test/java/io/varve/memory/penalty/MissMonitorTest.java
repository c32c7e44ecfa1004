package io.varve.memory.penalty;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;

import static io.varve.memory.penalty.MissMonitor.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the measurement of penalties, compared with a map. */
class MissMonitorTest {
    private static final long BYTES = 4096;
    private static final long SECOND = 1_000_000;

    private final Regions regions = new Regions();
    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private final MicroTicker ticker = new MicroTicker();

    private MissMonitor open(long bytes, long longestMicros) {
        return Objects.requireNonNull(MissMonitor.open(bytes, longestMicros, ticker, regions, budget));
    }

    static long hash(long key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8_FEB8_6659_FD93L;
        return mixed ^ mixed >>> 32;
    }

    /** Writes a key, which ends its miss, if any. */
    private static long write(MissMonitor monitor, long hash) {
        long waited = monitor.missAgeMicros(hash);
        monitor.end();
        return waited;
    }

    /** The number of these keys whose misses wait for a write. */
    private static long waiting(MissMonitor monitor, long... hashes) {
        return LongStream.of(hashes).filter(hash -> monitor.missAgeMicros(hash) != NONE).count();
    }

    @Test
    void penalty_isTheTimeFromMissToWrite() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            assertThat(write(monitor, 1)).isEqualTo(NONE);
            monitor.missed(1, 0);
            ticker.advance(70);
            monitor.missed(2, 0);
            ticker.advance(50);
            assertThat(write(monitor, 2)).isEqualTo(50);
            assertThat(write(monitor, 1)).isEqualTo(120);
            assertThat(waiting(monitor, 1, 2)).isZero();
        }
    }

    @Test
    void oneWriteEndsTheMissAndAnotherFindsNone() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            monitor.missed(1, 0);
            ticker.advance(1);
            assertThat(write(monitor, 1)).isEqualTo(1);
            assertThat(write(monitor, 1)).isEqualTo(NONE);
        }
    }

    @Test
    void laterMissesDuringAFillDoNotShortenThePenalty() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            monitor.missed(1, 0);
            ticker.advance(900);
            monitor.missed(1, 0);
            ticker.advance(100);
            assertThat(write(monitor, 1)).isEqualTo(1000);
        }
    }

    @Test
    void aMissBeyondTheScaleStartsOver() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            monitor.missed(1, 0);
            ticker.advance(655_350);
            monitor.missed(1, 0);
            ticker.advance(30);
            assertThat(write(monitor, 1)).isEqualTo(30);
        }
        try (MissMonitor monitor = open(BYTES, 1000)) {
            monitor.missed(1, 0);
            ticker.advance(1000);
            monitor.missed(1, 0);
            ticker.advance(30);
            assertThat(write(monitor, 1)).isEqualTo(30);
        }
    }

    @Test
    void aMissWithoutAWriteIsForgotten() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            monitor.missed(1, 0);
            ticker.advance(10 * SECOND);
            assertThat(waiting(monitor, 1, 2)).isEqualTo(1);
            ticker.advance(1);
            assertThat(waiting(monitor, 1, 2)).isZero();
            assertThat(write(monitor, 1)).isEqualTo(NONE);
        }
    }

    /** Twice as many misses as fit, none of which is requested again, and then some that are. */
    @Test
    void missesWithoutWritesLeaveSpaceForOthers() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            long places = monitor.bytes() / Long.BYTES;
            for (int i = 0; i < 2 * places; i++) {
                monitor.missed(hash(i), 0);
                ticker.advance(1);
            }
            LongStream hashes = LongStream.range(0, 2 * places).map(MissMonitorTest::hash);
            assertThat(waiting(monitor, hashes.toArray())).isLessThanOrEqualTo(places);
            for (int i = 0; i < 2000; i++) {
                monitor.missed(hash(1_000_000 + i), 0);
                ticker.advance(5);
                assertThat(write(monitor, hash(1_000_000 + i))).isEqualTo(5);
            }
        }
    }

    @Test
    void hashesWithEqualLowBitsAreDistributed() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            for (int i = 0; i < 64; i++) {
                monitor.missed(hash(i) << 16, 0);
                monitor.missed(hash(i) >>> 16, 0);
            }
            ticker.advance(7);
            int measured = 0;
            for (int i = 0; i < 64; i++) {
                measured += write(monitor, hash(i) << 16) == 7 ? 1 : 0;
                measured += write(monitor, hash(i) >>> 16) == 7 ? 1 : 0;
            }
            assertThat(measured).isGreaterThan(120);
        }
    }

    /**
     * Against a map without bounds: with enough space the answers are equal, and without it every answer is correct.
     */
    @Test
    void itAgreesWithAMap() {
        for (int keys : new int[] {30, 3000}) {
            for (long seed = 1; seed <= 5; seed++) {
                compare(keys, seed);
            }
        }
    }

    private void compare(int keys, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<Integer, Long> expected = new HashMap<>();
        long now = 0;
        int measured = 0;
        try (MissMonitor monitor = open(BYTES, 3 * SECOND)) {
            for (int i = 0; i < 20_000; i++) {
                long step = random.nextInt(10) == 0 ? random.nextInt(2_000_000) : random.nextInt(100);
                now += step;
                ticker.advance(step);
                int key = random.nextInt(keys);
                if (random.nextBoolean()) {
                    monitor.missed(hash(key), 0);
                    Long before = expected.get(key);
                    if (before == null || now - before >= 655_350) {
                        expected.put(key, now);
                    }
                } else {
                    long micros = write(monitor, hash(key));
                    Long miss = expected.remove(key);
                    long right = miss == null || now - miss > 3 * SECOND ? NONE : now - miss;
                    measured += micros == NONE ? 0 : 1;
                    if (keys == 30 || micros != NONE) {
                        assertThat(micros).as("seed %d, %d keys, operation %d", seed, keys, i).isEqualTo(right);
                    }
                }
            }
            assertThat(measured).isPositive();
        }
    }

    @Test
    void memoryIsChargedAndReleased() {
        MissMonitor monitor = open(BYTES, SECOND);
        assertThat(budget.chargedBytes()).isEqualTo(BYTES);
        assertThat(monitor.bytes()).isEqualTo(BYTES);
        monitor.close();
        assertThat(budget.chargedBytes()).isZero();
        assertThat(MissMonitor.open(2 << 20, SECOND, ticker, regions, budget)).isNull();
        assertThat(budget.chargedBytes()).isZero();
    }

    @Test
    void valuesOutOfRangeAreRefused() {
        assertThatThrownBy(() -> open(BYTES, 0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not 0");
        assertThatThrownBy(() -> open(BYTES, MissMonitor.LONGEST_MICROS + 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> open(5000, SECOND)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("5000");
        assertThatThrownBy(() -> open(64, SECOND)).isInstanceOf(IllegalArgumentException.class);
        assertThat(budget.chargedBytes()).isZero();
    }

    /** A write may be refused memory after it has read the age, and be retried. */
    @Test
    void readingTheAgeDoesNotEndTheMiss() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            assertThat(monitor.missAgeMicros(1)).isEqualTo(NONE);
            monitor.missed(1, 15);
            monitor.missed(2, 3);
            monitor.missed(1, 15);
            ticker.advance(20);
            assertThat(monitor.missAgeMicros(1)).isEqualTo(20);
            assertThat(monitor.missClass()).isEqualTo(15);
            assertThat(monitor.misses()).isEqualTo(2);
            ticker.advance(5);
            assertThat(monitor.missAgeMicros(2)).isEqualTo(25);
            assertThat(monitor.missClass()).isEqualTo(3);
            assertThat(monitor.misses()).isEqualTo(1);
            assertThat(waiting(monitor, 1, 2)).isEqualTo(2);
            assertThat(write(monitor, 1)).isEqualTo(25);
            assertThat(monitor.missClass()).isEqualTo(15);
            assertThat(monitor.missAgeMicros(1)).isEqualTo(NONE);
            assertThat(waiting(monitor, 1, 2)).isEqualTo(1);
        }
    }

    /**
     * The remembered class of a key may be forgotten between two misses, or be another key's: then the earlier misses
     * stay where they were counted.
     */
    @Test
    void missesCountedForAnotherClassStayThere() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            for (int i = 0; i < 5; i++) {
                monitor.missed(1, 9);
                ticker.advance(10);
            }
            monitor.missed(1, 0);
            monitor.missed(1, 0);
            assertThat(monitor.missAgeMicros(1)).as("the fill began with the first").isEqualTo(50);
            assertThat(monitor.misses()).isEqualTo(2);
            assertThat(monitor.missClass()).isZero();
        }
    }

    /** A key that is requested once an hour, and then written. */
    @Test
    void missesTooOldForAWriteAreNotCounted() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            for (int i = 0; i < 5; i++) {
                monitor.missed(1, 3);
                ticker.advance(11 * SECOND);
            }
            monitor.missed(1, 3);
            assertThat(monitor.missAgeMicros(1)).isZero();
            assertThat(monitor.misses()).isEqualTo(1);
        }
    }

    /** Misses from before the measurement restarts were counted for the same class. */
    @Test
    void missesOfAKeyAreCountedUpToSixteen() {
        try (MissMonitor monitor = open(BYTES, 10 * SECOND)) {
            for (int misses = 1; misses <= 40; misses++) {
                monitor.missed(1, 5);
                ticker.advance(misses % 3 == 0 ? SECOND : 10);
                assertThat(monitor.missAgeMicros(1)).isPositive();
                assertThat(monitor.misses()).isEqualTo(Math.min(misses, 16));
                assertThat(monitor.missClass()).isEqualTo(5);
            }
            monitor.end();
            monitor.missed(1, 6);
            assertThat(monitor.missAgeMicros(1)).isZero();
            assertThat(monitor.misses()).isEqualTo(1);
            assertThat(monitor.missClass()).isEqualTo(6);
        }
    }

    @Test
    void aTagNeverEqualsTheEmptyMark() {
        assertThat(MissLayout.tag(0)).isEqualTo(1);
        assertThat(MissLayout.tag(-1)).isEqualTo((1 << MissLayout.TAG_BITS) - 1);
        long miss = MissLayout.miss((1 << MissLayout.TAG_BITS) - 1, 5, 16, MissLayout.TIME_MASK);
        assertThat(MissLayout.tagOf(miss)).isEqualTo((1 << MissLayout.TAG_BITS) - 1);
        assertThat(MissLayout.age(miss, MissLayout.TIME_MASK + 5)).isEqualTo(5);
        assertThat(MissLayout.missClass(miss)).isEqualTo(5);
        assertThat(MissLayout.count(miss)).isEqualTo(16);
        assertThat(MissLayout.miss(1, 0, 1, 0)).isNotEqualTo(MissLayout.EMPTY);
        long other = MissLayout.miss(1, MissLayout.CLASS_MASK, 2, 0);
        assertThat(MissLayout.count(other)).isEqualTo(2);
        assertThat(MissLayout.tagOf(other)).isEqualTo(1);
        assertThat(MissLayout.missClass(other)).isEqualTo(MissLayout.CLASS_MASK);
        assertThat(MissLayout.age(other, 0)).isZero();
    }
}

package io.varve.memory.penalty;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.penalty.MissMonitorTest.hash;
import static io.varve.memory.penalty.RememberedClasses.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the filter that remembers the classes of evicted keys, compared with a map. */
class RememberedClassesTest {
    private static final int LINES = 512;
    /** Two generations of so many lines. */
    private static final long BYTES = 2L * LINES << ClassTree.LINE_SHIFT;
    private static final long CAPACITY = (long) LINES * RememberedClasses.ADDITIONS_A_LINE;
    /** The specified error rates: of present keys, and of others. */
    private static final double ERROR = 0.01;

    private final Regions regions = new Regions();
    private final MemoryBudget budget = new MemoryBudget(1 << 20);

    private RememberedClasses open() {
        return Objects.requireNonNull(RememberedClasses.open(BYTES, regions, budget));
    }

    @Test
    void aKeyKeepsTheClassOfItsEviction() {
        try (RememberedClasses classes = open()) {
            assertThat(classes.classOf(hash(1))).isEqualTo(NONE);
            for (int i = 0; i < 16; i++) {
                classes.remember(hash(i), i);
            }
            for (int i = 0; i < 16; i++) {
                assertThat(classes.classOf(hash(i))).isEqualTo(i);
            }
            assertThat(classes.classOf(hash(16))).isEqualTo(NONE);
            assertThat(classes.keys()).isEqualTo(16);
        }
    }

    @Test
    void rememberingAgainTakesNoMemory() {
        try (RememberedClasses classes = open()) {
            for (int i = 0; i < CAPACITY; i++) {
                classes.remember(hash(7), 15);
            }
            assertThat(classes.keys()).isEqualTo(1);
            classes.remember(hash(8), 3);
            assertThat(classes.classOf(hash(7))).isEqualTo(15);
        }
    }

    @Test
    void theHigherOfTwoClassesIsReturnedUntilTheGenerationEnds() {
        for (int one = 0; one < 16; one++) {
            for (int other = 0; other < 16; other++) {
                try (RememberedClasses classes = open()) {
                    classes.remember(hash(5), one);
                    classes.remember(hash(5), other);
                    assertThat(classes.classOf(hash(5))).as("%d, then %d", one, other)
                            .isEqualTo(Math.max(one, other));
                }
            }
        }
        try (RememberedClasses classes = open()) {
            classes.remember(hash(5), 9);
            fillOneGeneration(classes, 1000);
            classes.remember(hash(5), 2);
            assertThat(classes.classOf(hash(5))).isEqualTo(2);
        }
    }

    /** Keys of class 0 take one addition each; a few pass for known ones and take none. */
    private static void fillOneGeneration(RememberedClasses classes, int from) {
        for (int i = 0; i < CAPACITY + CAPACITY / 10; i++) {
            classes.remember(hash(from + i), 0);
        }
    }

    @Test
    void recentEvictionsAreRememberedAndTheOldGenerationIsDropped() {
        try (RememberedClasses classes = open()) {
            classes.remember(hash(0), 11);
            fillOneGeneration(classes, 1000);
            assertThat(classes.classOf(hash(0))).isEqualTo(11);
            fillOneGeneration(classes, 100_000);
            fillOneGeneration(classes, 200_000);
            assertThat(classes.classOf(hash(0))).isEqualTo(NONE);
            assertThat(classes.keys()).isBetween(CAPACITY, 2 * CAPACITY);
            classes.clear();
            assertThat(classes.keys()).isZero();
            assertThat(classes.classOf(hash(200_001))).isEqualTo(NONE);
        }
    }

    @Test
    void aKeyInBothGenerationsCountsOnce() {
        try (RememberedClasses classes = open()) {
            int keys = 100;
            for (int i = 0; i < keys; i++) {
                classes.remember(hash(i), 6);
            }
            fillOneGeneration(classes, 1000);
            long before = classes.keys();
            for (int i = 0; i < keys; i++) {
                classes.remember(hash(i), 6);
            }
            assertThat(classes.keys()).isBetween(before, before + 2);
        }
    }

    /**
     * Both generations are full, with keys of all classes, of the two that make the fewest and the most additions, or
     * mostly of the class with the most errors: neither a wrong class nor a false positive is more frequent than
     * specified. Chance is given four standard deviations.
     */
    @ParameterizedTest
    @ValueSource(strings = {"all", "first and last", "mostly the first", "neighbours"})
    void theErrorRateIsBelowOnePercent(String spread) {
        IntUnaryOperator classOf = switch (spread) {
            case "all" -> key -> key & 15;
            case "first and last" -> key -> (key & 1) * 15;
            case "mostly the first" -> key -> (key & 15) == 0 ? 15 : 0;
            default -> key -> 3 + 3 * (key & 1);
        };
        int[] seen = new int[16];
        int[] wrong = new int[16];
        int strangers = 0;
        int known = 0;
        for (int round = 0; round < 4; round++) {
            try (RememberedClasses classes = open()) {
                int first = round * 1_000_000;
                int key = first;
                long made = 0;
                while (made < 2 * CAPACITY) {
                    int itsClass = classOf.applyAsInt(key);
                    classes.remember(hash(key++), itsClass);
                    made += 1 + Integer.bitCount(itsClass);
                }
                for (int i = first; i < key; i++) {
                    int remembered = classes.classOf(hash(i));
                    seen[classOf.applyAsInt(i)]++;
                    wrong[classOf.applyAsInt(i)] += remembered == classOf.applyAsInt(i) ? 0 : 1;
                }
                for (int i = 0; i < 10_000; i++) {
                    known += classes.classOf(hash(first + 500_000 + i)) == NONE ? 0 : 1;
                    strangers++;
                }
                assertThat(classes.keys()).as("all but those that pass for known ones").isBetween(
                        (long) (0.97 * (key - first)), (long) (key - first));
            }
        }
        assertThat(share(known, strangers)).as("strangers, %s", spread).isLessThan(bound(strangers));
        for (int i = 0; i < 16; i++) {
            if (seen[i] > 0) {
                assertThat(share(wrong[i], seen[i])).as("class %d, %s: %d of %d", i, spread, wrong[i], seen[i])
                        .isLessThan(bound(seen[i]));
            }
        }
        System.out.printf("%s: strangers known %.3f %%, class 0 wrong %.3f %%, class 15 %.3f %%%n", spread,
                100 * share(known, strangers), 100 * share(wrong[0], seen[0]), 100 * share(wrong[15], seen[15]));
    }

    private static double share(int part, int all) {
        return all == 0 ? 0 : (double) part / all;
    }

    private static double bound(int trials) {
        return ERROR + 4 * Math.sqrt(ERROR * (1 - ERROR) / trials);
    }

    /** Against a map: with enough space every evicted key returns its class, or the higher one if there were two. */
    @Test
    void itAgreesWithAMap() {
        for (long seed = 1; seed <= 3; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Map<Integer, Integer> highest = new HashMap<>();
            int wrong = 0;
            int requested = 0;
            try (RememberedClasses classes = open()) {
                for (int i = 0; i < 4000; i++) {
                    int key = random.nextInt(1000);
                    if (random.nextInt(3) == 0) {
                        int itsClass = random.nextInt(4) * 5;
                        classes.remember(hash(key), itsClass);
                        highest.merge(key, itsClass, Math::max);
                    } else {
                        requested++;
                        int remembered = classes.classOf(hash(key));
                        Integer expected = highest.get(key);
                        wrong += remembered == (expected == null ? NONE : expected) ? 0 : 1;
                        assertThat(remembered).as("seed %d", seed).isGreaterThanOrEqualTo(expected == null
                                ? NONE
                                : expected);
                    }
                }
            }
            assertThat((double) wrong / requested).as("seed %d", seed).isLessThan(ERROR);
        }
    }

    @Test
    void memoryIsChargedAndReleased() {
        RememberedClasses classes = open();
        assertThat(budget.chargedBytes()).isEqualTo(BYTES);
        assertThat(classes.bytes()).isEqualTo(BYTES);
        classes.clear();
        assertThat(budget.chargedBytes()).isEqualTo(BYTES);
        classes.close();
        assertThat(budget.chargedBytes()).isZero();
        assertThat(RememberedClasses.open(2 << 20, regions, budget)).isNull();
        assertThat(RememberedClasses.open(1 << 20, regions, new MemoryBudget(600_000))).isNull();
        assertThat(budget.chargedBytes()).isZero();
        assertThatThrownBy(() -> RememberedClasses.open(4096, regions, budget))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("4096");
    }

    /** As many keys as the documentation states, in all of the paper's memory. */
    @Test
    void sixteenMebibytesRememberAMillionKeysAndMore() {
        long lines = RememberedClasses.DEFAULT_BYTES / 2 >>> ClassTree.LINE_SHIFT;
        long additions = lines * RememberedClasses.ADDITIONS_A_LINE;
        assertThat(additions / 3).isBetween(1_300_000L, 1_320_000L);
        assertThat(additions / 5).isBetween(780_000L, 790_000L);
        assertThat(additions).isBetween(3_900_000L, 3_940_000L);
    }
}

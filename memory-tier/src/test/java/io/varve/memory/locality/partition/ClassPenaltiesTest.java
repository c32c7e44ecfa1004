package io.varve.memory.locality.partition;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the counts and the mean penalty of each class. */
class ClassPenaltiesTest {
    @Test
    void countsAreKeptByClass() {
        ClassCounts counts = new ClassCounts(3);
        counts.hit(0);
        counts.hit(2);
        counts.miss(2);
        counts.write(2);
        counts.penalty(2, -1, 70);
        counts.penalty(2, 0, 80);
        assertThat(counts.reads(0)).isEqualTo(1);
        assertThat(counts.reads(1)).isZero();
        assertThat(counts.reads(2)).isEqualTo(2);
        assertThat(counts.misses(2)).isEqualTo(1);
        assertThat(counts.accesses(2)).isEqualTo(3);
        assertThat(counts.penalties(2)).isEqualTo(2);
        assertThat(counts.micros(2)).isEqualTo(150);
        assertThat(counts.transitions(2, 2)).isZero();
        assertThat(counts.transitions(0, 2)).isEqualTo(1);
        assertThat(counts.transitionMicros(0, 2)).isEqualTo(80);
    }

    @Test
    void difference_isTheCountsSince() {
        ClassCounts counts = new ClassCounts(2);
        counts.miss(1);
        counts.penalty(1, 1, 10);
        ClassCounts before = new ClassCounts(2);
        counts.addTo(before);
        counts.miss(1);
        counts.hit(0);
        counts.write(1);
        counts.penalty(1, 1, 30);
        ClassCounts since = counts.since(before);
        assertThat(since.reads(0)).isEqualTo(1);
        assertThat(since.misses(1)).isEqualTo(1);
        assertThat(since.writes(1)).isEqualTo(1);
        assertThat(since.micros(1)).isEqualTo(30);
        assertThat(since.transitionMicros(1, 1)).isEqualTo(30);
        assertThat(since.transitions(1, 1)).isEqualTo(1);
        assertThat(counts.micros(1)).as("nothing is taken away").isEqualTo(40);
        assertThat(before.micros(1)).isEqualTo(10);
        assertThatThrownBy(() -> counts.since(new ClassCounts(3))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thePenaltyOfAClassIsTheMeanOfAPeriod() {
        ClassPenalties penalties = new ClassPenalties(4);
        SplittableRandom random = new SplittableRandom(1);
        for (int period = 0; period < 5; period++) {
            ClassCounts counts = new ClassCounts(4);
            for (int i = 0; i < 10_000; i++) {
                counts.penalty(2, -1, 1800 + random.nextInt(800));
            }
            penalties.endPeriod(counts);
            assertThat(penalties.micros(2)).isCloseTo(2200, within(15.0));
        }
    }

    @Test
    void aChangeIsVisibleAtTheEndOfThePeriod() {
        ClassPenalties penalties = new ClassPenalties(2);
        end(penalties, 1, 1000);
        assertThat(penalties.micros(1)).isEqualTo(1000);
        end(penalties, 1, 2000);
        assertThat(penalties.micros(1)).isEqualTo(2000);
    }

    private static void end(ClassPenalties penalties, int penaltyClass, long micros) {
        ClassCounts counts = new ClassCounts(2);
        counts.penalty(penaltyClass, -1, micros);
        penalties.endPeriod(counts);
    }

    @Test
    void unmeasuredClassesKeepTheirPenaltyOrUseTheMean() {
        ClassPenalties penalties = new ClassPenalties(2);
        penalties.endPeriod(new ClassCounts(2));
        assertThat(penalties.micros(0)).isEqualTo(penalties.micros(1)).isPositive();
        end(penalties, 1, 500);
        assertThat(penalties.micros(0)).isEqualTo(500);
        end(penalties, 0, 100);
        assertThat(penalties.micros(0)).isEqualTo(100);
        assertThat(penalties.micros(1)).isEqualTo(500);
        end(penalties, 1, 300);
        assertThat(penalties.micros(0)).isEqualTo(100);
    }

    /**
     * A source that fills into one class gets twice as slow: its earlier items then cost that too, including those that
     * moved to the class and have not been missed again.
     */
    @Test
    void aClassHasThePresentCostOfItsKeys() {
        ClassPenalties penalties = new ClassPenalties(3);
        ClassCounts counts = new ClassCounts(3);
        counts.penalty(1, 1, 1000);
        penalties.endPeriod(counts);
        assertThat(penalties.micros(1)).isEqualTo(1000);
        counts = new ClassCounts(3);
        for (int i = 0; i < 50; i++) {
            counts.penalty(2, 1, 2000);
            counts.penalty(1, -1, 1100);
        }
        penalties.endPeriod(counts);
        assertThat(penalties.micros(1)).isEqualTo(2000);
        assertThat(penalties.micros(2)).as("no key of it was missed").isEqualTo(2000);
    }

    /** The two classes' keys are the same: they are one source, whatever its fills are taken for. */
    @Test
    void randomVariationDoesNotSplitAGroup() {
        ClassPenalties penalties = new ClassPenalties(2);
        ClassCounts counts = new ClassCounts(2);
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 20_000; i++) {
            int micros = 250 + random.nextInt(120);
            counts.penalty(micros < 310 ? 0 : 1, random.nextInt(2), micros);
        }
        penalties.endPeriod(counts);
        assertThat(penalties.micros(0)).isCloseTo(310, within(2.0));
        assertThat(penalties.groups()).containsExactly(0, 0);
    }

    /** A client that stands still between its miss and its write, or another that writes for reasons of its own. */
    @Test
    void aSingleSlowFillIsIgnored() {
        ClassPenalties penalties = new ClassPenalties(3);
        ClassCounts counts = new ClassCounts(3);
        for (int i = 0; i < 1000; i++) {
            counts.penalty(0, 0, 200);
        }
        for (int i = 0; i < 20; i++) {
            counts.penalty(2, 0, 60_000_000);
        }
        penalties.endPeriod(counts);
        assertThat(penalties.micros(0)).isEqualTo(200);
        assertThat(penalties.groups()).containsExactly(0, 1, 2);
    }

    /**
     * The filters know the highest class with which a key was evicted: one slow fill of many marks it. So what is
     * filled lower says nothing of those that are dear for sure.
     */
    @Test
    void fillsIntoALowerClassAreIgnored() {
        ClassPenalties penalties = new ClassPenalties(3);
        ClassCounts counts = new ClassCounts(3);
        for (int i = 0; i < 9000; i++) {
            counts.penalty(0, 0, 200);
        }
        for (int i = 0; i < 1000; i++) {
            counts.penalty(0, 1, 200);
        }
        for (int i = 0; i < 40; i++) {
            counts.penalty(1, 1, 900);
        }
        penalties.endPeriod(counts);
        assertThat(penalties.micros(0)).isEqualTo(200);
        assertThat(penalties.micros(1)).isEqualTo(900);
        assertThat(penalties.groups()).containsExactly(0, 1, 2);
    }

    /** One unknown key in a hundred seems to be a remembered one, and the class of few keys is unknown. */
    @Test
    void errorsAndRandomVariationAreIgnored() {
        ClassPenalties penalties = new ClassPenalties(2);
        ClassCounts counts = new ClassCounts(2);
        for (int i = 0; i < 10_000; i++) {
            counts.penalty(1, i % 100 == 0 ? 0 : -1, 2000);
        }
        counts.penalty(0, -1, 200);
        penalties.endPeriod(counts);
        assertThat(penalties.micros(0)).isEqualTo(200);
        assertThat(penalties.micros(1)).isEqualTo(2000);
        counts.penalty(1, 0, 2000);
        counts.penalty(1, 0, 2000);
        penalties.endPeriod(counts);
        assertThat(penalties.micros(0)).as("more than errors").isEqualTo(2000);
        ClassPenalties few = new ClassPenalties(2);
        counts = new ClassCounts(2);
        for (int i = 0; i < 10; i++) {
            counts.penalty(1, 0, 2000);
            counts.penalty(0, -1, 200);
        }
        few.endPeriod(counts);
        assertThat(few.micros(0)).as("ten").isEqualTo(200);
        counts.penalty(1, 0, 2000);
        few.endPeriod(counts);
        assertThat(few.micros(0)).as("eleven").isEqualTo(2000);
    }

    @Test
    void thereAreNoMoreClassesThanConfigured() {
        assertThatThrownBy(() -> new ClassCounts(17)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ClassPenalties(0)).isInstanceOf(IllegalArgumentException.class);
    }
}

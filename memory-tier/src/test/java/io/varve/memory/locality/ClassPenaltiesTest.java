package io.varve.memory.locality;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

class ClassPenaltiesTest {
    @Test
    void whatHappenedIsCountedByClass() {
        ClassCounts counts = new ClassCounts(3);
        counts.hit(0);
        counts.hit(2);
        counts.miss(2);
        counts.write(2);
        counts.penalty(2, 70);
        counts.penalty(2, 80);
        assertThat(counts.reads(0)).isEqualTo(1);
        assertThat(counts.reads(1)).isZero();
        assertThat(counts.reads(2)).isEqualTo(2);
        assertThat(counts.misses(2)).isEqualTo(1);
        assertThat(counts.accesses(2)).isEqualTo(3);
        assertThat(counts.penalties(2)).isEqualTo(2);
        assertThat(counts.micros(2)).isEqualTo(150);
    }

    @Test
    void whatWasCountedSinceIsTheDifference() {
        ClassCounts counts = new ClassCounts(2);
        counts.miss(1);
        counts.penalty(1, 10);
        ClassCounts before = new ClassCounts(2);
        counts.addTo(before);
        counts.miss(1);
        counts.hit(0);
        counts.write(1);
        counts.penalty(1, 30);
        ClassCounts since = counts.since(before);
        assertThat(since.reads(0)).isEqualTo(1);
        assertThat(since.misses(1)).isEqualTo(1);
        assertThat(since.writes(1)).isEqualTo(1);
        assertThat(since.micros(1)).isEqualTo(30);
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
                counts.penalty(2, 1800 + random.nextInt(800));
            }
            penalties.endPeriod(counts);
            assertThat(penalties.micros(2)).isCloseTo(2200, within(15.0));
        }
    }

    @Test
    void aChangeIsSeenAtTheEndOfThePeriod() {
        ClassPenalties penalties = new ClassPenalties(2);
        end(penalties, 1, 1000);
        assertThat(penalties.micros(1)).isEqualTo(1000);
        end(penalties, 1, 2000);
        assertThat(penalties.micros(1)).isEqualTo(2000);
    }

    private static void end(ClassPenalties penalties, int penaltyClass, long micros) {
        ClassCounts counts = new ClassCounts(2);
        counts.penalty(penaltyClass, micros);
        penalties.endPeriod(counts);
    }

    @Test
    void whatWasNotMeasuredKeepsWhatItHadOrIsLikeTheOthers() {
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

    @Test
    void noMoreClassesThanThereAre() {
        assertThatThrownBy(() -> new ClassCounts(17)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ClassPenalties(0)).isInstanceOf(IllegalArgumentException.class);
    }
}

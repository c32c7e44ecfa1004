package io.varve.memory.locality.partition;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which classes {@link ClassGroups} groups, and for how long, given the reports of {@link ClassPenalties}.
 * Confined to the test's thread.
 */
class ClassGroupsTest {
    private static final int CLASSES = 4;

    private final ClassPenalties penalties = new ClassPenalties(CLASSES);
    private ClassCounts period = new ClassCounts(CLASSES);

    /** Misses of keys that were of one class, and are filled as another. */
    private void turn(int from, int to, int misses, long micros) {
        for (int i = 0; i < misses; i++) {
            period.penalty(to, from, micros);
        }
    }

    private int[] end() {
        penalties.endPeriod(period);
        period = new ClassCounts(CLASSES);
        return penalties.groups();
    }

    @Test
    void classesWithStableKeysStaySeparate() {
        turn(0, 0, 100, 100);
        turn(1, 1, 100, 1000);
        turn(2, 2, 100, 1000);
        assertThat(end()).as("though two cost the same").containsExactly(0, 1, 2, 3);
    }

    @Test
    void aSlowerSourceIsGroupedWithItsFormerClass() {
        turn(0, 0, 100, 100);
        turn(1, 1, 100, 1000);
        assertThat(end()).containsExactly(0, 1, 2, 3);
        turn(0, 0, 100, 100);
        turn(1, 2, 80, 2000);
        turn(2, 2, 20, 2000);
        assertThat(end()).containsExactly(0, 1, 1, 3);
        turn(0, 0, 100, 100);
        turn(2, 2, 100, 2000);
        assertThat(end()).as("earlier items have no more misses").containsExactly(0, 1, 1, 3);
    }

    /** For the class that is hardly missed, the few keys that another source fills into it are not significant. */
    @Test
    void classesOfAGroupHaveOneCost() {
        turn(1, 2, 100, 2000);
        turn(0, 0, 1000, 100);
        end();
        for (int i = 0; i < 10; i++) {
            turn(2, 2, 100, 2100 + i);
            turn(0, 0, 1000, 100);
            turn(0, 1, 20, 900);
            turn(1, 0, 20, 100);
            assertThat(end()).containsExactly(0, 1, 1, 3);
            assertThat(penalties.micros(1)).isEqualTo(2100 + i);
        }
    }

    @Test
    void aSourceAtARangeBoundaryIsOneGroup() {
        turn(1, 2, 50, 330);
        turn(1, 1, 50, 290);
        turn(2, 1, 40, 290);
        turn(2, 2, 60, 330);
        assertThat(end()).containsExactly(0, 1, 1, 3);
    }

    /** One fill in three from a cheap source is slow, and all fills from another are: their costs are independent. */
    @Test
    void aDifferentCostIsAnotherSource() {
        turn(1, 2, 30, 1300);
        turn(1, 1, 70, 1100);
        turn(2, 2, 400, 2000);
        assertThat(end()).containsExactly(0, 1, 2, 3);
    }

    @Test
    void threeMixedClassesAreOneGroup() {
        turn(2, 3, 50, 1000);
        turn(2, 2, 50, 1000);
        turn(0, 3, 50, 1000);
        turn(0, 0, 50, 1000);
        turn(3, 3, 90, 1000);
        turn(1, 1, 90, 1000);
        assertThat(end()).containsExactly(0, 1, 0, 0);
    }

    /** A hundred strangers in ten thousand seem to have been of a class. */
    @Test
    void filterErrorsJoinNoClasses() {
        turn(-1, 3, 9_900, 1000);
        turn(2, 3, 100, 1000);
        assertThat(end()).containsExactly(0, 1, 2, 3);
    }

    @Test
    void groupsSplitWhenMissesDiffer() {
        turn(1, 2, 100, 1000);
        assertThat(end()).containsExactly(0, 1, 1, 3);
        for (int i = 0; i < 20; i++) {
            turn(0, 0, 1000, 100);
            assertThat(end()).as("nothing is reported of them").containsExactly(0, 1, 1, 3);
        }
        turn(1, 1, 100, 1000);
        turn(2, 2, 100, 1000);
        turn(0, 0, 100, 100);
        assertThat(end()).as("keys of both stay what they are").containsExactly(0, 1, 2, 3);
        turn(1, 2, 1000, 1000);
        assertThat(end()).containsExactly(0, 1, 1, 3);
        turn(1, 2, 100, 1000);
        turn(2, 2, 100, 3000);
        assertThat(end()).as("another source comes").containsExactly(0, 1, 2, 3);
    }
}

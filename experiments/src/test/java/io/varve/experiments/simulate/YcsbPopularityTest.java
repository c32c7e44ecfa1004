package io.varve.experiments.simulate;

import java.util.List;

import io.varve.experiments.simulate.Simulation.Cell;
import io.varve.experiments.simulate.Simulation.Outcome;
import io.varve.experiments.simulate.YcsbKeys.Distribution;
import io.varve.flash.policy.Policies;
import io.varve.flash.simulation.CheApproximation;
import io.varve.flash.simulation.Popularity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Compares the derived popularity with the draws of YCSB's generators. Confined to the test's thread. They cannot be
 * seeded; the bounds are six standard deviations and more.
 */
class YcsbPopularityTest {
    private static final int KEYS = 100_000;
    private static final int DRAWS = 2_000_000;

    @ParameterizedTest
    @EnumSource
    void generatorsMatchDerivedPopularity(Distribution distribution) {
        Popularity popularity = new YcsbKeys(distribution, KEYS, DRAWS, 0).popularity().orElseThrow();
        if (distribution == Distribution.UNIFORM) {
            assertThat(popularity.count()).isEqualTo(KEYS);
            return;
        }
        assertThat(popularity.kinds()).isEqualTo(KEYS);
        int[] drawn = new int[KEYS];
        java.util.Map<Long, Integer> numbers = new java.util.HashMap<>();
        for (int key = 0; key < KEYS; key++) {
            numbers.put(Mixing.mix(key + 1L), key);
        }
        KeyStream stream = new YcsbKeys(distribution, KEYS, DRAWS, 0).open();
        try (stream) {
            while (stream.next()) {
                drawn[java.util.Objects.requireNonNull(numbers.get(stream.key()))]++;
            }
        } catch (java.io.IOException never) {
            throw new AssertionError(never);
        }
        double worst = 0;
        double chiSquare = 0;
        for (int key = 0; key < KEYS; key++) {
            double mean = popularity.probability(key) * DRAWS;
            if (mean > 20) {
                double deviations = (drawn[key] - mean) / Math.sqrt(mean);
                worst = Math.max(worst, Math.abs(deviations));
            }
            chiSquare += mean == 0 ? 0 : (drawn[key] - mean) * (drawn[key] - mean) / mean;
        }
        assertThat(worst).as("standard deviations that a key is off at the most").isLessThan(8);
        // The mean is the number of keys, the standard deviation the root of twice that; 1 % more for the tail that is
        // taken as even.
        assertThat(chiSquare / KEYS).isCloseTo(1, within(0.05));
    }

    /** With fewer items than YCSB's, so that all of them can be folded one by one. */
    @Test
    void aSampleOfTheKeysHasTheHitRatioOfAllOfThem() {
        YcsbPopularity.Ranks ranks = YcsbPopularity.Ranks.of(5_000_000);
        Popularity folded = YcsbPopularity.folded(ranks, 1_000_000, 5_000_000);
        Popularity sampled = YcsbPopularity.sampled(ranks, 1_000_000, 10_000, 100_000);
        for (double capacity : new double[] {10_000, 100_000}) {
            assertThat(100 * CheApproximation.lru(sampled, capacity))
                    .isCloseTo(100 * CheApproximation.lru(folded, capacity), within(0.3));
            assertThat(100 * CheApproximation.random(sampled, capacity))
                    .isCloseTo(100 * CheApproximation.random(folded, capacity), within(0.3));
        }
    }

    /**
     * The paper's own size, its Table VI: 1.5 billion keys, a tenth of them cached; LRU 77.0 %, RANDOM 74.9 %
     * simulated.
     */
    @Test
    void thePapersHitRatiosFollowFromTheTheory() {
        Popularity popularity = YcsbPopularity.scrambledZipfian(1_500_000_000L);
        assertThat(100 * CheApproximation.lru(popularity, 150e6)).isCloseTo(77.0, within(1.0));
        assertThat(100 * CheApproximation.random(popularity, 150e6)).isCloseTo(74.9, within(1.0));
    }

    @ParameterizedTest
    @EnumSource
    void hitRatiosMatchTheory(Distribution distribution) throws java.io.IOException {
        List<Cell> cells = List.of(new Cell(Policies.LRU, KEYS / 100), new Cell(Policies.RANDOM, KEYS / 100),
                new Cell(Policies.LRU, KEYS / 10), new Cell(Policies.RANDOM, KEYS / 10));
        KeySource source = new YcsbKeys(distribution, KEYS, 2L * DRAWS, 0.05);
        for (Outcome outcome : new Simulation(source, DRAWS, 1000, 1, false).run(cells, _ -> true)) {
            assertThat(100 * outcome.figures().hitRatio()).as("%s", outcome.cell())
                    .isCloseTo(100 * outcome.theory().orElseThrow(), within(0.2));
        }
    }

    @Test
    void ranksThatAreTakenTogetherHaveTheHitRatioOfAllOfThem() {
        Popularity exact = YcsbPopularity.latest(2_000_000);
        Popularity kinds = YcsbPopularity.latestInKinds(2_000_000, 10_000);
        assertThat(kinds.kinds()).isLessThan(100_000);
        assertThat(kinds.count()).isEqualTo(exact.count());
        for (double capacity : new double[] {10_000, 200_000}) {
            assertThat(100 * CheApproximation.lru(kinds, capacity))
                    .isCloseTo(100 * CheApproximation.lru(exact, capacity), within(0.01));
            assertThat(100 * CheApproximation.random(kinds, capacity))
                    .isCloseTo(100 * CheApproximation.random(exact, capacity), within(0.01));
        }
    }

    /** YCSB has the sum over ten billion ranks as a number in its code; ours takes most of it together. */
    @Test
    void theSumOverManyRanksIsYcsbs() {
        assertThat(YcsbPopularity.Ranks.of(10_000_000_000L).zeta()).isCloseTo(26.46902820178302, within(1e-8));
    }

    /** The paper's Table VI at its own size: LRU 84.1 %, RANDOM 82.2 % simulated. */
    @Test
    void thePapersHitRatiosOfLatestFollowFromTheTheoryToo() {
        Popularity popularity = YcsbPopularity.latest(1_500_000_000L);
        assertThat(100 * CheApproximation.lru(popularity, 150e6)).isCloseTo(84.1, within(1.0));
        assertThat(100 * CheApproximation.random(popularity, 150e6)).isCloseTo(82.2, within(1.0));
    }

    @Test
    void latestRequestsTheLastKeyMost() {
        Popularity latest = YcsbPopularity.latest(1000);
        assertThat(latest.kinds()).isEqualTo(1000);
        assertThat(latest.probability(0)).isZero();
        for (int key = 2; key < latest.kinds(); key++) {
            assertThat(latest.probability(key)).isGreaterThan(latest.probability(key - 1));
        }
    }
}

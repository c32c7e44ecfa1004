package io.varve.flash.simulation;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;

import io.varve.flash.policy.Policies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Compares the theory with a simulation of its model. Confined to the test's thread. */
class CheApproximationTest {
    private static double[] zipf(int keys, double exponent) {
        double[] popularity = new double[keys];
        double sum = 0;
        for (int i = 0; i < keys; i++) {
            popularity[i] = 1 / Math.pow(i + 1, exponent);
            sum += popularity[i];
        }
        double all = sum;
        return Arrays.stream(popularity).map(p -> p / all).toArray();
    }

    @Test
    void uniformKeys_hitRatioIsCachedShare() {
        double[] alike = zipf(1000, 0);
        assertThat(CheApproximation.lru(Popularity.of(alike), 100)).isCloseTo(0.1, within(1e-9));
        assertThat(CheApproximation.random(Popularity.of(alike), 250)).isCloseTo(0.25, within(1e-9));
    }

    @Test
    void manyKeysOfAKindAreAsThatManyKeys() {
        Popularity kinds = new Popularity(new double[] {0.01, 0.001}, new double[] {50, 500});
        double[] single = new double[550];
        Arrays.fill(single, 0, 50, 0.01);
        Arrays.fill(single, 50, 550, 0.001);
        assertThat(kinds.count()).isEqualTo(550);
        assertThat(CheApproximation.lru(kinds, 60)).isCloseTo(CheApproximation.lru(Popularity.of(single), 60),
                within(1e-9));
        assertThat(CheApproximation.random(Popularity.uniform(1000), 10)).isCloseTo(0.01, within(1e-9));
    }

    @ParameterizedTest
    @CsvSource({"0.99,0.005", "0.99,0.02", "0.99,0.1", "0.7,0.1"})
    void simulationMatchesTheory(double exponent, double share) {
        int keys = 50_000;
        double[] popularity = zipf(keys, exponent);
        double[] cumulated = popularity.clone();
        Arrays.parallelPrefix(cumulated, Double::sum);
        int capacity = (int) (keys * share);
        assertThat(100 * simulate(Policies.LRU, cumulated, capacity).hitRatio())
                .isCloseTo(100 * CheApproximation.lru(Popularity.of(popularity), capacity), within(0.2));
        assertThat(100 * simulate(Policies.RANDOM, cumulated, capacity).hitRatio())
                .isCloseTo(100 * CheApproximation.random(Popularity.of(popularity), capacity), within(0.2));
    }

    private static CacheSimulator.Figures simulate(Policies kind, double[] cumulated, int capacity) {
        SplittableRandom random = new SplittableRandom(2013);
        try (Arena arena = Arena.ofConfined()) {
            CacheSimulator simulator = new CacheSimulator(kind.create(arena, capacity, random.split()), capacity, 1000);
            for (int i = 0; i < 2_000_000; i++) {
                if (i == 500_000) {
                    simulator.startCounting();
                }
                int found = Arrays.binarySearch(cumulated, random.nextDouble());
                long key = (found < 0 ? -found - 1 : found) + 1L;
                simulator.access(key * 0x9E37_79B9_7F4A_7C15L);
            }
            return simulator.figures();
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "10", "11"})
    void aCapacityThatHoldsNothingOrAllIsRefused(double capacity) {
        assertThatThrownBy(() -> CheApproximation.lru(Popularity.of(zipf(10, 1)), capacity)).isInstanceOf(
                IllegalArgumentException.class);
    }
}

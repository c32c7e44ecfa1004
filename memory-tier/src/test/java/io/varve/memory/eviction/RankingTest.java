package io.varve.memory.eviction;

import java.util.SplittableRandom;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the eviction threshold that a sample of scores gives. */
final class RankingTest {
    private static final long NOW = 1_700_000_000_000L;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5, 10, 31})
    void theThresholdSelectsTheWorstShare(int samples) {
        SplittableRandom random = new SplittableRandom(samples);
        Ranking ranking = new Ranking();
        double sum = 0;
        int lines = 500;
        for (int i = 0; i < lines; i++) {
            ranking.begin();
            while (ranking.needsMore()) {
                ranking.add(random.nextLong(1_000_000));
            }
            assertThat(ranking.setThreshold(samples)).isTrue();
            int evicted = 0;
            for (int item = 0; item < 1000; item++) {
                evicted += ranking.isEvicted(item * 1000L) ? 1 : 0;
            }
            sum += evicted / 1000.0;
        }
        assertThat(sum / lines).isBetween(Ranking.worstShare(samples) - 0.03, Ranking.worstShare(samples) + 0.03);
    }

    /**
     * The marked ones are evicted first, alone; and of them the worst, as many as if each were chosen from five random
     * ones: if few are marked, each is the only one of its five; if all are marked, it is the worst of five.
     */
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "3, 3", "4, 4", "10, 8", "21, 14", "40, 19", "64, 21"})
    void prioritizedItemsAreEvictedFirst(int first, int going) {
        Ranking ranking = new Ranking();
        ranking.begin();
        long[] scores = new long[Ranking.SAMPLE];
        for (int i = 0; i < scores.length; i++) {
            scores[i] = i + (i * 37 % scores.length < first ? Ranking.FIRST : 0);
            ranking.add(scores[i]);
        }
        assertThat(ranking.setThresholdOfFirst(5)).isTrue();
        assertThat(LongStream.of(scores).filter(ranking::isEvicted)).hasSize(going);
        long firstGoing = LongStream.of(scores).filter(score -> score >= Ranking.FIRST && ranking.isEvicted(score))
                .count();
        assertThat(firstGoing).isEqualTo(going);
        assertThat(ranking.evictedShareOfFirst()).isEqualTo(first == 0 ? 1 : (double) going / first);
        assertThat(ranking.isEvicted(Ranking.FIRST + (1L << 40))).as("whom the sample has not met").isTrue();
        assertThat(ranking.setThreshold(5)).isTrue();
        assertThat(LongStream.of(scores).filter(ranking::isEvicted)).as("one drawn through all").hasSize(21);
    }

    /** The marked ones are evicted, and a third of the others, however many there are of both. */
    @ParameterizedTest
    @CsvSource({"0, 21", "1, 21", "40, 8", "63, 1", "64, 0"})
    void otherItemsAreEvictedAfterThePrioritizedOnes(int first, int othersGoing) {
        Ranking ranking = new Ranking();
        ranking.begin();
        assertThat(ranking.setThresholdBehindFirst(5)).isFalse();
        long[] scores = new long[Ranking.SAMPLE];
        for (int i = 0; i < scores.length; i++) {
            scores[i] = i + (i * 37 % scores.length < first ? Ranking.FIRST : 0);
            ranking.add(scores[i]);
        }
        assertThat(ranking.setThresholdBehindFirst(5)).isTrue();
        assertThat(LongStream.of(scores).filter(score -> score >= Ranking.FIRST)).allMatch(ranking::isEvicted);
        assertThat(LongStream.of(scores).filter(score -> score < Ranking.FIRST && ranking.isEvicted(score)))
                .hasSize(othersGoing);
    }

    @Test
    void nothingIsEvictedWithoutAThreshold() {
        Ranking ranking = new Ranking();
        ranking.begin();
        assertThat(ranking.setThreshold(5)).isFalse();
        assertThat(ranking.setThresholdOfFirst(5)).isFalse();
        assertThat(ranking.isEvicted(Long.MAX_VALUE - 1)).isFalse();
        assertThat(ranking.setThresholdBelowAll()).isFalse();
    }

    @Test
    void eachPolicyScoresItsOwnVictimsHighest() {
        int old = AccessBits.initial(EvictionPolicy.ALLKEYS_LRU, NOW - 50_000);
        int fresh = AccessBits.initial(EvictionPolicy.ALLKEYS_LRU, NOW);
        assertThat(Ranking.score(EvictionPolicy.ALLKEYS_LRU, old, -1, NOW, 0))
                .isGreaterThan(Ranking.score(EvictionPolicy.ALLKEYS_LRU, fresh, -1, NOW, 4095));
        assertThat(Ranking.score(EvictionPolicy.VOLATILE_TTL, 0, NOW + 5, NOW, 0))
                .isGreaterThan(Ranking.score(EvictionPolicy.VOLATILE_TTL, 0, NOW + 6, NOW, 4095));
        int rare = AccessBits.initial(EvictionPolicy.ALLKEYS_LFU, NOW);
        assertThat(Ranking.score(EvictionPolicy.ALLKEYS_LFU, rare, -1, NOW, 0))
                .isGreaterThan(Ranking.score(EvictionPolicy.ALLKEYS_LFU, rare + 1, -1, NOW, 4095));
    }

    /** Cost times accesses by residence, whatever the random bits are. */
    @Test
    void hyperbolicScoresAreOrderedByPriority() {
        SplittableRandom random = new SplittableRandom(9);
        long ticks = 1L << 33;
        for (int i = 0; i < 100_000; i++) {
            int one = (int) (random.nextLong() >>> 40);
            int other = (int) (random.nextLong() >>> 40);
            double oneCost = random.nextInt(1, 1_000_000);
            double otherCost = random.nextInt(1, 1_000_000);
            double priority = oneCost * Residence.accesses(one) / (Residence.resident(one, ticks) + 1);
            double otherPriority = otherCost * Residence.accesses(other) / (Residence.resident(other, ticks) + 1);
            if (priority < otherPriority * 0.999_999) {
                assertThat(Ranking.hyperbolic(one, oneCost, ticks, 0))
                        .isGreaterThan(Ranking.hyperbolic(other, otherCost, ticks, -1));
            }
        }
    }

    @Test
    void hyperbolicCachingBreaksTiesAtRandomAndEvictsItemsWithoutCostFirst() {
        int fresh = Residence.begun(70);
        assertThat(Ranking.hyperbolic(fresh, 5, 70, 1)).isLessThan(Ranking.hyperbolic(fresh, 5, 70, 2));
        int old = Residence.begun(71 + Residence.TICKS / 2);
        assertThat(Ranking.hyperbolic(fresh, 0, 70, 0)).isGreaterThan(Ranking.hyperbolic(old, 1e-9, 70, -1));
        assertThat(Ranking.score(EvictionPolicy.ALLKEYS_HYPERBOLIC, fresh, -1, 80, 3))
                .isEqualTo(Ranking.hyperbolic(fresh, 1, 80, 3));
    }
}

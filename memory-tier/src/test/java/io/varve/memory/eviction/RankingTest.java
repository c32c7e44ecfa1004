package io.varve.memory.eviction;

import java.util.SplittableRandom;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

final class RankingTest {
    private static final long NOW = 1_700_000_000_000L;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5, 10, 31})
    void theLineLeavesTheWorstShareBehindIt(int samples) {
        SplittableRandom random = new SplittableRandom(samples);
        Ranking ranking = new Ranking();
        double sum = 0;
        int lines = 500;
        for (int i = 0; i < lines; i++) {
            ranking.begin();
            while (ranking.wantsMore()) {
                ranking.draw(random.nextLong(1_000_000));
            }
            assertThat(ranking.drawLine(samples)).isTrue();
            int gone = 0;
            for (int item = 0; item < 1000; item++) {
                gone += ranking.goes(item * 1000L) ? 1 : 0;
            }
            sum += gone / 1000.0;
        }
        assertThat(sum / lines).isBetween(Ranking.worstShare(samples) - 0.03, Ranking.worstShare(samples) + 0.03);
    }

    /** Who is to go first goes alone, if there are enough of them; and if there are more than need go, the worst of them. */
    @ParameterizedTest
    @CsvSource({"0, 21", "3, 21", "4, 4", "10, 10", "21, 21", "40, 21", "64, 21"})
    void someGoBeforeAllOthers(int first, int going) {
        Ranking ranking = new Ranking();
        ranking.begin();
        long[] scores = new long[Ranking.SAMPLE];
        for (int i = 0; i < scores.length; i++) {
            scores[i] = i + (i * 37 % scores.length < first ? Ranking.FIRST : 0);
            ranking.draw(scores[i]);
        }
        assertThat(ranking.drawLineOfFirst(5)).isTrue();
        assertThat(LongStream.of(scores).filter(ranking::goes)).hasSize(going);
        long firstGoing = LongStream.of(scores).filter(score -> score >= Ranking.FIRST && ranking.goes(score)).count();
        assertThat(firstGoing).isEqualTo(Math.min(first, going));
    }

    @Test
    void nobodyGoesWithoutALine() {
        Ranking ranking = new Ranking();
        ranking.begin();
        assertThat(ranking.drawLine(5)).isFalse();
        assertThat(ranking.drawLineOfFirst(5)).isFalse();
        assertThat(ranking.goes(Long.MAX_VALUE - 1)).isFalse();
        assertThat(ranking.drawLineBelowAll()).isFalse();
    }

    @Test
    void eachPolicyPrefersItsOwn() {
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
}

package io.varve.ycsb.option;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

import io.varve.ycsb.option.VarveOptions.TtlDistribution;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** TTLs follow their distribution. Confined to the test's thread. */
class TtlChooserTest {

    private static final List<Long> TTLS = List.of(15_000L, 30_000L, 45_000L, 60_000L);
    private static final int DRAWS = 100_000;

    @Test
    void uniformDrawsEachEquallyOften() {
        Map<Long, Double> shares = shares(TtlDistribution.UNIFORM);
        assertThat(shares).containsOnlyKeys(TTLS);
        assertThat(shares.values()).allSatisfy(share -> assertThat(share).isCloseTo(0.25, within(0.01)));
    }

    @Test
    void zipfianDrawsTheFirstMostOften() {
        // 1 + 2^-0.99 + 3^-0.99 + 4^-0.99
        double sum = 1 + 0.50348 + 0.33702 + 0.25349;
        Map<Long, Double> shares = shares(TtlDistribution.ZIPFIAN);
        assertThat(shares).containsOnlyKeys(TTLS);
        assertThat(shares.get(15_000L)).isCloseTo(1 / sum, within(0.01));
        assertThat(shares.get(60_000L)).isCloseTo(0.25349 / sum, within(0.01));
    }

    @Test
    void constantDrawsTheFirstAlways() {
        assertThat(shares(TtlDistribution.CONSTANT)).containsOnlyKeys(15_000L);
    }

    @Test
    void oneSeedGivesOneSequencePerThreadAndEachThreadItsOwn() {
        assertThat(draws(7, 0)).isEqualTo(draws(7, 0));
        assertThat(draws(7, 3)).isEqualTo(draws(7, 3));
        assertThat(draws(7, 0)).isNotEqualTo(draws(7, 1));
        assertThat(draws(7, 0)).isNotEqualTo(draws(8, 0));
    }

    @Test
    void nothingToDrawFromIsRefused() {
        assertThatThrownBy(() -> new TtlChooser(List.of(), TtlDistribution.UNIFORM, 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Map<Long, Double> shares(TtlDistribution distribution) {
        TtlChooser chooser = new TtlChooser(TTLS, distribution, 42, 0);
        Map<Long, Double> shares = new TreeMap<>();
        for (int i = 0; i < DRAWS; i++) {
            shares.merge(chooser.nextMillis(), 1.0 / DRAWS, Double::sum);
        }
        return shares;
    }

    private static long[] draws(long seed, int threadNumber) {
        TtlChooser chooser = new TtlChooser(TTLS, TtlDistribution.UNIFORM, seed, threadNumber);
        return LongStream.generate(chooser::nextMillis).limit(64).toArray();
    }
}

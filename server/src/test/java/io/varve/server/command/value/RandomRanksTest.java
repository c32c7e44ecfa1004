package io.varve.server.command.value;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The distribution of random ranks. Confined to the test's thread. */
class RandomRanksTest {
    private static List<Long> pick(long size, long count) {
        List<Long> ranks = new ArrayList<>();
        RandomRanks.forEach(size, count, ranks::add);
        return ranks;
    }

    @ParameterizedTest
    @CsvSource({"1,1", "1,0", "5,5", "5,2", "100,33", "100,34", "100000,5", "100000,30000", "100000,99999",
            "1000000000000,5000", "10000000,3000000"})
    void areDifferentAndAscending(long size, int count) {
        List<Long> ranks = pick(size, count);
        assertThat(ranks).hasSize(count).isSorted().allMatch(rank -> rank >= 0 && rank < size);
        assertThat(new HashSet<>(ranks)).hasSize(count);
    }

    /** Repeatedly picks 3000 of 9000 ranks in three stretches. */
    @Test
    void eachHasTheSameChance() {
        int[] picked = new int[90];
        int rounds = 2000;
        for (int i = 0; i < rounds; i++) {
            RandomRanks.forEach(9000, 3000, rank -> picked[(int) (rank / 100)]++);
        }
        // A hundred ranks a third of the time: 66,667, with a standard deviation of 211 at most.
        assertThat(picked).satisfies(counts -> {
            for (int count : counts) {
                assertThat(count).isBetween(65_400, 67_900);
            }
        });
    }

    @Test
    void eachPairHasTheSameChance() {
        int[] picked = new int[64];
        for (int i = 0; i < 56_000; i++) {
            List<Long> ranks = pick(8, 2);
            picked[(int) (ranks.get(0) * 8 + ranks.get(1))]++;
        }
        // 28 pairs: 2000 each, with a standard deviation of 44.
        for (int i = 0; i < 8; i++) {
            for (int j = i + 1; j < 8; j++) {
                assertThat(picked[i * 8 + j]).isBetween(1730, 2270);
            }
        }
    }
}

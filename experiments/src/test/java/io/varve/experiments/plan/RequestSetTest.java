package io.varve.experiments.plan;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests the sets of the Redis++ paper's Table 4, and the distribution of requested keys. Confined to the test's thread.
 */
final class RequestSetTest {
    private static final long SEED = 7;
    private static final int DRAWS = 200_000;

    private static Map<String, String> workload(String keyBytes, String values) {
        return new HashMap<>(Map.of("key-bytes", keyBytes, "values", values, "large-values", "1024-10240",
                "large-share", "0.05", "reads", "50 95", "distributions", "unif zipf", "connections", "50"));
    }

    @Test
    void fivePercentOfTheValuesAreLargeAndAllLengthsOccur() {
        RequestSet tiny = RequestSet.of(workload("8", "8-16"));
        int[] lengths = LongStream.range(0, DRAWS).mapToInt(draw -> tiny.valueBytes(SEED, draw)).toArray();
        int[] large = Arrays.stream(lengths).filter(length -> length > 16).toArray();
        assertThat(large.length / (double) DRAWS).isCloseTo(0.05, within(0.003));
        assertThat(Arrays.stream(large).min().orElseThrow()).isBetween(1024, 1040);
        assertThat(Arrays.stream(large).max().orElseThrow()).isBetween(10_220, 10_240);
        assertThat(Arrays.stream(lengths).filter(length -> length <= 16).distinct().sorted().toArray())
                .isEqualTo(LongStream.rangeClosed(8, 16).mapToInt(Math::toIntExact).toArray());
        assertThat(Arrays.stream(lengths).average().orElseThrow()).isCloseTo(tiny.meanValueBytes(), within(10.0));
        assertThat(tiny.meanValueBytes()).isEqualTo(0.95 * 12 + 0.05 * 5632);
        assertThat(tiny.maxValueBytes()).isEqualTo(10_240);
    }

    @Test
    void keysAreOfTheirLengthOfTextAndNoTwoAreAlike() {
        for (String keyBytes : new String[] {"8", "16", "128", "11"}) {
            RequestSet set = RequestSet.of(workload(keyBytes, "8-16"));
            Set<String> seen = new HashSet<>();
            byte[] key = new byte[set.keyBytes()];
            for (long number = 0; number < 50_000; number++) {
                set.putKey(SEED, number, key);
                String text = new String(key, StandardCharsets.US_ASCII);
                assertThat(seen.add(text)).as("key %d: %s", number, text).isTrue();
            }
            assertThat(seen).allMatch(text -> text.matches("[A-Za-z0-9_-]{" + keyBytes + "}"));
            // Random: what they begin with is as good as any of the 64 characters.
            assertThat(seen.stream().filter(text -> text.startsWith("A")).count()).isBetween(550L, 1020L);
        }
    }

    @Test
    void theSameNumberIsTheSameKey() {
        RequestSet set = RequestSet.of(workload("128", "128-1024"));
        byte[] one = new byte[128];
        byte[] other = new byte[128];
        set.putKey(SEED, 42, one);
        set.putKey(SEED, 42, other);
        assertThat(one).isEqualTo(other);
        assertThat(set.readPercents()).containsExactly(50, 95);
        assertThat(set.distributions()).containsExactly(KeyDistribution.Kind.UNIF, KeyDistribution.Kind.ZIPF);
    }

    @Test
    void invalidValueIsNamed() {
        Map<String, String> workload = workload("16", "16-128");
        workload.remove("large-share");
        assertThatThrownBy(() -> RequestSet.of(workload)).hasMessageContaining("large-share");
        assertThatThrownBy(() -> RequestSet.of(workload("7", "8-16"))).hasMessageContaining("key-bytes 7");
        Map<String, String> latest = workload("16", "16-128");
        latest.put("distributions", "latest");
        assertThatThrownBy(() -> RequestSet.of(latest)).hasMessageContaining("'latest'")
                .hasMessageContaining("unif, zipf");
    }

    private static long[] counts(KeyDistribution.Kind kind, int keys) {
        KeyDistribution distribution = new KeyDistribution(kind, keys);
        SplittableRandom random = new SplittableRandom(SEED);
        long[] counts = new long[keys];
        for (int i = 0; i < DRAWS * 5; i++) {
            counts[Math.toIntExact(distribution.next(random))]++;
        }
        return counts;
    }

    private static double shareOfTheFifthMostFrequent(long[] counts) {
        long[] sorted = Arrays.stream(counts).sorted().toArray();
        return Arrays.stream(sorted, sorted.length - sorted.length / 5, sorted.length).sum() / (5.0 * DRAWS);
    }

    @Test
    void inUnifAllKeysAreAlikeLikely() {
        long[] counts = counts(KeyDistribution.Kind.UNIF, 1000);
        assertThat(Arrays.stream(counts).min().orElseThrow()).isGreaterThan(800);
        assertThat(Arrays.stream(counts).max().orElseThrow()).isLessThan(1200);
    }

    @Test
    void inZipfAFifthOfTheKeysGetsMostOfTheRequests() {
        int keys = 10_000;
        long[] counts = counts(KeyDistribution.Kind.ZIPF, keys);
        assertThat(shareOfTheFifthMostFrequent(counts)).isBetween(0.78, 0.9);
        double sum = LongStream.rangeClosed(1, keys).mapToDouble(place -> Math.pow(place, -0.99)).sum();
        assertThat(counts[0] / (5.0 * DRAWS)).as("the first of all").isCloseTo(1 / sum, within(0.005));
        assertThat(Arrays.stream(counts).filter(count -> count > 0).count()).as("all keys can be requested")
                .isGreaterThan(9_900);
    }

    @Test
    void theSameSeedGivesTheSameKeys() {
        assertThat(counts(KeyDistribution.Kind.ZIPF, 100)).isEqualTo(counts(KeyDistribution.Kind.ZIPF, 100));
        assertThatThrownBy(() -> new KeyDistribution(KeyDistribution.Kind.UNIF, 1)).hasMessageContaining("1 keys");
    }
}

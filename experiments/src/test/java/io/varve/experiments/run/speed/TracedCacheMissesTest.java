package io.varve.experiments.run.speed;

import java.util.List;
import java.util.Map;

import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.plan.ValueSizes;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the simulated misses of Varve's own memory. Confined to the test's thread. */
class TracedCacheMissesTest {
    private static final RequestSet TINY = new RequestSet(8, new ValueSizes(8, 16), new ValueSizes(1024, 10240), 0,
            List.of(50), List.of(KeyDistribution.Kind.UNIF), 1, List.of(1), true);
    private static final int KEYS = 20_000;
    private static final int READS = 40_000;

    private static Map<String, Double> missesPerRead(String cache) {
        try (InProcessRequests requests = new InProcessRequests(TINY, 7, 64 << 20)) {
            requests.load(KEYS);
            return TracedCacheMisses.perRead(requests, SimulatedCache.of(cache), KEYS, READS, 7);
        }
    }

    /** Items of 24 to 32 bytes, some of which lie on two lines. */
    @Test
    void aReadMissesABucketAndAnItemInASmallCache() {
        Map<String, Double> misses = missesPerRead("4096,4,64");
        assertThat(misses.get(TracedCacheMisses.INDEX)).isBetween(0.97, 1.4);
        assertThat(misses.get(TracedCacheMisses.ITEM)).isBetween(0.97, 1.6);
    }

    @Test
    void aCacheThatHoldsAllMissesNothing() {
        Map<String, Double> misses = missesPerRead("16777216,16,64");
        assertThat(misses.values()).allMatch(each -> each < 0.2);
    }
}

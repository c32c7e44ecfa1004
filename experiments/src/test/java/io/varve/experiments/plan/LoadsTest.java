package io.varve.experiments.plan;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the writes of the fragmentation and the cleaner experiment. Confined to the test's thread. */
final class LoadsTest {
    private static final long SEED = 7;

    @Test
    void lengthsAreInRangeAndDependOnlyOnTheKey() {
        ValueSizes range = ValueSizes.parse("100-200");
        assertThat(LongStream.range(0, 20_000).map(key -> range.of(SEED, key)).distinct().sorted().toArray())
                .isEqualTo(LongStream.rangeClosed(100, 200).toArray());
        assertThat(LongStream.range(0, 20_000).map(key -> range.of(SEED, key)).average().orElseThrow())
                .isCloseTo(range.mean(), within(1.0));
        assertThat(range.of(SEED, 5)).isEqualTo(range.of(SEED, 5));
        assertThat(ValueSizes.parse("100")).isEqualTo(new ValueSizes(100, 100));
        assertThat(ValueSizes.parse("100").of(SEED, 5)).isEqualTo(100);
        for (String wrong : List.of("", "a", "200-100", "0", "1-2-3")) {
            assertThatThrownBy(() -> ValueSizes.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aShareOfTheKeysIsThatShare() {
        assertThat(LongStream.range(0, 20_000).filter(key -> ValueSizes.fraction(SEED, key) < 0.9).count())
                .isBetween(17_800L, 18_200L);
    }

    @Test
    void eachLoadOfTableOneIsTwiceTheLimit() {
        FragmentationLoad w3 = FragmentationLoad.of(Map.of("before", "100", "delete", "0.5", "after", "130"), 1 << 30);
        assertThat(w3.firstItems() * 200L).isCloseTo(2L << 30, within(200L));
        assertThat(w3.secondItems() * 230L).isCloseTo(2L << 30, within(230L));
        assertThat(w3.valueBytes(SEED, w3.firstItems() - 1L)).isEqualTo(100);
        assertThat(w3.valueBytes(SEED, w3.firstItems())).as("keys of the second load follow").isEqualTo(130);
        assertThat(w3.commands()).isEqualTo((long) (w3.firstItems() * 1.5) + w3.secondItems());

        FragmentationLoad w5 = FragmentationLoad.of(Map.of("before", "100-200"), 1 << 30);
        assertThat(w5.secondItems()).isZero();
        assertThat(w5.deleteShare()).isZero();
        assertThat(w5.maxValueBytes()).isEqualTo(200);
        long payload = LongStream.range(0, w5.firstItems()).map(key -> 100 + w5.valueBytes(SEED, key)).sum();
        assertThat((double) payload / (2L << 30)).isCloseTo(1, within(0.001));
    }

    private static Map<String, String> cleaner(String ttlShare, String keysPerLive, String hotKeys, String hotWrites) {
        Map<String, String> workload = new HashMap<>(Map.of("values", "100-500", "live-share", "0.65", "ttls",
                "15 30 45 60", "warm-turnovers", "3", "turnovers", "10", "maintain-every-ms", "1000", "maintain-rounds",
                "1"));
        workload.putAll(Map.of("ttl-share", ttlShare, "keys-per-live", keysPerLive, "hot-keys", hotKeys, "hot-writes",
                hotWrites));
        return workload;
    }

    @Test
    void numberOfLiveItemsIsIndependentOfTtlsAndSkew() {
        long maxmemory = 64 << 20;
        double live = maxmemory * 0.65 / 316;
        CleanerLoad plain = CleanerLoad.of(cleaner("0", "20", "1", "1"), maxmemory);
        assertThat((double) plain.lastingKeys()).isCloseTo(live, within(1.0));
        assertThat(plain.expiringKeys()).isZero();

        CleanerLoad hot = CleanerLoad.of(cleaner("1", "20", "0.2", "0.8"), maxmemory);
        assertThat(hot.lastingKeys()).isZero();
        assertThat(CleanerLoad.aliveAt(hot.writesPerSecond(), hot.expiringKeys(), 0.2, 0.8, hot.ttlSeconds()))
                .isCloseTo(live, within(1.0));

        CleanerLoad mixed = CleanerLoad.of(cleaner("0.5", "20", "1", "1"), maxmemory);
        assertThat(mixed.lastingKeys() + CleanerLoad.aliveAt(mixed.writesPerSecond() / 2, mixed.expiringKeys(), 1, 1,
                mixed.ttlSeconds())).isCloseTo(live, within(2.0));

        CleanerLoad once = CleanerLoad.of(cleaner("1", "0", "1", "1"), maxmemory);
        assertThat(once.writesPerSecond() * 37.5).as("each lives for its TTL").isCloseTo(live, within(1.0));
        assertThat(once.countedWrites() * 316.0 / maxmemory).isCloseTo(10, within(0.001));
    }

    @Test
    void aKeyLivesIfItsLastWriteIsNoLongerAgoThanItsTtl() {
        // One key, a write a second, TTL so short or so long that nearly none or nearly all of the time counts.
        assertThat(CleanerLoad.aliveAt(100, 100, 1, 1, List.of(1))).isCloseTo(100 * (1 - Math.exp(-1)), within(1e-9));
        assertThat(CleanerLoad.aliveAt(100, 100, 1, 1, List.of(1000))).isCloseTo(100, within(1e-9));
    }

    @Test
    void aMissingPropertyIsNamed() {
        Map<String, String> workload = cleaner("0", "20", "1", "1");
        workload.remove("turnovers");
        assertThatThrownBy(() -> CleanerLoad.of(workload, 1 << 20)).hasMessageContaining("turnovers");
    }
}

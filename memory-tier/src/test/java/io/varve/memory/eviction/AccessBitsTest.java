package io.varve.memory.eviction;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the clock and the frequency counter in the access bits of an item. */
final class AccessBitsTest {
    private static final long NOW = 1_700_000_000_000L;

    @Test
    void theClockMeasuresIdleTimeToTheSecond() {
        int bits = AccessBits.initial(EvictionPolicy.ALLKEYS_LRU, NOW);
        assertThat(AccessBits.idleMillis(bits, NOW)).isZero();
        assertThat(AccessBits.idleMillis(bits, NOW + 12_345)).isEqualTo(12_000);
    }

    @Test
    void theClockSurvivesItsWrap() {
        long beforeWrap = (1L << 24) * 1000 * 101 - 5000;
        int bits = AccessBits.initial(EvictionPolicy.NOEVICTION, beforeWrap);
        assertThat(AccessBits.idleMillis(bits, beforeWrap + 10_000)).isEqualTo(10_000);
    }

    @Test
    void aFrequencyDecaysByOneAMinute() {
        int bits = AccessBits.initial(EvictionPolicy.ALLKEYS_LFU, NOW);
        assertThat(AccessBits.frequency(bits, NOW)).isEqualTo(AccessBits.INITIAL_COUNT);
        assertThat(AccessBits.frequency(bits, NOW + 3 * 60_000)).isEqualTo(AccessBits.INITIAL_COUNT - 3);
        assertThat(AccessBits.frequency(bits, NOW + 60 * 60_000)).isZero();
    }

    @Test
    void theCounterGrowsLogarithmicallyAndSaturates() {
        SplittableRandom random = new SplittableRandom(7);
        int bits = AccessBits.initial(EvictionPolicy.ALLKEYS_LFU, NOW);
        int after100 = 0;
        for (int i = 1; i <= 2_000_000; i++) {
            bits = AccessBits.touched(EvictionPolicy.ALLKEYS_LFU, bits, NOW, random.nextLong());
            if (i == 100) {
                after100 = AccessBits.frequency(bits, NOW);
            }
        }
        // Redis documents about 10 after a hundred hits and 255 after a million at factor 10.
        assertThat(after100).isBetween(7, 14);
        assertThat(AccessBits.frequency(bits, NOW)).isEqualTo(255);
    }

    /** Without a random number, its counter would grow with each access. */
    @Test
    void onlyCountingPoliciesUseRandomBits() {
        for (EvictionPolicy policy : EvictionPolicy.values()) {
            int bits = AccessBits.initial(policy, NOW);
            for (int i = 0; i < 50; i++) {
                bits = AccessBits.touched(policy, bits, NOW, 0);
            }
            assertThat(AccessBits.touched(policy, bits, NOW, 0) == AccessBits.touched(policy, bits, NOW, -1))
                    .as(policy.redisName()).isNotEqualTo(policy.countsAccesses());
        }
    }

    @Test
    void bitsFitTheHeaderField() {
        SplittableRandom random = new SplittableRandom(8);
        for (int i = 0; i < 10_000; i++) {
            long now = random.nextLong(1L << 45);
            for (EvictionPolicy policy : EvictionPolicy.values()) {
                int bits = AccessBits.touched(policy, AccessBits.initial(policy, now), now + random.nextLong(1L << 30),
                        random.nextLong());
                assertThat(bits >>> 24).isZero();
            }
        }
    }
}

package io.varve.memory.locality.curve;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the number of sampled accesses. Confined to the test's thread. */
class SamplingRateTest {
    private static int sampled(SamplingRate rate, SampleSchedule schedule, int from, int to) {
        int sampled = 0;
        for (int access = from; access < to; access++) {
            if (access >= schedule.next()) {
                assertThat(schedule.next()).isEqualTo(access);
                sampled++;
                schedule.after(access, rate.block());
            }
        }
        return sampled;
    }

    @Test
    void atARateOfOneAllAreSampled() {
        SamplingRate rate = new SamplingRate(Sampling.all(10), 1);
        assertThat(sampled(rate, new SampleSchedule(rate.block(), 1), 1, 10_001)).isEqualTo(10_000);
    }

    @Test
    void oneAccessIsSampledInEachBlock() {
        SamplingRate rate = new SamplingRate(new Sampling(0.01, 0.01, 10), 1);
        assertThat(sampled(rate, new SampleSchedule(rate.block(), 1), 1, 1_000_001)).isEqualTo(10_000);
        assertThat(rate.lowest()).isTrue();
    }

    @Test
    void theRateFallsByAnEighthAndRecovers() {
        SamplingRate rate = new SamplingRate(Sampling.DEFAULT, 1);
        SampleSchedule schedule = new SampleSchedule(rate.block(), 1);
        assertThat(rate.lowest()).isFalse();
        int access = 1;
        double expected = 100_000;
        for (int level = 0; level < 20; level++) {
            assertThat(sampled(rate, schedule, access, access + 100_000)).isCloseTo((int) expected, within(3));
            access += 100_000;
            rate.reduce();
            expected = expected * 7 / 8;
        }
        while (!rate.lowest()) {
            rate.reduce();
        }
        assertThat(1 / rate.weight(rate.level())).isBetween(0.01, 0.0115);
        rate.raise(1.5);
        assertThat(1 / rate.weight(rate.level())).isBetween(0.013, 0.0172);
        rate.raise(1000);
        assertThat(rate.weight(rate.level())).isEqualTo(1);
    }
}

package io.varve.memory.locality;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** How many accesses are drawn. Confined to the test's thread. */
class DrawRateTest {
    private static int drawn(DrawRate rate, Draws draws, int from, int to) {
        int drawn = 0;
        for (int access = from; access < to; access++) {
            if (access >= draws.next()) {
                assertThat(draws.next()).isEqualTo(access);
                drawn++;
                draws.after(access, rate.block());
            }
        }
        return drawn;
    }

    @Test
    void atARateOfOneAllAreDrawn() {
        DrawRate rate = new DrawRate(Sampling.all(10), 1);
        assertThat(drawn(rate, new Draws(rate.block(), 1), 1, 10_001)).isEqualTo(10_000);
    }

    @Test
    void oneIsDrawnInEachBlock() {
        DrawRate rate = new DrawRate(new Sampling(0.01, 0.01, 10), 1);
        assertThat(drawn(rate, new Draws(rate.block(), 1), 1, 1_000_001)).isEqualTo(10_000);
        assertThat(rate.lowest()).isTrue();
    }

    @Test
    void theRateFallsByAnEighthAndComesBack() {
        DrawRate rate = new DrawRate(Sampling.DEFAULT, 1);
        Draws draws = new Draws(rate.block(), 1);
        assertThat(rate.lowest()).isFalse();
        int access = 1;
        double expected = 100_000;
        for (int level = 0; level < 20; level++) {
            assertThat(drawn(rate, draws, access, access + 100_000)).isCloseTo((int) expected, within(3));
            access += 100_000;
            rate.lower();
            expected = expected * 7 / 8;
        }
        while (!rate.lowest()) {
            rate.lower();
        }
        assertThat(1 / rate.weight(rate.level())).isBetween(0.01, 0.0115);
        rate.raise(1.5);
        assertThat(1 / rate.weight(rate.level())).isBetween(0.013, 0.0172);
        rate.raise(1000);
        assertThat(rate.weight(rate.level())).isEqualTo(1);
    }
}

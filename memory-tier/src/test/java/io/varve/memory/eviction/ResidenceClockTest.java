package io.varve.memory.eviction;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the clock that counts turnovers in ticks. */
final class ResidenceClockTest {
    private static final long SHARD = 256_000;

    @Test
    void aTurnoverHasTheSameTicksHoweverOftenTheyAreRead() {
        ResidenceClock seldom = new ResidenceClock();
        ResidenceClock often = new ResidenceClock();
        for (long written = 0; written <= 10 * SHARD; written += 7) {
            assertThat(often.ticks(written, SHARD)).isEqualTo(written / 1000);
        }
        assertThat(seldom.ticks(10 * SHARD, SHARD)).isEqualTo(10 * ResidenceClock.TICKS_PER_TURNOVER);
    }

    @Test
    void aNewLimitDoesNotChangeElapsedTicks() {
        ResidenceClock clock = new ResidenceClock();
        assertThat(clock.ticks(5_500, SHARD)).isEqualTo(5);
        assertThat(clock.ticks(5_500, 2 * SHARD)).isEqualTo(5);
        assertThat(clock.ticks(9_000, 2 * SHARD)).isEqualTo(7);
        assertThat(clock.ticks(9_000, SHARD / 2)).isEqualTo(7);
        assertThat(clock.ticks(10_000, SHARD / 2)).isEqualTo(9);
    }

    @Test
    void anEraBeginsAtTheGivenTick() {
        ResidenceClock clock = new ResidenceClock();
        assertThat(clock.ticks(5_500, SHARD)).isEqualTo(5);
        assertThat(clock.passed()).isEqualTo(5);
        clock.begin(700, 5_900);
        assertThat(clock.ticks(6_800, SHARD)).isEqualTo(700);
        assertThat(clock.passed()).isZero();
        assertThat(clock.ticks(7_900, SHARD)).isEqualTo(702);
        assertThat(clock.passed()).isEqualTo(2);
    }

    @Test
    void theSmallestShardHasTicksOfOneByte() {
        assertThat(new ResidenceClock().ticks(10, 1)).isEqualTo(10);
    }
}

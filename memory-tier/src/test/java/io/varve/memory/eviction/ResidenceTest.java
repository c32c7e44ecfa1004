package io.varve.memory.eviction;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the residence bits: the access counter, the age, and halving. */
final class ResidenceTest {
    private static final int SEEDS = 400;

    private static int accessed(int bits, long times, long ticks, SplittableRandom random) {
        int after = bits;
        for (long i = 0; i < times; i++) {
            after = Residence.touched(after, ticks, random.nextLong());
        }
        return after;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 10, 100, 1000, 20_000})
    void theCounterEstimatesAccessesWithoutBias(int accesses) {
        double sum = 0;
        double squares = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            int bits = accessed(Residence.begun(77), accesses - 1, 77, new SplittableRandom(seed));
            double error = Residence.accesses(bits) / accesses - 1;
            sum += error;
            squares += error * error;
        }
        // The mean of 400 counters with an error of 16 % has one of 0.8 %.
        assertThat(sum / SEEDS).as("mean error").isCloseTo(0, within(0.025));
        assertThat(Math.sqrt(squares / SEEDS)).as("standard error").isLessThan(0.18);
    }

    @Test
    void theCounterEndsAtFiveMillion() {
        int full = 77 << 8 | 255;
        assertThat(Residence.accesses(full)).isBetween(5.0e6, 5.2e6);
        assertThat(Residence.touched(full, 77, 0)).isEqualTo(full);
    }

    @Test
    void aNewItemHasOneAccessAndNoAge() {
        int bits = Residence.begun(77);
        assertThat(Residence.accesses(bits)).isEqualTo(1);
        assertThat(Residence.resident(bits, 77)).isZero();
        assertThat(Residence.resident(bits, 87)).isEqualTo(10);
    }

    @Test
    void halvingKeepsTheRatioOfAccessesToTime() {
        long now = 1L << 40;
        int old = Residence.TICKS / 2 + 101;
        for (int count = 1; count < 256; count++) {
            int bits = (int) (now - old & Residence.TICKS - 1) << 8 | count;
            int renewed = Residence.renewed(bits, now);
            assertThat(Residence.resident(renewed, now)).isEqualTo(old / 2);
            double half = Residence.accesses(bits) / 2;
            double step = 1 + 0.05 * half;
            assertThat(Residence.accesses(renewed)).as("half of %s", half).isCloseTo(half, within(0.501 * step));
        }
    }

    @Test
    void aResidenceIsExactUpToHalfOfItsRange() {
        int bits = 5 << 8 | 40;
        assertThat(Residence.renewed(bits, 5 + Residence.TICKS / 2)).isEqualTo(bits);
        assertThat(Residence.renewed(bits, 6 + Residence.TICKS / 2)).isNotEqualTo(bits);
    }

    /** An item that is requested once in 1000 ticks, for a thousand times the range of its ticks. */
    @Test
    void theRatioIsCorrectForAnyAge() {
        int period = 1000;
        SplittableRandom random = new SplittableRandom(3);
        int bits = Residence.begun(0);
        double sum = 0;
        int checks = 0;
        for (long ticks = period; ticks < 1000L * Residence.TICKS; ticks += period) {
            bits = Residence.touched(bits, ticks, random.nextLong());
            assertThat(Residence.resident(bits, ticks)).isLessThanOrEqualTo(Residence.TICKS / 2);
            if (ticks > Residence.TICKS) {
                sum += Residence.accesses(bits) * period / Residence.resident(bits, ticks);
                checks++;
            }
        }
        assertThat(sum / checks).as("estimated accesses, of one").isBetween(0.9, 1.1);
    }

    /** No further accesses, but occasional examinations. */
    @Test
    void anUnusedItemNeverAppearsNewAgain() {
        int bits = accessed(Residence.begun(0), 1000, 0, new SplittableRandom(5));
        double min = Double.MAX_VALUE;
        for (long ticks = 0; ticks < 100L * Residence.TICKS; ticks += Residence.TICKS / 3) {
            bits = Residence.renewed(bits, ticks);
            double ratio = Residence.accesses(bits) / (Residence.resident(bits, ticks) + 1);
            min = Math.min(min, ratio);
            // Half of the accesses are dropped with half of the time; the time continues.
            assertThat(ratio).isLessThanOrEqualTo(Math.max(2 * min, 1e-4));
        }
        assertThat(Residence.accesses(bits)).isEqualTo(1);
    }
}

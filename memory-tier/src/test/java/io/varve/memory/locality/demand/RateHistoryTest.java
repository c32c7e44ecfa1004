package io.varve.memory.locality.demand;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the history of rates, compared with a list. */
class RateHistoryTest {
    @Test
    void aSingleSlotIsNotAPeak() {
        RateHistory history = new RateHistory(100);
        for (int i = 0; i < 50; i++) {
            history.add(i == 20 ? 1000 : i == 30 ? 0 : 100);
        }
        assertThat(history.highestHeld(2)).isEqualTo(100);
        assertThat(history.lowestHeld(2)).isEqualTo(100);
        assertThat(history.highestHeld(1)).isEqualTo(1000);
        assertThat(history.lowestHeld(1)).isZero();
    }

    @Test
    void itAgreesWithAList() {
        for (long seed = 1; seed <= 20; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int slots = 10 + random.nextInt(40);
            int duration = 1 + random.nextInt(4);
            RateHistory history = new RateHistory(slots);
            List<Long> all = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                long accesses = random.nextInt(6);
                history.add(accesses);
                all.add(accesses);
                List<Long> last = all.subList(Math.max(0, all.size() - slots), all.size());
                assertThat(history.length()).isEqualTo(last.size());
                assertThat(history.average()).isCloseTo(
                        last.stream().mapToLong(Long::longValue).average().orElseThrow(), within(1e-9));
                if (last.size() >= duration) {
                    assertThat(history.highestHeld(duration)).as("seed %d", seed).isEqualTo(held(last, duration, true));
                    assertThat(history.lowestHeld(duration)).as("seed %d", seed).isEqualTo(held(last, duration, false));
                }
                assertThat(history.slotsUpTo(3)).isEqualTo(run(last, 3, false));
                assertThat(history.slotsFrom(3)).isEqualTo(run(last, 3, true));
            }
        }
    }

    private static long held(List<Long> slots, int duration, boolean highest) {
        long held = highest ? Long.MIN_VALUE : Long.MAX_VALUE;
        for (int i = 0; i + duration <= slots.size(); i++) {
            List<Long> window = slots.subList(i, i + duration);
            long min = window.stream().mapToLong(Long::longValue).min().orElseThrow();
            long max = window.stream().mapToLong(Long::longValue).max().orElseThrow();
            held = highest ? Math.max(held, min) : Math.min(held, max);
        }
        return held;
    }

    private static int run(List<Long> slots, long bound, boolean above) {
        int run = 0;
        while (run < slots.size()) {
            long accesses = slots.get(slots.size() - 1 - run);
            if (above ? accesses < bound : accesses > bound) {
                break;
            }
            run++;
        }
        return run;
    }
}

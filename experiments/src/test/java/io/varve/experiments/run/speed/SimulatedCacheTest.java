package io.varve.experiments.run.speed;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the simulated cache against queues of lines. Confined to the test's thread. */
class SimulatedCacheTest {
    private static final int LINE_BYTES = 64;
    private static final int SETS = 8;
    private static final int WAYS = 4;

    @Test
    void itMissesWhereQueuesOfLinesMiss() {
        long seed = new SplittableRandom().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        SimulatedCache cache = SimulatedCache.of(SETS * WAYS * LINE_BYTES + "," + WAYS + "," + LINE_BYTES);
        List<Deque<Long>> sets = new ArrayList<>();
        for (int i = 0; i < SETS; i++) {
            sets.add(new ArrayDeque<>());
        }
        for (int i = 0; i < 100_000; i++) {
            long address = random.nextLong(3L * SETS * WAYS * LINE_BYTES);
            int bytes = random.nextInt(1, 4 * LINE_BYTES);
            int expected = 0;
            for (long line = address / LINE_BYTES; line <= (address + bytes - 1) / LINE_BYTES; line++) {
                Deque<Long> set = sets.get((int) (line % SETS));
                if (!set.remove(line)) {
                    expected++;
                    if (set.size() == WAYS) {
                        set.removeLast();
                    }
                }
                set.addFirst(line);
            }
            assertThat(cache.read(address, bytes)).as("seed %d, read %d", seed, i).isEqualTo(expected);
        }
    }

    @Test
    void anImpossibleCacheIsRefused() {
        assertThatThrownBy(() -> new SimulatedCache(3000, 4, LINE_BYTES)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("power of two");
    }
}

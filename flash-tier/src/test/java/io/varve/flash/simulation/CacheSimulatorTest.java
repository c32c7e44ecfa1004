package io.varve.flash.simulation;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;

import io.varve.flash.policy.Policies;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link CacheSimulator}. Confined to the test's thread. */
class CacheSimulatorTest {
    private static final int CAPACITY = 500;

    /** CLOCK's hand goes round in an order of its own, not in the store's. */
    @ParameterizedTest
    @EnumSource(names = {"TBF", "CLOCK", "RANDOM"})
    void searchesCountVisitedKeys(Policies policies) {
        try (Arena arena = Arena.ofConfined()) {
            SplittableRandom random = new SplittableRandom(7);
            CacheSimulator simulator = new CacheSimulator(policies.create(arena, CAPACITY, random.split()), CAPACITY,
                    1000);
            for (int i = 0; i < 20_000; i++) {
                simulator.access((1 + random.nextInt(2000)) * 0x9E37_79B9_7F4A_7C15L);
            }
            long searches = 0;
            long looked = 0;
            for (int steps = 1; steps <= CacheSimulator.LONGEST_COUNTED; steps++) {
                searches += simulator.searches(steps);
                looked += steps * simulator.searches(steps);
            }
            assertThat(searches).isPositive().isEqualTo(simulator.figures().evictions());
            assertThat(looked).isEqualTo(simulator.figures().keysTraversed());
        }
    }
}

package io.varve.flash.policy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the victims of random replacement. Confined to the test's thread. */
class RandomPolicyTest {
    private static final int KEYS = 50;
    private static final int SEARCHES = 200_000;
    private static final int STEPS = 100;

    private final List<Long> keys = new ArrayList<>();
    private final SplittableRandom random = new SplittableRandom(5);
    private final RandomPolicy policy = new RandomPolicy(random);

    /** The keys' own places in the order, be they near to each other or far, do not matter. */
    @Test
    void allKeysAreEvictedEquallyOften() {
        long place = 0;
        for (int i = 0; i < KEYS; i++) {
            place += i % 5 == 0 ? 1_000_000 : 1;
            keys.add(place);
        }
        ListHand hand = new ListHand(keys, STEPS);
        Map<Long, Integer> times = new HashMap<>();
        for (int i = 0; i < SEARCHES; i++) {
            assertThat(policy.findVictim(hand.begin())).isTrue();
            times.merge(policy.victim(), 1, Integer::sum);
        }
        assertThat(times).hasSize(KEYS);
        assertThat(times.values())
                .allSatisfy(count -> assertThat((double) count * KEYS / SEARCHES).isBetween(0.95, 1.05));
        assertThat(policy.keysTraversed()).isEqualTo(SEARCHES);
    }

    @Test
    void aSearchThatMayTakeFewStepsFindsTheKeyWhereItEnds() {
        keys.addAll(List.of(1L, 2L, 3L));
        ListHand hand = new ListHand(keys, 1);
        for (int i = 0; i < 100; i++) {
            assertThat(policy.findVictim(hand.begin())).isTrue();
            assertThat(policy.victim()).isEqualTo(hand.key());
        }
    }

    @Test
    void emptyStackEvictsNothing() {
        assertThat(policy.findVictim(new ListHand(keys, STEPS))).isFalse();
    }
}

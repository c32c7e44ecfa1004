package io.varve.flash.simulation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A set of keys with a hand. Confined to the test's thread. */
class SimulatedStoreTest {
    private static final int CAPACITY = 500;

    private final SimulatedStore store = new SimulatedStore(CAPACITY);
    private final SplittableRandom random = new SplittableRandom(99);

    private Set<Long> fill(int keys) {
        Set<Long> there = new HashSet<>();
        while (there.size() < keys) {
            long key = random.nextLong();
            if (there.add(key)) {
                store.insert(key);
            }
        }
        return there;
    }

    @Test
    void behavesLikeASet() {
        Set<Long> model = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            long key = (long) random.nextInt(CAPACITY * 3) << 40 | 7;
            if (model.contains(key)) {
                if (random.nextBoolean()) {
                    model.remove(key);
                    store.remove(key);
                }
            } else if (model.size() < CAPACITY) {
                model.add(key);
                store.insert(key);
            }
            assertThat(store.contains(key)).isEqualTo(model.contains(key));
            assertThat(store.size()).isEqualTo(model.size());
        }
        for (long key = 0; key < CAPACITY * 3; key++) {
            assertThat(store.contains(key << 40 | 7)).isEqualTo(model.contains(key << 40 | 7));
        }
    }

    @Test
    void aRoundOfTheHandMeetsEachKeyOnce() {
        Set<Long> there = fill(CAPACITY);
        SimulatedStore.Hand hand = store.hand(CAPACITY);
        for (int round = 0; round < 3; round++) {
            hand.begin();
            List<Long> met = new ArrayList<>();
            while (hand.next()) {
                met.add(hand.key());
            }
            assertThat(met).hasSize(CAPACITY).containsExactlyInAnyOrderElementsOf(there);
        }
    }

    @Test
    void removalAtHandHidesNoKey() {
        Set<Long> left = fill(CAPACITY);
        SimulatedStore.Hand hand = store.hand(1);
        for (int i = 0; i < CAPACITY; i++) {
            hand.begin();
            assertThat(hand.next()).isTrue();
            assertThat(left.remove(hand.key())).as("met once, key %d", i).isTrue();
            store.remove(hand.key());
            assertThat(hand.next()).as("at its limit").isFalse();
        }
        assertThat(store.size()).isZero();
        hand.begin();
        assertThat(hand.next()).isFalse();
    }

    @Test
    void removalOfAbsentKeyFails() {
        assertThatThrownBy(() -> store.remove(5)).isInstanceOf(IllegalStateException.class);
    }
}

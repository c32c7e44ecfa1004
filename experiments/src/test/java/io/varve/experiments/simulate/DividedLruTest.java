package io.varve.experiments.simulate;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Compares exact LRU of two kinds with sets in request order. Confined to the test's thread. */
class DividedLruTest {
    private static final int CAPACITY = 300;
    private static final int KEYS = 3000;

    /** Odd keys are of the second kind. */
    private static boolean isSecond(int key) {
        return key % 2 == 1;
    }

    private static int draw(SplittableRandom random) {
        return (int) (KEYS * Math.pow(random.nextDouble(), 3));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.001, 0.3, 0.5, 0.97, 1})
    void eachKindHasItsShareOfAFullCache(double share) {
        DividedLru cache = DividedLru.divided(CAPACITY, share);
        List<LinkedHashSet<Integer>> model = List.of(new LinkedHashSet<>(), new LinkedHashSet<>());
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 50_000; i++) {
            int key = draw(random);
            LinkedHashSet<Integer> kind = model.get(key % 2);
            if (random.nextInt(20) == 0) {
                cache.remove(key);
                kind.remove(key);
                continue;
            }
            assertThat(cache.access(key, isSecond(key))).as("request %d, key %d", i, key).isEqualTo(kind.remove(key));
            kind.addLast(key);
            if (model.get(0).size() + model.get(1).size() > CAPACITY) {
                boolean second = model.get(1).size() > share * CAPACITY || model.get(0).isEmpty();
                model.get(second ? 1 : 0).removeFirst();
            }
        }
        assertThat(model.get(0).size() + model.get(1).size()).isBetween(CAPACITY - 50, CAPACITY);
    }

    @Test
    void undividedStackEvictsLeastRecentlyUsed() {
        DividedLru cache = DividedLru.undivided(CAPACITY);
        LinkedHashSet<Integer> model = new LinkedHashSet<>();
        SplittableRandom random = new SplittableRandom(4);
        int hits = 0;
        for (int i = 0; i < 50_000; i++) {
            int key = draw(random);
            boolean hit = model.remove(key);
            hits += hit ? 1 : 0;
            assertThat(cache.access(key, isSecond(key))).as("request %d, key %d", i, key).isEqualTo(hit);
            model.addLast(key);
            if (model.size() > CAPACITY) {
                model.removeFirst();
            }
        }
        assertThat(hits).isBetween(10_000, 40_000);
    }

    @Test
    void parse_invalidSettings_isRefused() {
        assertThatThrownBy(() -> DividedLru.undivided(0)).hasMessageContaining("not 0");
        assertThatThrownBy(() -> DividedLru.divided(10, 1.1)).hasMessageContaining("0 to 1, not 1.1");
        assertThatThrownBy(() -> DividedLru.divided(10, Double.NaN)).hasMessageContaining("NaN");
    }
}

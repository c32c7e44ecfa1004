package io.varve.experiments.simulate;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the number of distinct keys. Confined to the test's thread. */
class KeySetTest {
    /** Past several doublings of the table, each key more than once. */
    @Test
    void countsEachKeyOnceHoweverManyThereAre() {
        SplittableRandom random = new SplittableRandom(6);
        KeySet set = new KeySet();
        Set<Long> model = new HashSet<>();
        for (int i = 0; i < 400_000; i++) {
            long key = Mixing.mix(random.nextInt(150_000));
            set.add(key);
            model.add(key == 0 ? 1 : key);
            if (i % 10_000 == 0) {
                assertThat(set.size()).isEqualTo(model.size());
            }
        }
        assertThat(set.size()).isEqualTo(model.size()).isGreaterThan(100_000);
    }

    @Test
    void zeroIsAKey() {
        KeySet set = new KeySet();
        set.add(0);
        set.add(0);
        assertThat(set.size()).isOne();
    }
}

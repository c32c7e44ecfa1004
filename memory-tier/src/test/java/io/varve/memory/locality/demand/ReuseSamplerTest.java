package io.varve.memory.locality.demand;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Tests the sample of keys that return after a valley, compared with a map. */
class ReuseSamplerTest {
    private static long hash(long key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8_FEB8_6659_FD93L;
        return mixed ^ mixed >>> 32;
    }

    private static void endSlots(ReuseSampler keys, int slots) {
        for (int i = 0; i < slots; i++) {
            keys.endSlot();
        }
    }

    @Test
    void aKeyIsNewOnceAndReturnsOnceAfterEachValley() {
        ReuseSampler keys = new ReuseSampler(2, 100, 1000);
        keys.access(hash(1), 1);
        keys.access(hash(1), 1);
        assertThat(keys.take(1)).isEqualTo(new ReuseSample(0, 0, 1));
        assertThat(keys.take(1)).isEqualTo(ReuseSample.NONE);
        endSlots(keys, 5);
        keys.access(hash(1), 1);
        assertThat(keys.take(1)).as("no valley yet").isEqualTo(ReuseSample.NONE);
        endSlots(keys, 5);
        keys.valleyBegan(1, 5);
        keys.access(hash(1), 1);
        assertThat(keys.take(1)).as("accessed in its first slot").isEqualTo(ReuseSample.NONE);
        endSlots(keys, 5);
        keys.valleyBegan(1, 4);
        keys.access(hash(1), 1);
        keys.access(hash(1), 1);
        endSlots(keys, 1);
        keys.access(hash(1), 1);
        assertThat(keys.take(1)).isEqualTo(new ReuseSample(1, 5, 0));
        assertThat(keys.take(0)).isEqualTo(ReuseSample.NONE);
        assertThat(new ReuseSample(1, 5, 0).and(new ReuseSample(2, 3, 4))).isEqualTo(new ReuseSample(3, 8, 4));
    }

    @Test
    void withCapacityForAllKeysItAgreesWithAMap() {
        for (long seed = 1; seed <= 5; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            ReuseSampler keys = new ReuseSampler(1, 1000, 1000);
            Map<Integer, Integer> last = new HashMap<>();
            int valley = -1;
            for (int slot = 0; slot < 100; slot++) {
                if (slot % 25 == 24) {
                    valley = slot - random.nextInt(15);
                    keys.valleyBegan(0, slot - valley);
                }
                double returned = 0;
                double idle = 0;
                double fresh = 0;
                for (int i = 0; i < 20; i++) {
                    int key = (int) (900 * Math.pow(random.nextDouble(), 3));
                    keys.access(hash(key), 0);
                    Integer before = last.put(key, slot);
                    if (before == null) {
                        fresh++;
                    } else if (before < valley) {
                        returned++;
                        idle += slot - before;
                    }
                }
                assertThat(keys.take(0)).as("seed %d, slot %d", seed, slot)
                        .isEqualTo(new ReuseSample(returned, idle, fresh));
                keys.endSlot();
            }
            assertThat(keys.keys()).isEqualTo(last.size());
        }
    }

    /** A set that is a hundred times as large as the table: what is in the sample stands for it. */
    @Test
    void aFullTableIsASample() {
        int room = 1024;
        int set = 100 * room;
        ReuseSampler keys = new ReuseSampler(1, room, 1000);
        for (int key = 0; key < set; key++) {
            keys.access(hash(key), 0);
        }
        assertThat(keys.keys()).isBetween(room / 4, room);
        keys.take(0);
        endSlots(keys, 20);
        keys.valleyBegan(0, 10);
        for (int key = 0; key < set; key++) {
            keys.access(hash(key), 0);
        }
        ReuseSample sample = keys.take(0);
        assertThat(sample.returned()).isCloseTo(set, within(0.2 * set));
        assertThat(sample.idleSlots()).isCloseTo(20 * sample.returned(), within(1e-6));
        assertThat(sample.fresh()).isZero();
    }

    @Test
    void leastRecentlySeenKeysAreReplacedFirst() {
        int room = 1024;
        ReuseSampler keys = new ReuseSampler(1, room, 10);
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < room / 4; i++) {
                keys.access(hash(1000 * round + i), 0);
            }
            endSlots(keys, 11);
        }
        assertThat(keys.take(0).fresh()).as("none was left out").isEqualTo(20.0 * room / 4);
    }

    /**
     * After a load of many keys that are never requested again, a class of some hundred was represented by one of them,
     * or by none, until a restart.
     */
    @Test
    void afterABurstOfKeysAllKeysAreSampledAgain() {
        int burst = 200_000;
        int set = 300;
        ReuseSampler keys = new ReuseSampler(1, 1024, 40);
        for (int i = 0; i < burst; i++) {
            keys.access(hash(1000 + i), 0);
        }
        keys.take(0);
        double fresh = 0;
        ReuseSample last = ReuseSample.NONE;
        for (int cycle = 0; cycle < 30; cycle++) {
            for (int i = 0; i < set; i++) {
                keys.access(hash(i), 0);
            }
            endSlots(keys, 10);
            keys.valleyBegan(0, 9);
            last = keys.take(0);
            fresh += last.fresh();
            if (cycle == 3) {
                assertThat(last.returned()).as("so few are in the sample").isNotEqualTo(set);
            }
        }
        assertThat(last).isEqualTo(new ReuseSample(set, 10.0 * set, 0));
        // 200,000 keys leave one in 512 of them: the set is represented by none, one or two.
        assertThat(fresh).as("keys that were let in are not new").isLessThanOrEqualTo(3 * 512);
    }

    @Test
    void slotCountersNeverOverflow() {
        ReuseSampler keys = new ReuseSampler(1, 16, 1000);
        for (int i = 0; i < (1 << 24) + 10; i++) {
            if (i % (1 << 20) == 0) {
                keys.access(hash(i), 0);
            }
            keys.endSlot();
        }
        keys.access(hash(1), 0);
        endSlots(keys, 2);
        keys.valleyBegan(0, 1);
        keys.take(0);
        keys.access(hash(1), 0);
        assertThat(keys.take(0)).isEqualTo(new ReuseSample(1, 2, 0));
    }

    @Test
    void valuesOutOfRangeAreRefused() {
        assertThatThrownBy(() -> new ReuseSampler(1, 15, 10)).hasMessageContaining("not 15");
        assertThatThrownBy(() -> new ReuseSampler(1, 16, 0)).hasMessageContaining("not 0");
        assertThatThrownBy(() -> new ReuseSampler(17, 16, 10)).isInstanceOf(IllegalArgumentException.class);
    }
}

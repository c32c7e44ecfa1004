package io.varve.memory.locality.curve;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the table against a HashMap. Confined to the test's thread. */
class SampledKeysTest {
    private static final long SEED = 7;

    @Test
    void theTableAgreesWithAMap() {
        SplittableRandom random = new SplittableRandom(SEED);
        SampledKeys table = new SampledKeys(100);
        Map<Long, Long> map = new HashMap<>();
        for (int i = 0; i < 300_000; i++) {
            // Few keys that differ in high bits alone or in low bits alone: tags and homes collide.
            long hash = random.nextBoolean() ? random.nextLong(400) : random.nextLong(400) << 56;
            int slot = table.find(hash);
            Long start = map.get(hash);
            assertThat(slot >= 0).as("step %d of seed %d", i, SEED).isEqualTo(start != null);
            if (start != null) {
                assertThat(List.of(table.start(slot), table.bytes(slot), table.deadline(slot)))
                        .containsExactly(start, start + 1, start + 2);
                assertThat(table.itemClass(slot)).isEqualTo((int) (start & 127));
                table.level(slot, 119);
                assertThat(List.of(table.itemClass(slot), table.level(slot))).containsExactly((int) (start & 127), 119);
                assertThat(table.bytes(slot)).isEqualTo(start + 1);
                table.remove(slot);
                map.remove(hash);
            } else if (map.size() < 190) {
                table.add(hash, i, i + 1, i & 127, i + 2, 3);
                map.put(hash, (long) i);
            }
            assertThat(table.size()).isEqualTo(map.size());
        }
        for (int slot = 0; slot < table.slots();) {
            if (table.used(slot)) {
                table.remove(slot);
            } else {
                slot++;
            }
        }
        assertThat(table.size()).isZero();
        assertThat(map.keySet()).allSatisfy(hash -> assertThat(table.find(hash)).isNegative());
    }

    @Test
    void aFullTableIsSearched() {
        SampledKeys table = new SampledKeys(1);
        long added = 0;
        while (table.hasSpace()) {
            table.add(added, added, 1, 0, 0, 0);
            added++;
        }
        assertThat(table.size()).isEqualTo(table.slots() - 1);
        for (long hash = 0; hash < 1000; hash++) {
            assertThat(table.find(hash) >= 0).isEqualTo(hash < added);
        }
    }

    @Test
    void threeQuartersOfTheSlotsHoldOneAndAHalfTimesTheKeys() {
        for (int keys : new int[] {1, 10, 1000, 1024, 1025, 64_000}) {
            assertThat(new SampledKeys(keys).slots() * 3L / 4).isGreaterThanOrEqualTo(keys * 3L / 2);
        }
        assertThat(new SampledKeys(Sampling.DEFAULT.keys()).slots()).isEqualTo(1 << 17);
    }
}

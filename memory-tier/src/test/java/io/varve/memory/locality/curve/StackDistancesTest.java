package io.varve.memory.locality.curve;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the exact curve against a stack that is a list. Confined to the test's thread. */
class StackDistancesTest {
    private static final long MIXED = 0x9E37_79B9_7F4A_7C15L;

    private record Item(long key, long bytes) {}

    private static final class NaiveStack {
        private final List<Item> stack = new ArrayList<>();
        private final List<Long> distances = new ArrayList<>();
        private int reads;

        void access(long key, long bytes, boolean read) {
            reads += read ? 1 : 0;
            long distance = 0;
            for (int i = 0; i < stack.size(); i++) {
                distance += stack.get(i).bytes();
                if (stack.get(i).key() == key) {
                    stack.remove(i);
                    if (read) {
                        distances.add(distance);
                    }
                    break;
                }
            }
            stack.addFirst(new Item(key, bytes));
        }

        void remove(long key) {
            stack.removeIf(item -> item.key() == key);
        }

        double missRatio(long memory) {
            return 1 - (double) distances.stream().filter(distance -> distance <= memory).count() / reads;
        }
    }

    /**
     * Distances up to 2,048 are exact; so many keys and accesses that the table grows and the line is moved together.
     */
    @ParameterizedTest
    @CsvSource({"1,20,1,20000", "2,300,6,20000", "3,1500,1,30000", "4,3,400,2000", "5,1,1,100"})
    void theCurveAgreesWithAnLruStack(long seed, int keys, int largestItem, int accesses) {
        SplittableRandom random = new SplittableRandom(seed);
        StackDistances exact = new StackDistances();
        NaiveStack naive = new NaiveStack();
        for (int i = 0; i < accesses; i++) {
            // Skewed: the lesser of two. 0 is a key as any other.
            long key = Math.min(random.nextInt(keys), random.nextInt(keys)) * MIXED;
            long bytes = 1L + random.nextInt(largestItem);
            int chance = random.nextInt(10);
            if (chance == 0) {
                exact.remove(key);
                naive.remove(key);
            } else if (chance < 4) {
                exact.write(key, bytes);
                naive.access(key, bytes, false);
            } else {
                exact.read(key, bytes);
                naive.access(key, bytes, true);
            }
        }
        MissRatioCurve curve = exact.curve();
        assertThat(exact.keys()).isLessThanOrEqualTo(keys);
        for (long memory = 1; memory < 2048; memory += 1 + memory / 50) {
            assertThat(curve.missRatio(memory)).as("seed %d, memory %d", seed, memory)
                    .isCloseTo(naive.missRatio(memory), within(1e-12));
        }
        assertThat(curve.missRatio(1e12)).isCloseTo(naive.missRatio(Long.MAX_VALUE), within(1e-12));
    }
}

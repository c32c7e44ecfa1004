package io.varve.memory.collection.packed;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

import io.varve.memory.offheap.LiveRanges;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a packed set of integers, compared with a TreeSet after each. Confined to the test thread. */
class PackedIntegersModelTest {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final long[] CORNERS = {0, -1, 1, Short.MIN_VALUE, Short.MAX_VALUE, Short.MAX_VALUE + 1L,
            Short.MIN_VALUE - 1L, Integer.MIN_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE + 1L,
            Integer.MIN_VALUE - 1L, Long.MIN_VALUE, Long.MAX_VALUE};

    private final Arena arena = Arena.ofConfined();
    private final long buffer = arena.allocate(BUFFER_BYTES).address();
    private final TreeSet<Long> model = new TreeSet<>();
    private int length;

    @BeforeEach
    void announce() {
        LiveRanges.add(buffer, PackedIntegers.EMPTY_BYTES);
        clear();
    }

    @AfterEach
    void forget() {
        LiveRanges.remove(buffer);
        arena.close();
    }

    private void clear() {
        PackedIntegers.clear(buffer);
        length = PackedIntegers.EMPTY_BYTES;
        model.clear();
        ensureCapacity(length);
    }

    private void ensureCapacity(long bytes) {
        LiveRanges.remove(buffer);
        LiveRanges.add(buffer, bytes);
    }

    private void add(long value) {
        int index = PackedIntegers.indexOf(buffer, length, value);
        assertThat(index < 0).isEqualTo(model.add(value));
        if (index < 0) {
            assertThat(-1 - index).isEqualTo(model.headSet(value).size());
            int width = Math.max(PackedIntegers.width(buffer), PackedIntegers.widthOf(value));
            long needed = PackedIntegers.bytes(model.size(), width);
            ensureCapacity(Math.max(length, needed));
            length = PackedIntegers.add(buffer, length, -1 - index, value);
            assertThat((long) length).isEqualTo(needed);
        }
    }

    private void remove(long value) {
        int index = PackedIntegers.indexOf(buffer, length, value);
        assertThat(index >= 0).isEqualTo(model.remove(value));
        if (index >= 0) {
            length = PackedIntegers.remove(buffer, length, index);
            ensureCapacity(length);
        }
    }

    private void keepEveryOther() {
        int kept = 0;
        int count = PackedIntegers.count(buffer, length);
        List<Long> stay = new ArrayList<>();
        for (int i = 0; i < count; i += 2) {
            stay.add(PackedIntegers.get(buffer, i));
            PackedIntegers.keep(buffer, kept++, PackedIntegers.get(buffer, i));
        }
        length = (int) PackedIntegers.bytes(kept, PackedIntegers.width(buffer));
        model.retainAll(stay);
        ensureCapacity(length);
    }

    private void check() {
        List<Long> found = new ArrayList<>();
        for (int i = 0; i < PackedIntegers.count(buffer, length); i++) {
            found.add(PackedIntegers.get(buffer, i));
        }
        assertThat(found).isEqualTo(List.copyOf(model));
    }

    @Test
    void boundaryValuesOfEachWidthInAnyOrder() {
        for (int first = 0; first < CORNERS.length; first++) {
            clear();
            for (int i = 0; i < CORNERS.length; i++) {
                add(CORNERS[(first + i * 5) % CORNERS.length]);
                check();
            }
            for (long corner : CORNERS) {
                remove(corner);
                check();
            }
            assertThat(length).isEqualTo(PackedIntegers.EMPTY_BYTES);
        }
    }

    @Test
    void theNarrowestSufficientWidthIsUsed() {
        assertThat(PackedIntegers.widthOf(Short.MAX_VALUE)).isEqualTo(2);
        assertThat(PackedIntegers.widthOf(Short.MIN_VALUE - 1L)).isEqualTo(4);
        assertThat(PackedIntegers.widthOf(Integer.MAX_VALUE)).isEqualTo(4);
        assertThat(PackedIntegers.widthOf(Integer.MAX_VALUE + 1L)).isEqualTo(8);
    }

    @Test
    void randomWrites_agreeWithTheModel() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int step = 0; step < 20_000; step++) {
            long value = switch (random.nextInt(8)) {
                case 0 -> CORNERS[random.nextInt(CORNERS.length)];
                case 1 -> random.nextInt(100_000);
                default -> random.nextInt(-60, 60);
            };
            if (random.nextInt(5) < 3) {
                add(value);
            } else {
                remove(value);
            }
            if (random.nextInt(300) == 0) {
                clear();
            } else if (random.nextInt(100) == 0) {
                keepEveryOther();
            }
            check();
        }
    }
}

package io.varve.memory.index;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests an array that grows and shrinks at its end. Confined to the test's thread. */
class SlabsTest {
    private final MemoryBudget budget = new MemoryBudget(1 << 20);

    @ParameterizedTest
    @ValueSource(ints = {4, 8, 32})
    void elementsStayWhereTheyAre(int elementBytes) {
        Slabs slabs = new Slabs(elementBytes, new Regions(), budget);
        int count = 0;
        while (slabs.grow()) {
            assertThat(slabs.bytes()).isEqualTo(budget.chargedBytes())
                    .isEqualTo((long) slabs.capacity() * elementBytes);
            for (; count < slabs.capacity(); count++) {
                assertThat(Memory.getInt(slabs.address(count))).isZero();
                Memory.putInt(slabs.address(count), count + 1);
            }
        }
        assertThat(slabs.nextBytes()).isGreaterThan(budget.availableBytes());
        assertThat(slabs.bytes()).isGreaterThan((1 << 20) - (64 << 10));
        for (int left = count; left > 0; left--) {
            slabs.shrink(left);
            assertThat(slabs.capacity()).isBetween(left, left + 3 * (64 << 10) / 2 / elementBytes);
            assertThat(Memory.getInt(slabs.address(left - 1))).isEqualTo(left);
            assertThat(Memory.getInt(slabs.address(left / 2))).isEqualTo(left / 2 + 1);
        }
        slabs.shrink(0);
        assertThat(slabs.bytes()).isEqualTo(Regions.MIN_BYTES);
        slabs.release();
        assertThat(budget.chargedBytes()).isZero();
        assertThat(slabs.capacity()).isZero();
    }
}

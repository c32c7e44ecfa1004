package io.varve.server.fuzz;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the fuzzing itself: inputs resemble the seeds, failures are found and shortened, guarded memory has an end. */
class FuzzRunTest {
    @Test
    void failuresAreFoundAndShrunk() {
        assertThatThrownBy(() -> new FuzzRun(new FuzzCase(FuzzRunTest.class, input -> {
            for (byte each : input) {
                assertThat(each).isNotEqualTo((byte) 'x');
            }
        }, List.of("a good seed"), List.of("box"))).run()).isInstanceOf(AssertionError.class)
                .hasMessageContaining("fails with \"x\"\n");
    }

    @Test
    void eachSeedIsTriedAsItIsAndCut() {
        List<Integer> lengths = new ArrayList<>();
        new FuzzRun(new FuzzCase(FuzzRunTest.class, input -> lengths.add(input.length), List.of("seed"),
                List.of("word"))).run();
        assertThat(lengths).as("what is kept, then the seed").startsWith(5, 0, 1, 2, 3, 4).hasSizeGreaterThan(1000);
    }

    @Test
    void accessBeyondGuardedMemoryIsDetected() {
        try (GuardedMemory memory = new GuardedMemory(100)) {
            long begin = memory.put(new byte[] {1, 2, 3}, 1, 3, (byte) 9);
            assertThat(Memory.toArray(begin - 1, 3)).containsExactly(9, 2, 3);
            assertThat(begin + 2).isEqualTo(memory.end());
            assertThatThrownBy(() -> Memory.toArray(begin, 3)).isInstanceOf(InternalError.class);
            assertThatThrownBy(() -> touch(memory.end())).isInstanceOf(InternalError.class);
            assertThatThrownBy(() -> Memory.putLong(memory.end() - 4, 1)).isInstanceOf(InternalError.class);
        }
    }

    /** Often, so that what is compiled is tried too. */
    private static long touch(long address) {
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            sum += Memory.getByte(address - i % 2);
        }
        return sum;
    }
}

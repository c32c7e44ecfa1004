package io.varve.server.replication;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.SplittableRandom;

import io.varve.memory.offheap.Memory;
import io.varve.server.system.NativeMemory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link Backlog} against a plain array, with random appends, reads and needs. */
class BacklogTest {
    private static final int STEPS = 4_000;
    private static final int MAX_BYTES = 200_000;
    private static final int KEPT_BYTES = 300_000;
    private static final long FIRST = 12_345;

    @Test
    void random_appendsAndReads_areThoseOfAnArray() {
        long seed = TestBudget.seed("varve.backlog.seed");
        SplittableRandom random = new SplittableRandom(seed);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        long[] needed = {Long.MAX_VALUE};
        int[] told = {0};
        try (NativeMemory memory = new NativeMemory();
                Backlog backlog = new Backlog(() -> KEPT_BYTES, () -> needed[0], () -> told[0]++)) {
            long address = memory.allocate(MAX_BYTES).address();
            backlog.begin(FIRST);
            for (int i = 0; i < STEPS; i++) {
                byte[] bytes = new byte[random.nextInt(random.nextBoolean() ? 100 : MAX_BYTES / 10)];
                random.nextBytes(bytes);
                if (random.nextBoolean()) {
                    backlog.append(bytes);
                } else {
                    Memory.copy(bytes, 0, address, bytes.length);
                    backlog.append(address, bytes.length);
                }
                backlog.appended();
                all.writeBytes(bytes);
                long end = FIRST + all.size();
                assertThat(backlog.end()).isEqualTo(end);
                assertThat(told[0]).isEqualTo(i + 1);
                assertThat(backlog.start()).as("seed %d: kept", seed)
                        .isLessThanOrEqualTo(Math.min(needed[0], Math.max(FIRST, end - KEPT_BYTES)));
                assertThat(backlog.has(end)).isTrue();
                assertThat(backlog.has(end + 1)).isFalse();
                assertThat(backlog.has(backlog.start() - 1)).isFalse();
                long from = random.nextLong(backlog.start(), end + 1);
                int read = backlog.read(from, address, random.nextInt(1, MAX_BYTES));
                assertThat(read).isBetween(0, (int) (end - from));
                int at = (int) (from - FIRST);
                assertThat(Memory.toArray(address, read)).as("seed %d, step %d", seed, i)
                        .isEqualTo(Arrays.copyOfRange(all.toByteArray(), at, at + read));
                if (random.nextInt(20) == 0) {
                    needed[0] = random.nextBoolean() ? Long.MAX_VALUE : from;
                }
            }
            assertThat(backlog.start()).as("something was dropped").isGreaterThan(FIRST);
            assertThat(backlog.read(FIRST, address, 1)).isEqualTo(Backlog.GONE);
            needed[0] = Long.MAX_VALUE;
            backlog.append(new byte[MAX_BYTES]);
            backlog.releaseSurplus();
            assertThat(backlog.bytes()).as("no more memory than necessary").isLessThan(2L << 20);
            backlog.failed();
            assertThat(backlog.has(backlog.end())).isFalse();
            backlog.begin(7);
            assertThat(backlog.has(7)).isTrue();
        }
    }
}

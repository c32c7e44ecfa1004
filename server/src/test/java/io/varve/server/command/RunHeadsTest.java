package io.varve.server.command;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What is kept of arguments whose memory others have taken over. Confined to the test's thread. */
class RunHeadsTest {
    private final Arena arena = Arena.ofConfined();
    private final RunHeads heads = new RunHeads();

    @AfterEach
    void close() {
        arena.close();
    }

    private void keep(int argument, String text) {
        long address = arena.allocate(Math.max(1, text.length())).address();
        Memory.copy(text.getBytes(StandardCharsets.US_ASCII), 0, address, text.length());
        heads.keep(argument, address, text.length());
    }

    private String head(int argument, int most) {
        byte[] bytes = heads.of(argument, most);
        return bytes == null ? "none" : new String(bytes, StandardCharsets.US_ASCII);
    }

    @Test
    void theFirstBytesAreKept() {
        keep(3, "x".repeat(RunHeads.BYTES) + "y");
        keep(0, "short");
        assertThat(head(3, RunHeads.BYTES)).isEqualTo("x".repeat(RunHeads.BYTES));
        assertThat(head(3, 2)).isEqualTo("xx");
        assertThat(head(0, RunHeads.BYTES)).isEqualTo("short");
        assertThat(head(1, 1)).isEqualTo("none");
    }

    @Test
    void nothingIsLeftOfACommandWithManyAfterIt() {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1000; i++) {
                keep(i, "argument " + i);
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(head(i, RunHeads.BYTES)).isEqualTo("argument " + i);
            }
            heads.clear();
            assertThat(head(0, 1)).isEqualTo("none");
            keep(7, "again");
            assertThat(head(7, 5)).isEqualTo("again");
            heads.clear();
        }
    }
}

package io.varve.server.command.batch;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The previews of arguments whose runs commands have taken. Confined to the test's thread. */
class ArgumentPreviewsTest {
    private final Arena arena = Arena.ofConfined();
    private final ArgumentPreviews previews = new ArgumentPreviews();

    @AfterEach
    void close() {
        arena.close();
    }

    private void keep(int argument, String text) {
        long address = arena.allocate(Math.max(1, text.length())).address();
        Memory.copy(text.getBytes(StandardCharsets.US_ASCII), 0, address, text.length());
        previews.keep(argument, address, text.length());
    }

    private String head(int argument, int max) {
        byte[] bytes = previews.of(argument, max);
        return bytes == null ? "none" : new String(bytes, StandardCharsets.US_ASCII);
    }

    @Test
    void theFirstBytesAreKept() {
        keep(3, "x".repeat(ArgumentPreviews.BYTES) + "y");
        keep(0, "short");
        assertThat(head(3, ArgumentPreviews.BYTES)).isEqualTo("x".repeat(ArgumentPreviews.BYTES));
        assertThat(head(3, 2)).isEqualTo("xx");
        assertThat(head(0, ArgumentPreviews.BYTES)).isEqualTo("short");
        assertThat(head(1, 1)).isEqualTo("none");
    }

    @Test
    void nothingIsLeftOfACommandWithManyAfterIt() {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1000; i++) {
                keep(i, "argument " + i);
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(head(i, ArgumentPreviews.BYTES)).isEqualTo("argument " + i);
            }
            previews.clear();
            assertThat(head(0, 1)).isEqualTo("none");
            keep(7, "again");
            assertThat(head(7, 5)).isEqualTo("again");
            previews.clear();
        }
    }
}

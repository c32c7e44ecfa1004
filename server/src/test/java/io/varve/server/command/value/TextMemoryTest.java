package io.varve.server.command.value;

import io.varve.memory.Cache;
import io.varve.memory.offheap.Memory;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Small texts take no memory of the cache: a load needs some for each compressed value. Confined to the test's thread.
 */
class TextMemoryTest {
    private static final int KEPT_BYTES = 8 << 10;

    private final TextMemory texts = new TextMemory();

    @Test
    void smallTexts_areNotCharged_andOthersUntilTheirRelease() {
        try (Cache cache = Cache.open(ServerExtension.config("maxmemory 64mb").cacheConfig())) {
            long first = texts.take(cache, 100);
            long second = texts.take(cache, KEPT_BYTES - 100);
            assertThat(second).isEqualTo(first + 100);
            assertThat(texts.heldBytes()).isZero();
            Memory.putByte(first, (byte) 1);
            // The small buffer is in use: what was taken does not move.
            long third = texts.take(cache, 1);
            Memory.putByte(third, (byte) 3);
            assertThat(texts.heldBytes()).isPositive();
            assertThat(Memory.getByte(first)).isEqualTo((byte) 1);
            texts.release();
            assertThat(texts.heldBytes()).isZero();
            assertThat(texts.take(cache, KEPT_BYTES)).isEqualTo(first);
            texts.release();
            assertThat(texts.take(cache, KEPT_BYTES + 1)).isNotEqualTo(first);
            assertThat(texts.heldBytes()).isPositive();
            texts.release();
        }
    }
}

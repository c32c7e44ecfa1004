package io.varve.server.rdb;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;

import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that {@link Lzf} restores each text that {@link LzfPacker} compresses. Confined to the test's thread. */
class LzfPackerTest {
    private static final int TEXTS = TestBudget.ofInt("varve.lzf.texts", 2_000, 100_000);
    private static final int MAX_BYTES = 40_000;

    private final LzfPacker packer = new LzfPacker();

    @Test
    void anyTextComesBack() {
        long seed = TestBudget.seed("varve.lzf.seed");
        SplittableRandom random = new SplittableRandom(seed);
        int packed = 0;
        try (Arena arena = Arena.ofConfined()) {
            long from = arena.allocate(MAX_BYTES).address();
            long to = arena.allocate(MAX_BYTES + 1).address();
            long back = arena.allocate(MAX_BYTES).address();
            for (int i = 0; i < TEXTS; i++) {
                byte[] text = text(random);
                Memory.copy(text, 0, from, text.length);
                Memory.putByte(to + text.length, (byte) 77);
                int length = packer.pack(from, text.length, to);
                assertThat(Memory.getByte(to + text.length)).as("the byte behind the space").isEqualTo((byte) 77);
                if (length > 0) {
                    packed++;
                    assertThat(length).isLessThanOrEqualTo(text.length - 4);
                    Lzf.unpack(to, length, back, text.length);
                    assertThat(Memory.toArray(back, text.length)).as("seed %s, text %s", seed, i).isEqualTo(text);
                }
            }
        }
        assertThat(packed).isBetween(TEXTS / 4, TEXTS - 1);
    }

    /** Few or many different bytes, and repeated parts at all distances. */
    private static byte[] text(SplittableRandom random) {
        byte[] text = new byte[random.nextInt(random.nextInt(20) == 0 ? MAX_BYTES : 600)];
        int letters = random.nextInt(3) == 0 ? 256 : 1 + random.nextInt(8);
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) random.nextInt(letters);
        }
        for (int copies = random.nextInt(6); copies > 0 && text.length > 10; copies--) {
            int length = 1 + random.nextInt(text.length / 2);
            System.arraycopy(text, random.nextInt(text.length - length), text, random.nextInt(text.length - length),
                    length);
        }
        return text;
    }

    @Test
    void repetitiveText_shrinksALot() {
        try (Arena arena = Arena.ofConfined()) {
            long from = arena.allocate(10_000).address();
            Memory.fill(from, 10_000, (byte) 'x');
            assertThat(packer.pack(from, 10_000, arena.allocate(10_000).address())).isBetween(1, 150);
        }
    }
}

package io.varve.server.resp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NumbersTest {
    @Test
    void smallNaturalsAreThoseLongsThatHaveNoSignAndUpToNineDigits() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        String alphabet = "0123456789012345678901234567890123456789-+ /:\0";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(16);
            for (int round = 0; round < 300_000; round++) {
                int length = random.nextInt(12);
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < length; i++) {
                    text.append(alphabet.charAt(random.nextInt(alphabet.length())));
                }
                MemorySegment.copy(text.toString().getBytes(StandardCharsets.US_ASCII), 0, bytes,
                        java.lang.foreign.ValueLayout.JAVA_BYTE, 0, length);
                boolean small = length <= 9 && Numbers.isLong(bytes.address(), length) && text.charAt(0) != '-';
                assertThat(Numbers.smallNatural(bytes.address(), length)).as("'%s'", text)
                        .isEqualTo(small ? Numbers.toLong(bytes.address(), length) : -1);
            }
        }
    }
}

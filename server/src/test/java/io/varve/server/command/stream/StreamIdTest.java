package io.varve.server.command.stream;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which texts are IDs, and their numbers. */
final class StreamIdTest {
    private final StreamId id = new StreamId();

    private boolean parse(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(bytes.length + 1L);
            Memory.copy(bytes, 0, memory.address(), bytes.length);
            return id.parseStrictly(memory.address(), bytes.length, 7);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 7", "1, 1, 7", "5-6, 5, 6", "0-0, 0, 0", "0005-0006, 5, 6",
            "1764500000000-12, 1764500000000, 12",
            "123456789012345678-123456789012345678, 123456789012345678, 123456789012345678",
            "1234567890123456789-1234567890123456789, 1234567890123456789, 1234567890123456789",
            "000000000000000000000000005-0000000000000000000000000006, 5, 6",
            "18446744073709551615-18446744073709551615, 18446744073709551615, 18446744073709551615",
            "9223372036854775808, 9223372036854775808, 7", "+5-6, 5, 6", "5-+6, 5, 6", "' 5- 6', 5, 6"})
    void parse_validId_setsBothNumbers(String text, String ms, String seq) {
        assertThat(parse(text)).isTrue();
        assertThat(Long.toUnsignedString(id.ms())).isEqualTo(ms);
        assertThat(Long.toUnsignedString(id.seq())).isEqualTo(seq);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "+", "5-", "-5", "5--6", "5-6-7", "5x", "x", "5-x", "5 -6", "5-*", "5:6", "5.6",
            "18446744073709551616", "5-18446744073709551616", "123456789012345678x", "5-123456789012345678x",
            "99999999999999999999999-1"})
    void parse_invalidId_isRefused(String text) {
        assertThat(parse(text)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"5-6\0", "5-6\0-7", "5-6\0x"})
    void parse_zeroByte_endsTheId(String text) {
        assertThat(parse(text)).isTrue();
        assertThat(id.ms()).isEqualTo(5);
        assertThat(id.seq()).isEqualTo(6);
    }
}

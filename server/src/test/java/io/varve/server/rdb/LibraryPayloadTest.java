package io.varve.server.rdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static io.varve.server.rdb.Payloads.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests payloads of FUNCTION DUMP. Confined to the test's thread. */
class LibraryPayloadTest {
    private static byte[] bytes(String latin1) {
        return latin1.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static List<String> read(byte[] payload) {
        List<String> sources = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(payload.length).copyFrom(MemorySegment.ofArray(payload));
            assertThat(PayloadReader.isIntact(memory.address(), payload.length)).isTrue();
            LibraryPayload.read(memory.address(), payload.length, size -> arena.allocate(size).address(),
                    new IllegalStateException("no library"),
                    source -> sources.add(new String(source, StandardCharsets.ISO_8859_1)));
        }
        return sources;
    }

    private static byte[] write(List<String> sources) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1 << 20);
            int length = LibraryPayload.write(sources.stream().map(LibraryPayloadTest::bytes).toList(),
                    _ -> memory.address());
            return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Test
    void whatIsWritten_isRead() {
        List<String> sources = List.of("", "#!lua name=a\n\0\u00ff", "x".repeat(70_000));
        assertThat(read(write(sources))).isEqualTo(sources);
        assertThat(read(write(List.of()))).isEmpty();
    }

    @Test
    void librariesOfReleaseCandidates_getAHeader() {
        assertThat(read(bytes(Payloads.withFooter("\u00f6" + texts("lib", "LUA") + "\0" + texts("code"), 10))))
                .containsExactly("#!LUA name=lib\ncode");
        assertThat(read(bytes(Payloads.withFooter("\u00f6" + texts("lib", "LUA") + "\1" + texts("about it", "code"),
                10)))).containsExactly("#!LUA name=lib\ncode");
    }

    @Test
    void otherPayloads_areRefused() {
        assertThatThrownBy(() -> read(bytes(Payloads.withFooter("\0" + texts("value"), 10))))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> read(bytes(Payloads.withFooter("\u00f5\u0005abc", 10))))
                .isInstanceOf(CorruptPayloadException.class);
    }
}

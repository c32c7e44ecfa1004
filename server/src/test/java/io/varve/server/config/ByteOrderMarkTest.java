package io.varve.server.config;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that a mark is skipped at the beginning and nowhere else. Confined to the test's thread. */
class ByteOrderMarkTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "a", "ab", "abc", "abcd\n", "\u00EF\u00BB", "\uFEFF\n"})
    void skip_withAndWithoutAMark_returnsTheText(String text) throws IOException {
        for (String written : new String[] {text.startsWith("\uFEFF") ? "" : text, "\uFEFF" + text}) {
            byte[] bytes = written.getBytes(StandardCharsets.UTF_8);
            String left = written.startsWith("\uFEFF") ? written.substring(1) : written;
            assertThat(ByteOrderMark.skip(new ByteArrayInputStream(bytes)).readAllBytes()).asString().isEqualTo(left);
            assertThat(ByteOrderMark.skip(unmarkable(bytes)).readAllBytes()).asString().isEqualTo(left);
        }
    }

    private static InputStream unmarkable(byte[] bytes) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public boolean markSupported() {
                return false;
            }
        };
    }

    @Test
    void linesWithout_inEitherCharset_haveNoMark(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("f"), "\uFEFFa\n\uFEFFb");
        assertThat(ByteOrderMark.linesWithout(file, StandardCharsets.UTF_8)).containsExactly("a", "\uFEFFb");
        assertThat(ByteOrderMark.linesWithout(file, StandardCharsets.ISO_8859_1)).containsExactly("a",
                "\u00EF\u00BB\u00BFb");
        Files.writeString(file, "");
        assertThat(ByteOrderMark.linesWithout(file, StandardCharsets.UTF_8)).isEmpty();
    }
}

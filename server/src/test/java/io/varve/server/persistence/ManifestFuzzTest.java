package io.varve.server.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzFile;
import io.varve.server.fuzz.FuzzRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads any bytes as the manifest of a log: it is refused in one line, or what is written for it reads back equal.
 * Confined to the test's thread.
 */
public class ManifestFuzzTest {
    private static final int MAX_MESSAGE_CHARS = 600;

    private static FuzzFile file;

    @BeforeAll
    public static void fuzzerInitialize() throws IOException {
        file = FuzzFile.create("log.manifest");
    }

    @AfterAll
    public static void fuzzerTearDown() throws IOException {
        file.close();
    }

    @Test
    void acceptedManifestsAreWrittenAndReadAgain() {
        new FuzzRun(fuzzCase()).runFewer();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        return new FuzzCase(ManifestFuzzTest.class, ManifestFuzzTest::fuzzerTestOneInput,
                List.of("""
                        file log.1.base.rdb seq 1 type b
                        file log.1.incr.aof seq 1 type i
                        """, """
                        file "my log.2.base.aof" seq 2 type b\r
                        file log.9.incr.aof seq 9 type h
                        # a comment

                        file log.2.incr.aof seq 2 type i startoffset 0 endoffset 12
                        file log.3.incr.aof seq 3 type i""", """
                        seq 7 type b FILE "a\\x41\\n\\"\\\\b"
                        file 'it\\'s' seq 8 type i
                        """),
                List.of("\n", "\r", "\r\n", " ", "  ", "\t", "\"", "'", "\\", "\\x", "\\x0a", "\\n", "\\x00", "\\xff",
                        "#", "\"\"", "-1", "0", "18446744073709551616", "9223372036854775807", "/", "..", ".", "b", "i",
                        "h", "file ", " seq 1", " type i", "\u00c3\u00bc", "\u00ff", "\u00c2\u0085",
                        "\u00e2\u0080\u00a8", "\0", "\u00ef\u00bb\u00bf", "\u000b"));
    }

    public static void fuzzerTestOneInput(byte[] input) {
        Path written = file.write(input);
        LogManifest manifest = readIfGood(written);
        try {
            assertThat(Files.readAllBytes(written)).isEqualTo(input);
            if (manifest == null) {
                return;
            }
            assertThat(manifest.names()).isNotEmpty();
            for (String name : manifest.names()) {
                assertThat(written.resolveSibling(name).normalize().getParent()).as(name)
                        .isEqualTo(written.getParent());
            }
            byte[] text = manifest.text().getBytes(StandardCharsets.UTF_8);
            assertThat(LogManifest.read(file.write(text))).isEqualTo(manifest);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Null if it is refused. */
    private static @Nullable LogManifest readIfGood(Path written) {
        try {
            return LogManifest.read(written);
        } catch (IOException refused) {
            assertThat(refused.getMessage()).startsWith(written.toString()).doesNotContainPattern("[\\x00-\\x1f]")
                    .hasSizeLessThan(written.toString().length() + MAX_MESSAGE_CHARS);
            return null;
        }
    }
}

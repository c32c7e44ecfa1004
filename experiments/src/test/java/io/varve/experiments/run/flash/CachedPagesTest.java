package io.varve.experiments.run.flash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that dropped pages are read again from the files. Confined to the test's thread. */
final class CachedPagesTest {
    private static final int DROPS = 600;

    @TempDir
    private Path directory;

    @Test
    void filesThatComeAndGo_keepTheirContent() throws IOException {
        Files.createDirectory(directory.resolve("folder"));
        Files.writeString(directory.resolve("first"), "one");
        try (CachedPages pages = CachedPages.of(directory)) {
            pages.drop();
            assertThat(directory.resolve("first")).hasContent("one");
            Files.delete(directory.resolve("first"));
            Files.writeString(directory.resolve("second"), "two");
            for (int i = 0; i < DROPS; i++) {
                pages.drop();
            }
            assertThat(directory.resolve("second")).hasContent("two");
        }
    }
}

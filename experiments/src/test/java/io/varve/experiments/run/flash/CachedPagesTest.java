package io.varve.experiments.run.flash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that dropped pages are read again from the files. Confined to the test's thread. */
final class CachedPagesTest {
    private static final int DROPS = 600;
    /** {@code EMFILE} and {@code ENOENT}, as results of an open. */
    private static final int TOO_MANY_FILES = -24;
    private static final int NO_FILE = -2;

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

    @Test
    void failedOpenOfAnExistingFile_isAFailure() throws IOException {
        Path file = Files.writeString(directory.resolve("first"), "one");
        try (CachedPages pages = CachedPages.of(directory, _ -> TOO_MANY_FILES)) {
            assertThatThrownBy(pages::drop).isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining(file.toString()).hasMessageContaining("error 24");
        }
    }

    @Test
    void fileThatIsDeletedBeforeItsOpen_isSkipped() throws IOException {
        Path file = Files.writeString(directory.resolve("first"), "one");
        try (CachedPages pages = CachedPages.of(directory, deleted -> {
            assertThat(deleted.toFile().delete()).isTrue();
            return NO_FILE;
        })) {
            pages.drop();
            assertThat(file).doesNotExist();
        }
    }

    @Test
    void openOfAMissingFile_givesTheErrorNumber() throws IOException {
        assertThat(CachedPages.opener().applyAsInt(directory.resolve("missing"))).isEqualTo(NO_FILE);
    }
}

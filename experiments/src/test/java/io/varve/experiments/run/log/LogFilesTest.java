package io.varve.experiments.run.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.varve.experiments.plan.LogMode;
import io.varve.experiments.result.MedianRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the names of log modes and the handling of a log's files. Confined to the test's thread. */
final class LogFilesTest {
    @TempDir
    private Path directory;

    @Test
    void delete_removesTheFolder() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("appendonlydir"));
        Files.writeString(folder.resolve("appendonly.aof.1.incr.aof"), "text");
        LogFiles files = new LogFiles(directory);
        files.force();
        files.delete();
        assertThat(folder).doesNotExist();
        files.force();
        files.delete();
    }

    @Test
    void forceMicros_leavesNoFile() throws IOException {
        MedianRange range = LogFiles.forceMicros(directory);
        assertThat(range.count()).isEqualTo(100);
        assertThat(range.min()).isPositive();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void mode_followsFromTheSettings() {
        assertThat(LogMode.of(Map.of("appendfsync", "always"))).isEqualTo(LogMode.NONE);
        assertThat(LogMode.of(Map.of("appendonly", "yes"))).as("the default").isEqualTo(LogMode.EVERYSEC);
        assertThat(LogMode.of(Map.of("appendonly", "yes", "appendfsync", "no"))).isEqualTo(LogMode.NO);
        assertThat(LogMode.ALWAYS.title()).isEqualTo("always");
        assertThat(LogMode.NONE.title()).isEqualTo("no log");
    }
}

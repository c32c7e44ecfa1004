package io.varve.experiments.server;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** With a file in the device's place. */
class PollingIdleTest {
    @TempDir
    private Path directory;

    @Test
    void noTimeToWakeIsAskedFor() throws Exception {
        Path device = Files.writeString(directory.resolve("device"), "????");
        try (PollingIdle idle = PollingIdle.ask(device)) {
            assertThat(idle.told()).isEqualTo("poll");
            assertThat(Files.readAllBytes(device)).containsExactly(0, 0, 0, 0);
        }
    }

    @Test
    void whereThatCannotBeAskedForItIsSaidWhy() throws Exception {
        Path missing = directory.resolve("missing");
        try (PollingIdle idle = PollingIdle.ask(missing)) {
            assertThat(idle.told()).startsWith("as the machine has them (").contains("missing");
        }
        assertThat(missing).doesNotExist();
    }
}

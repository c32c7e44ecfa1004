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
        PollingIdle idle = PollingIdle.ask(device);
        assertThat(idle.told()).isEqualTo(PollingIdle.POLL);
        assertThat(Files.readAllBytes(device)).containsExactly(0, 0, 0, 0);
        assertThat(idle.isHeld()).as("it is asked for as long as the device is open").isTrue();
        idle.close();
        assertThat(idle.isHeld()).isFalse();
    }

    @Test
    void whereThatCannotBeAskedForItIsSaidWhy() throws Exception {
        Path missing = directory.resolve("missing");
        try (PollingIdle idle = PollingIdle.ask(missing)) {
            assertThat(idle.told()).startsWith("as the machine has them (").contains("missing");
            assertThat(idle.isHeld()).isFalse();
        }
        assertThat(missing).doesNotExist();
    }
}

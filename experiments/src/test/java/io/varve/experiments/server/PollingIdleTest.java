package io.varve.experiments.server;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link PollingIdle} with a file instead of the device. Confined to the test's thread. */
class PollingIdleTest {
    @TempDir
    private Path directory;

    @Test
    void noWakeUpLatencyIsRequested() throws Exception {
        Path device = Files.writeString(directory.resolve("device"), "????");
        PollingIdle idle = PollingIdle.request(device, Files.writeString(directory.resolve("driver"), "haltpoll\n"));
        assertThat(idle.state()).isEqualTo("polling requested (haltpoll)");
        assertThat(Files.readAllBytes(device)).containsExactly(0, 0, 0, 0);
        assertThat(idle.isHeld()).as("requested as long as the device is open").isTrue();
        idle.close();
        assertThat(idle.isHeld()).isFalse();
    }

    @Test
    void ifThatCannotBeRequestedTheReasonIsReported() throws Exception {
        Path missing = directory.resolve("missing");
        try (PollingIdle idle = PollingIdle.request(missing, missing)) {
            assertThat(idle.state()).startsWith("the machine's default (").contains("missing");
            assertThat(idle.isHeld()).isFalse();
        }
        assertThat(missing).doesNotExist();
    }

    /** The kernel takes the request and keeps to it by its driver alone. */
    @Test
    void revokedRequestsAreReported() throws Exception {
        Path device = Files.createFile(directory.resolve("device"));
        Path driver = Files.writeString(directory.resolve("driver"), "none\n");
        try (PollingIdle idle = PollingIdle.request(device, driver)) {
            assertThat(idle.state())
                    .isEqualTo("polling requested, without effect: the system has no driver for idle cores");
        }
        try (PollingIdle idle = PollingIdle.request(device, directory.resolve("missing"))) {
            assertThat(idle.state()).isEqualTo("polling requested");
        }
    }
}

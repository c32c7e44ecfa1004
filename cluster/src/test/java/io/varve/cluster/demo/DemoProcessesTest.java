package io.varve.cluster.demo;

import java.io.IOException;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests {@link DemoProcesses} with a program that starts nothing. Confined to the test's thread. */
class DemoProcessesTest {
    private static final int PORT = 7000;

    /** A signal may end the tour while it starts processes. */
    @Test
    void startAfterTheEnd_isRefused_andLeavesNoFolder() throws IOException {
        DemoProcesses processes = new DemoProcesses("true");
        processes.start(PORT, "serve", List.of());
        assertThat(processes.folder()).isDirectoryContaining("glob:**/serve-" + PORT);
        processes.close();
        assertThatThrownBy(() -> processes.start(PORT + 1, "serve", List.of())).isInstanceOf(IOException.class)
                .hasMessage("the demo has ended");
        assertThatThrownBy(() -> processes.startAgain(PORT)).isInstanceOf(IOException.class);
        assertThat(processes.folder()).doesNotExist();
    }
}

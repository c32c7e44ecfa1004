package io.varve.testing;

import java.io.IOException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Tests {@link ProcessOutput} with a shell. Confined to the test's thread. */
@Timeout(60)
class ProcessOutputTest {
    private @Nullable Process process;

    private Process start(String script) throws IOException {
        Process started = new ProcessBuilder("sh", "-c", script).start();
        process = started;
        return started;
    }

    @AfterEach
    void end() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    @Test
    void linesAreTaken_upToTheEnd() throws Exception {
        ProcessOutput output = ProcessOutput.of(start("echo one; echo two; echo three; echo four"));
        assertThat(output.next()).isEqualTo("one");
        output.awaitLine("hre");
        assertThat(output.text()).isEqualTo("one\ntwo\nthree\n");
        output.awaitEnd();
        assertThat(output.text()).isEqualTo("one\ntwo\nthree\nfour\n");
        assertThat(output.next()).isNull();
    }

    @Test
    void aProcessThatEndsTooEarly_isAFailure() throws Exception {
        ProcessOutput output = ProcessOutput.of(start("echo one"));
        assertThatThrownBy(() -> output.awaitLine("two")).isInstanceOf(AssertionError.class)
                .hasMessage("The process has ended without \"two\":\none\n");
    }

    @Test
    void aProcessThatPrintsNothing_isAFailure() throws Exception {
        ProcessOutput output = ProcessOutput.of(start("exec sleep 600"), 1);
        assertThatThrownBy(output::awaitEnd).isInstanceOf(AssertionError.class)
                .hasMessage("The process has printed nothing for 1 s after:\n");
    }

    @Test
    void aProcessThatWasDestroyed_isNotWaitedFor_andItsLinesAreKept() throws Exception {
        Process destroyed = start("echo one; exec sleep 600");
        ProcessOutput output = ProcessOutput.of(destroyed);
        output.awaitLine("one");
        destroyed.destroyForcibly().waitFor();
        Throwable closed = catchThrowable(output::awaitEnd);
        // The pipe ends with the process, or is closed before its end is read.
        assertThat(closed == null || closed instanceof AssertionError).isTrue();
        assertThat(output.text()).isEqualTo("one\n");
    }
}

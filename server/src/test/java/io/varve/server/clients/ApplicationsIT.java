package io.varve.server.clients;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Runs libraries that applications in Python, JavaScript and Go use against a real server by
 * {@code it/applications/applications.sh}, in the nightly tests only, because it installs them. Libraries whose
 * language is missing are left out. Confined to the test's thread.
 */
class ApplicationsIT {
    @TempDir
    Path directory;

    @Test
    void allFeaturesOfAllLibrariesWork() throws IOException, InterruptedException {
        assumeTrue(TestBudget.isNightly(), "only nightly tests install the libraries");
        Path logs = Path.of("target", "applications");
        ProcessBuilder builder = new ProcessBuilder("../it/applications/applications.sh", "varve")
                .redirectErrorStream(true);
        builder.environment().put("VARVE_SERVE", ServerProcess.script(directory).toString());
        builder.environment().put("APPLICATIONS_LOGS", logs.toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        System.out.println(output);
        assertThat(process.waitFor()).as("%s(the output of each program is in server/%s)", output, logs).isZero();
    }
}

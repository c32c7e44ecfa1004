package io.varve.server.clients;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Runs the Tcl suite of Redis against a real server by {@code it/redis-suite/redis-suite.sh}: a few units in the gate,
 * if the variable REDIS_SUITE names the suite; all in the nightly tests, which download it. It is left out where the
 * suite or tclsh is missing. Confined to the test's thread.
 */
class RedisSuiteIT {
    private static final List<String> QUICK_UNITS = List.of("unit/type/incr", "unit/type/string", "unit/multi",
            "unit/tracking");

    @TempDir
    Path directory;

    @Test
    void onlyTheListedTestsOfRedisFail() throws IOException, InterruptedException {
        assumeTrue(TestBudget.isNightly() || System.getenv("REDIS_SUITE") != null,
                "REDIS_SUITE does not name the suite, and only nightly tests download it");
        List<String> command = new ArrayList<>(List.of("../it/redis-suite/redis-suite.sh"));
        command.addAll(TestBudget.isNightly() ? List.of() : QUICK_UNITS);
        Path logs = Path.of("target", "redis-suite");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("VARVE_SERVE", ServerProcess.script(directory).toString());
        builder.environment().put("SUITE_LOGS", logs.toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        System.out.println(output);
        int status = process.waitFor();
        assumeTrue(!output.startsWith("redis-suite: skipped"), output);
        assertThat(status).as("%s(the output of each unit is in server/%s)", output, logs).isZero();
    }
}

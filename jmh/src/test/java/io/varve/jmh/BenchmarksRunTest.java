package io.varve.jmh;

import java.util.Collection;

import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs every benchmark of the module once and briefly, in this process, to prove that it still works. Confined to its
 * thread.
 */
class BenchmarksRunTest {
    /** Long enough for each to run its method, far too short to say anything. */
    private static final TimeValue ITERATION = TimeValue.milliseconds(50);

    @Test
    void everyBenchmarkRuns() throws Exception {
        Options options = new OptionsBuilder().include(".*").forks(0).warmupIterations(0).measurementIterations(1)
                .measurementTime(ITERATION).timeout(TimeValue.seconds(20)).param("keys", "10000")
                .param("entries", "1000").shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT).build();

        Collection<RunResult> results = new Runner(options).run();

        assertThat(results).isNotEmpty();
        assertThat(results).allSatisfy(result -> assertThat(result.getPrimaryResult().getSampleCount())
                .as(result.getParams().getBenchmark()).isPositive());
    }
}

package io.varve.experiments.run;

import java.io.IOException;
import java.nio.file.Path;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the number of concurrent runs. Confined to the test's thread. */
final class ConcurrentRunsTest {
    private static Plan plan(String experiment, String scale) throws IOException {
        return Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read(experiment), scale,
                Filters.NONE);
    }

    @ParameterizedTest
    @CsvSource({"0,2,1", "0,4,1", "0,16,4", "4,16,4", "4,2,4", "1,40,1", "2,8,2"})
    void count_ycsb_isTheRequestedNumberOrOneForFourCores(int requested, int cores, int expected) throws IOException {
        assertThat(ConcurrentRuns.count(plan("bucket-expiry", "reproduce-small"), requested, cores))
                .isEqualTo(expected);
        assertThat(ConcurrentRuns.count(plan("expiry", "small"), requested, cores)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"bucket-expiry,reproduce-quick,inside the process", "throughput,small,kind throughput",
            "fragmentation,small,kind fragmentation", "penalty,small,kind penalty", "latency,small,kind latency",
            "write-ahead-log,small,kind write-ahead-log"})
    void count_runMustBeAlone_severalAreRefused(String experiment, String scale, String why) throws IOException {
        Plan plan = plan(experiment, scale);
        assertThat(ConcurrentRuns.count(plan, 0, 16)).isEqualTo(1);
        assertThat(ConcurrentRuns.count(plan, 1, 16)).isEqualTo(1);
        assertThatThrownBy(() -> ConcurrentRuns.count(plan, 4, 16)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("--at-once 4: expected 1, because").hasMessageContaining(why);
    }

    @ParameterizedTest
    @CsvSource({"1,2,1", "4,2,1", "4,16,4", "4,6,3", "1,16,1", "2,1,1"})
    void speedup_isLimitedByTwoCoresForEachRun(int atOnce, int cores, int expected) {
        assertThat(ConcurrentRuns.speedup(atOnce, cores)).isEqualTo(expected);
    }
}

package io.varve.experiments.result;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.RunRecord.Phase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Estimates durations from made-up records. Confined to the test's thread. */
final class DurationEstimateTest {
    private static final List<Integer> TTLS = List.of(12);

    private final Plan plan;

    DurationEstimateTest() throws IOException {
        plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("bucket-expiry"),
                "reproduce-small", Filters.NONE);
    }

    private static RunSpec run(String workload, String size, int threads, String configuration) {
        return new RunSpec(workload, size, TTLS, threads, configuration);
    }

    /** A record of a run that took a multiple of the plan's own estimate. */
    private RunRecord record(RunSpec run, double multiple) {
        return record(run, Outcome.OK, Machine.describe(), Map.of(),
                Map.of(RunMetrics.RUN_SECONDS, multiple * plan.estimateSeconds(run)));
    }

    private RunRecord record(RunSpec run, Outcome outcome, Map<String, String> machine, Map<String, String> load,
            Map<String, Double> measured) {
        return new RunRecord(run, "Ref", outcome, List.of(), "2026-11-21T08:00:00Z", plan.experiment().name(), "x", "",
                1, "Varve", "", Map.of(), load, machine,
                List.of(new Phase("load", 0, 4000), new Phase("wait", 4000, 97_000)),
                measured, List.of(), List.of());
    }

    private double ratio(DurationEstimate estimate, RunSpec run) {
        return (double) estimate.seconds(run) / plan.estimateSeconds(run);
    }

    @Test
    void seconds_withoutRecords_areThePlans() {
        DurationEstimate estimate = new DurationEstimate(plan, List.of());
        assertThat(plan.runs())
                .allSatisfy(run -> assertThat(estimate.seconds(run)).isEqualTo(plan.estimateSeconds(run)));
        assertThat(estimate.seconds(plan.runs(), 2)).isEqualTo(plan.estimateSeconds(plan.runs(), 2));
        assertThat(estimate.basis()).isEmpty();
    }

    @Test
    void seconds_followTheRunsThatAreMostAlike() {
        RunSpec equal = run("a", "small-30M", 4, "Ref");
        DurationEstimate estimate = new DurationEstimate(plan, List.of(record(equal, 2),
                record(run("a", "small-30M", 4, "wheel"), 4), record(run("f", "small-30M", 4, "wheel"), 6),
                record(run("a", "small-3M", 1, "wheel"), 10)));
        assertThat(ratio(estimate, equal)).as("the equal run").isEqualTo(2);
        assertThat(ratio(estimate, run("a", "small-30M", 4, "Redis"))).as("size, threads and workload").isEqualTo(3);
        assertThat(ratio(estimate, run("i", "small-30M", 4, "Redis"))).as("size and threads").isEqualTo(4);
        assertThat(ratio(estimate, run("a", "small-10M", 4, "Ref"))).as("threads").isEqualTo(4);
        assertThat(ratio(estimate, run("a", "small-30M", 1, "Ref"))).as("one thread").isEqualTo(10);
        assertThat(estimate.basis()).isEqualTo(" (from the durations of 4 runs)");
    }

    @Test
    void with_aCompleteRun_scalesTheRemainingOnes() {
        RunSpec first = run("a", "small-30M", 4, "Ref");
        DurationEstimate before = new DurationEstimate(plan, List.of());
        DurationEstimate after = before.with(record(first, 3));
        assertThat(ratio(after, run("a", "small-30M", 4, "wheel"))).isEqualTo(3);
        assertThat(ratio(before, run("a", "small-30M", 4, "wheel"))).isEqualTo(1);
    }

    @Test
    void throttledRuns_sayNothingAboutFullSpeed() {
        DurationEstimate estimate = new DurationEstimate(plan,
                List.of(record(new RunSpec("a", "scaled", List.of(15, 30, 45, 60), 4, "Ref"), 5)));
        assertThat(ratio(estimate, run("a", "small-30M", 4, "Ref"))).isEqualTo(1);
    }

    @Test
    void failedRunsOtherMachinesAndEarlierDefinitions_areLeftOut() {
        RunSpec run = run("a", "small-30M", 4, "Ref");
        Map<String, Double> long_ = Map.of(RunMetrics.RUN_SECONDS, 9999.0);
        for (RunRecord record : List.of(record(run, Outcome.FAILED, Machine.describe(), Map.of(), long_),
                record(run, Outcome.OK, Map.of("cpu", "another", "cores", "2"), Map.of(), long_),
                record(run, Outcome.OK, Machine.describe(), Map.of("operationcount", "7"), long_),
                record(new RunSpec("a", "removed", TTLS, 4, "Ref"), Outcome.OK, Machine.describe(), Map.of(), long_))) {
            assertThat(new DurationEstimate(plan, List.of(record)).seconds(run)).isEqualTo(plan.estimateSeconds(run));
        }
    }

    @Test
    void recordsWithoutADuration_countTheirPhases() {
        RunRecord record = record(run("a", "small-30M", 4, "Ref"), Outcome.OK, Machine.describe(), Map.of(), Map.of());
        assertThat(DurationEstimate.seconds(record)).isEqualTo(100);
    }

    @Test
    void readAll_leavesOutWhatCannotBeRead(@TempDir Path folder) throws IOException {
        RunFiles files = new RunFiles(folder);
        RunRecord whole = record(run("a", "small-3M", 4, "Ref"), 1);
        Files.createDirectories(files.of(whole.run()));
        files.write(whole);
        Path broken = Files.createDirectories(folder.resolve("broken"));
        Files.writeString(broken.resolve("run.json"), "{");
        Files.createDirectories(folder.resolve("empty"));
        assertThat(RunFiles.readAll(folder)).containsExactly(whole);
        assertThat(RunFiles.readAll(folder.resolve("absent"))).isEmpty();
    }
}

package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.Sample;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** A short experiment from end to end against a real redis-server, in seconds. Confined to the test's thread. */
final class RunIT {
    private static final String DEFINITION = """
            name: short
            title: A short one
            asks: Does a run write everything down?
            kind: ycsb
            default-scale: quick
            maxmemory: 256mb
            record-bytes: 100
            seed: 1
            workloads:
              a: {readproportion: "0.5", updateproportion: "0.5", requestdistribution: zipfian}
            sizes:
              tiny: {records: 200, seconds: 3, rate: 200}
            configurations:
              Redis: {server: redis, group: Redis, settings: {}}
            baselines: [Redis]
            scales:
              quick: {about: "SCALED: seconds", embedded: false, workloads: [a], sizes: [tiny], ttls: [[1, 2]], threads: [2], configurations: [Redis]}
            """;

    @TempDir
    private Path directory;

    @Test
    void aRunWritesEverythingDownAndResumeDoesNotDoItAgain() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));
        Matrix matrix = new Matrix(plan, files, Experiments.home());

        assertThat(matrix.run()).isZero();

        RunSpec run = plan.runs().getFirst();
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.serverVersion()).startsWith("Redis ");
        List<Sample> samples = files.samples(run);
        assertThat(samples).hasSizeGreaterThan(3);
        assertThat(samples.stream().mapToLong(Sample::keys).max().orElse(0)).isPositive();
        assertThat(samples.getLast().keys()).as("everything has expired").isZero();
        for (String name : List.of(RunFiles.YCSB_TXT, RunFiles.LATENCY_HGRM, "run.json")) {
            assertThat(files.of(run).resolve(name)).isNotEmptyFile();
        }
        for (String name : List.of("summary.csv", "summary.json", "report.html", "memory_" + run.cell() + ".png")) {
            assertThat(files.directory().resolve(name)).isNotEmptyFile();
        }

        String startedAt = record.startedAt();
        assertThat(matrix.run()).isZero();
        assertThat(files.read(run).orElseThrow().startedAt()).isEqualTo(startedAt);
    }
}

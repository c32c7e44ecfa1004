package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.run.Runner;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs a server that alternates with itself under other settings, for seconds, with Varve inside this process. Confined
 * to the test's thread.
 */
final class RecordingIT {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: What do settings cost?
            kind: throughput
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 16
            seed: 1
            workloads:
              settings: {tests: "SET GET", pipelines: "1 16", value-bytes: "16", connections: "5", keys: "1000", switched: "all on", switched-settings: "SETTINGS", unswitched-settings: "UNDONE", switched-tests: "SET GET", switched-pipelines: "16", settle-requests: "20000", limit-GET: "0 0", limit-switched-GET: "1 1000"}
            sizes:
              seconds: {seconds: 1, repetitions: 2, warmup-seconds: 1}
            configurations:
              plain: {server: varve, group: plain, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [settings], sizes: [seconds], ttls: [[]], threads: [1], configurations: [plain]}
            """;

    /** The column of a turn. */
    private static final int REQUESTS = 4;

    @TempDir
    private Path directory;

    /** On a bare machine the gate installs it, and says that it is not to be left out. */
    @BeforeEach
    void redisBenchmarkIsFound() throws IOException {
        try {
            Runner.require(plan("mrc-tracking=yes", "mrc-tracking=no"));
        } catch (InvalidExperimentException e) {
            assertThat(System.getenv("VARVE_REQUIRE_REDIS_TOOLS")).as("%s", e).isNotEqualTo("1");
            Assumptions.abort(e.toString());
        }
    }

    private Plan plan(String settings, String baselineSettings) throws IOException {
        Files.writeString(directory.resolve("short.yaml"),
                EXPERIMENT.replace("SETTINGS", settings).replace("UNDONE", baselineSettings));
        return Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
    }

    @Test
    void oneProcessIsComparedWithItself() throws IOException {
        Plan plan = plan("mrc-tracking=yes penalty-tracking=yes", "penalty-tracking=no mrc-tracking=no");
        RunFiles files = new RunFiles(directory.resolve("out"));
        // Seconds do not show whether the limit is held.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);
        RunSpec run = plan.runs().getFirst();
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.cells()).extracting(cell -> cell.title() + " " + cell.contestant()).containsExactly(
                "SET, pipeline 1 plain", "SET, pipeline 16 plain", "SET, pipeline 16 all on", "GET, pipeline 1 plain",
                "GET, pipeline 16 plain", "GET, pipeline 16 all on");
        for (Cell cell : record.cells()) {
            assertThat(cell.ratio() != null).as(cell.title()).isEqualTo(cell.contestant().equals("all on"));
        }
        assertThat(record.checks()).filteredOn(check -> check.what().contains("share of")).singleElement()
                .satisfies(check -> {
                    assertThat(check.what()).isEqualTo("GET, pipeline 16: CPU per operation, share of plain's");
                    assertThat(check.limit()).isEqualTo(1000);
                });
        Map<String, Double> measured = record.measured();
        assertThat(measured.get("cpu_switched_over_not SET 16")).isPositive();
        List<String> turns = files.rows(run, RunFiles.THROUGHPUT_CSV);
        assertThat(turns).hasSize(2 * 6);
        assertThat(turns.stream().filter(turn -> turn.contains("all on"))).hasSize(2 * 2);
        assertThat(turns).as("requests of a second").allSatisfy(
                turn -> assertThat(Long.parseLong(turn.split(",", -1)[REQUESTS])).isGreaterThan(1000));
        assertThat(files.directory().resolve("report.html")).isNotEmptyFile();
    }

    /** Neither of both is left out. */
    @ParameterizedTest
    @CsvSource({"no-such-setting=1, no-such-setting=2", "mrc-window=2000000, mrc-window=1"})
    void refusedSettingFailsTheRun(String settings, String baselineSettings) throws IOException {
        Plan plan = plan(settings, baselineSettings);
        RunFiles files = new RunFiles(directory.resolve("out"));
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isEqualTo(1);
        RunRecord record = files.read(plan.runs().getFirst()).orElseThrow();
        assertThat(record.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(record.faults()).singleElement().asString().contains(settings.split("=", -1)[0]);
    }
}

package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.result.table.WarmUpText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the tables and plots of made-up warm-ups. Confined to the test's thread. */
final class WarmUpReportTest {
    @TempDir
    private Path directory;

    private static Plan plan() throws IOException {
        return Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("warm-up"), "medium",
                Filters.NONE);
    }

    private static RunRecord made(Plan plan, RunSpec run) {
        String server = run.configuration();
        Map<String, Double> measured = new LinkedHashMap<>();
        measured.put("first_pass_ops PING_INLINE " + server, 900_000.0);
        measured.put("first_pass_ops PING_INLINE Redis", 1_000_000.0);
        for (int second = 1; second <= 8; second++) {
            measured.put("ops_of_second " + second + " " + server, second * 100_000.0);
            measured.put("ops_of_second " + second + " Redis", 500_000.0);
        }
        measured.put("latency_p99_us " + server, 1234.0);
        measured.put("first_pass_ops PING_INLINE share", 0.9);
        List<Check> checks = server.equals("Varve")
                ? List.of(Check.atLeast(WarmUpText.check("PING_INLINE", "Redis"), 0.89, 0.9))
                : List.of();
        return new RunRecord(run, server, Outcome.OK, List.of(), "2026-11-21T08:00:00Z", "warm-up", "medium",
                plan.scale().about(), 1, server, "", Map.of(), Map.of(), Machine.describe(), List.of(), measured,
                checks, List.of());
    }

    @Test
    void secondsUntilWarm_isTheFirstNearTheEnd() {
        assertThat(WarmUpText.secondsUntilWarm(List.of(1.0, 8.9, 9.1, 5.0, 10.0, 10.0, 10.0, 10.0))).isEqualTo(3);
        assertThat(WarmUpText.secondsUntilWarm(List.of(7.0))).isEqualTo(1);
        assertThat(WarmUpText.secondsUntilWarm(List.of())).isNaN();
    }

    @Test
    void eachServerHasOneLineAndAShare() throws IOException {
        Plan plan = plan();
        assertThat(plan.runs()).extracting(RunSpec::configuration).containsExactly("Varve", "Valkey");
        RunFiles files = new RunFiles(directory);
        List<RunRecord> records = plan.runs().stream().map(run -> made(plan, run)).toList();
        Summary summary = Summary.of(plan, records);

        List<Graph> graphs = WarmUpGraphs.of(summary);
        assertThat(graphs).singleElement().satisfies(graph -> {
            assertThat(graph.lines()).extracting(Line::name).containsExactly("Varve", "Redis", "Valkey");
            assertThat(graph.lines().getFirst().points()).hasSize(8).startsWith(new Point(1, 100));
        });
        assertThat(summary.table()).contains("PING_INLINE", "900,000", "1,000,000", "0.900", "1,234");
        assertThat(summary.failedChecks()).singleElement().asString().contains("PING_INLINE after a start");
        String html = Files.readString(new Report(plan, files, summary).write());
        assertThat(html).contains("After a start", "Throughput after a start, workload strings");
        for (String name : List.of("warm-up_strings.png", "first-pass_strings.png")) {
            assertThat(ImageIO.read(directory.resolve(name).toFile()).getWidth()).as(name).isGreaterThan(400);
        }
    }
}

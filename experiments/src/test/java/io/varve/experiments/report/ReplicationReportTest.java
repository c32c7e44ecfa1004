package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Columns.Series;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the tables and charts of a made-up run on replication. Confined to the test's thread. */
final class ReplicationReportTest {
    @TempDir
    private Path directory;

    private static RunRecord made(Plan plan) {
        RunMetrics metrics = new RunMetrics();
        put(metrics, ReplicationText.ALONE_CPU, "Varve", 1.25, 1.5);
        put(metrics, ReplicationText.REPLICATED_CPU, "Varve", 1.75, 2.25);
        put(metrics, ReplicationText.LAG_MEDIAN, "Varve", 3, 4);
        put(metrics, ReplicationText.LAG_P99, "Varve", 20, 22);
        put(metrics, ReplicationText.LAG_MAX, "Varve", 30, 40);
        for (String pair : List.of("Varve", "Varve-follows-Redis")) {
            put(metrics, ReplicationText.SYNC_SECONDS, pair, 12, 14);
            put(metrics, ReplicationText.SYNC_MAX, pair, 4000, 8000);
            put(metrics, ReplicationText.SYNC_REQUESTS, pair, 100_000, 120_000);
            put(metrics, ReplicationText.RESIDENT, pair, 2e9, 2e9);
            put(metrics, ReplicationText.ERRORS, pair, 0, 7);
            put(metrics, ReplicationText.PARTIAL, pair, 1, 1);
            put(metrics, ReplicationText.CATCH_UP_SECONDS, pair, 1, 3);
            put(metrics, ReplicationText.CAUGHT_UP, pair, 0, 1);
            put(metrics, ReplicationText.CATCH_UP_ERRORS, pair, 0, 9);
        }
        RunSpec run = plan.runs().getFirst();
        return new RunRecord(run, "Varve", Outcome.OK, List.of(), "2026-11-21T08:00:00Z", "replication", "small",
                plan.scale().about(), 1, "Varve", "", Map.of(), Map.of(), Machine.describe(), List.of(),
                metrics.asMap(), List.of(), List.of());
    }

    private static void put(RunMetrics metrics, String metric, String pair, double... values) {
        metrics.put(ReplicationText.name(metric, pair),
                MedianRange.of(Arrays.stream(values).boxed().toList()));
    }

    @Test
    void eachPairHasARowAndAColumn() throws IOException {
        Plan plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("replication"),
                "small", Filters.NONE);
        RunRecord record = made(plan);
        Summary summary = Summary.of(plan, List.of(record));

        List<PaperTable> tables = PaperTables.of(plan, summary);
        assertThat(tables).extracting(PaperTable::id).containsExactly("Writes", "Synchronizations", "Catching up");
        assertThat(tables).allSatisfy(table -> assertThat(table.rows())
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(table.head())));
        assertThat(tables.get(0).rows()).singleElement().satisfies(row -> assertThat(row).startsWith("Varve",
                "1.38 (1.25 to 1.50)", "2.00 (1.75 to 2.25)", "-").endsWith("3.5 (3.0 to 4.0)", "21.0 (20.0 to 22.0)",
                        "40.0"));
        assertThat(tables.get(1).rows()).hasSize(2);
        assertThat(tables.get(1).rows().getLast()).startsWith("Varve-follows-Redis", "13.00 (12.00 to 14.00)")
                .contains("2,000", "8,000", "110,000").endsWith("7");
        assertThat(tables.get(2).rows().getFirst()).startsWith("Varve", "2.00 (1.00 to 3.00)").contains("9");
        assertThat(summary.table()).contains(record.run().id()).doesNotContain("not measured");

        Columns lag = Columns.of(plan, summary).stream().filter(each -> each.file().equals("lag")).findFirst()
                .orElseThrow();
        assertThat(lag.series()).extracting(Series::name).containsExactly("median", "99th percentile", "greatest");
        assertThat(lag.series().getLast().values()).containsExactly(40.0);
        String html = Files.readString(new Report(plan, new RunFiles(directory), summary).write());
        assertThat(html).contains("Full synchronizations while clients read and write", "Catching up",
                "\"tablesTitle\":\"Measurements\"");
        for (String name : List.of("set-cpu.png", "lag.png", "sync-duration.png", "catch-up.png")) {
            assertThat(ImageIO.read(directory.resolve(name).toFile()).getWidth()).as(name).isGreaterThan(400);
        }
    }

    @Test
    void runThatMeasuredNothing_saysSo() throws IOException {
        Plan plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("replication"),
                "small", Filters.NONE);
        RunMetrics metrics = new RunMetrics();
        put(metrics, ReplicationText.SYNC_SECONDS, "Varve", 1);
        RunRecord record = new RunRecord(plan.runs().getFirst(), "Varve", Outcome.FAILED, List.of("a fault"), "",
                "replication", "small", "", 1, "Varve", "", Map.of(), Map.of(), Machine.describe(), List.of(),
                metrics.asMap(), List.of(), List.of());
        assertThat(Summary.of(plan, List.of(record)).table()).contains("a fault",
                "not measured: writes, catching up");
    }
}

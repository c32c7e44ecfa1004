package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;

import io.varve.experiments.chart.ChartFile;
import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.Sample;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes the page and the plots of made-up runs to {@code target/report-test} for inspection. Confined to the test's
 * thread.
 */
final class ReportTest {
    private static final Path DIRECTORY = Path.of("target", "report-test");

    private final Plan plan;
    private final RunFiles files;

    ReportTest() throws IOException {
        Experiment experiment = new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("bucket-expiry");
        plan = Plan.of(experiment, "small", Filters.NONE);
        files = new RunFiles(DIRECTORY);
    }

    private RunRecord made(RunSpec run, Outcome outcome) throws IOException {
        Files.createDirectories(files.of(run));
        double dead = switch (run.configuration()) {
            case "Ref" -> 0.34;
            case "Redis" -> 0.14;
            case "60-1000" -> 0.12;
            default -> 0.01;
        };
        List<Sample> samples = new ArrayList<>();
        StringBuilder csv = new StringBuilder(Sample.CSV_HEADER + "\n");
        for (int second = 0; second <= 205; second++) {
            double live = second < 140 ? Math.min(second / 60.0, 1) : Math.max(0, 1 - (second - 140) / 60.0);
            long keys = (long) (200_000 * live * (1 + dead * Math.min(1, second / 60.0)));
            Sample sample = new Sample(second * 1000L, 2_000_000 + keys * 1100, 30_000_000 + keys * 1150, keys, 0, 0,
                    second < 140 ? 10_000 : 0, -1, -1, Double.NaN);
            samples.add(sample);
            csv.append(sample.csv()).append('\n');
        }
        Files.writeString(files.of(run).resolve(RunFiles.MEMORY_CSV), csv.toString());
        RunMetrics metrics = new RunMetrics();
        metrics.putMemory(samples);
        metrics.put(RunMetrics.THROUGHPUT, 10_000);
        metrics.put(BusyMachine.OTHERS, run.configuration().equals("wheel") ? 34 : 1);
        metrics.put(RunMetrics.PROBE_THROUGHPUT, 40_000 + 2_000 * Math.floorMod(run.id().hashCode(), 5));
        RunRecord record = new RunRecord(run, plan.configuration(run).group(), outcome,
                outcome == Outcome.OK ? List.of() : List.of("the server ended with status 137"), "2026-11-21T08:00:00Z",
                "bucket-expiry", "small", plan.scale().about(), 1, "Varve 0.1.0", "./varve serve",
                plan.configuration(run).settings(), Map.of(), Machine.describe(), List.of(), metrics.asMap(),
                List.of(Check.atMost(RunRecord.SAME_LOAD, run.configuration().equals("wheel") ? 26 : 1, 5)), List.of());
        files.write(record);
        return record;
    }

    @Test
    void thePageLoadsNothingAndShowsEveryRun() throws IOException {
        List<RunRecord> records = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            records.add(made(run, run.id().equals("i_scaled_ttl15-30-45-60_4t_60-1000") ? Outcome.FAILED : Outcome.OK));
        }
        Summary summary = Summary.of(plan, records);
        summary.write(DIRECTORY);
        Path page = new Report(plan, files, summary).write();
        String html = Files.readString(page);

        // The charts' library writes an image of its own canvas, from data: an address that is not loaded from
        // anywhere.
        assertThat(html).doesNotContainPattern("(?i)<(script|img|iframe)[^>]*\\ssrc\\s*=\\s*[\"']?(https?:|//|[a-z./])")
                .doesNotContainPattern("(?i)<link\\b")
                .doesNotContainPattern("(?i)@import|url\\(\\s*['\"]?https?:");
        assertThat(html).contains("the server ended with status 137").contains("stops at 10 %")
                .contains("\"min\":-3.74");
        assertThat(html).doesNotContain("/*DATA*/null").doesNotContain("/*CHARTS*/");
        assertThat(plan.runs()).allSatisfy(run -> assertThat(html).contains("\"" + run.id() + "\""));
        assertThat(summary.table()).contains("less load than planned");
        assertThat(html).contains("\"fellShort\":true").contains("\"fellShort\":false");
        assertThat(html).contains("\"busy\":\"The machine was busy during 3 of 15 runs")
                .contains("\"busy\":[\"other processes used 34 % of the CPU time");
        assertThat(html).contains("\"Checks\"").doesNotContain("What was to hold");
        // A failed run is shown, but not compared.
        assertThat(summary.comparisons())
                .noneMatch(each -> each.run().id().equals("i_scaled_ttl15-30-45-60_4t_60-1000"))
                .hasSize(15 * 2 - 2 * 3 - 2);

        assertThat(html).contains("\"configuration\":\"Varve\"").doesNotContain("\"configuration\":\"wheel\"");
        assertThat(new ChartFile(DIRECTORY, "figure-4").svgText()).contains(">Varve<", "Figure 4: Overall",
                ">published range<", ">published mean<", ">published maximum<", ">reduction, %<")
                .doesNotContain("wheel");
        for (String name : List.of("memory_a_scaled_ttl15-30-45-60_4t.png", "throughput_f_scaled_ttl15-30-45-60_4t.png",
                "figure-4.png", "figure-17.png", "figure-18.png")) {
            assertThat(ImageIO.read(DIRECTORY.resolve(name).toFile()).getWidth()).as(name).isGreaterThan(400);
        }
    }
}

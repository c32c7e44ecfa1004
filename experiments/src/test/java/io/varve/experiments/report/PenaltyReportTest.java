package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.imageio.ImageIO;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.ClassCurve;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.PenaltyClass;
import io.varve.experiments.result.ResponseTimes;
import io.varve.experiments.result.ResponseTimes.Mean;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.LatencyText;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.PenaltyText;
import io.varve.experiments.result.table.Summary;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests report and tables of made-up runs, with numbers computed by hand, and writes them to {@code
 * target/penalty-test} for inspection. Confined to the test's thread.
 */
final class PenaltyReportTest {
    private static final Path DIRECTORY = Path.of("target", "penalty-test");
    /** Mean response times of the second half. */
    private static final Map<String, Double> SETTLED = Map.of("unlimited", 200.0, "lru", 400.0, "hyperbolic", 320.0,
            "penalty", 260.0, "penalty-hint", 240.0);

    private final List<RunRecord> records = new ArrayList<>();
    private Plan plan;
    private RunFiles files;

    @BeforeEach
    void make() throws IOException {
        plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("penalty"), "medium",
                Filters.NONE);
        files = new RunFiles(DIRECTORY);
        for (RunSpec run : plan.runs()) {
            records.add(made(run));
        }
    }

    private RunRecord made(RunSpec run) throws IOException {
        double settled = Objects.requireNonNull(SETTLED.get(run.configuration()));
        Map<String, Double> measured = new LinkedHashMap<>();
        measured.put(PenaltyText.RESPONSE, settled + 100);
        measured.put(PenaltyText.SETTLED, settled);
        measured.put(PenaltyText.READ_SETTLED, settled / 2);
        measured.put(PenaltyText.HITS_SETTLED, 0.875);
        measured.put(PenaltyText.MISS_SECONDS, 12.5);
        measured.put(PenaltyText.MISS_DELAY_SECONDS, 8.75);
        measured.put(PenaltyText.UNDIVIDED_SECONDS, 9.25);
        measured.put(PenaltyText.BEST_SECONDS, 6.5);
        measured.put(PenaltyText.BEST_SHARE, 0.85);
        measured.put(PenaltyText.LIMIT, 50e6);
        measured.put(LatencyText.P99, 2500.0);
        measured.put(PenaltyText.P9999, 12_000.0);
        measured.put(RunMetrics.THROUGHPUT, run.configuration().equals("penalty-hint") ? 4500.0 : 3000.0);
        measured.put(PenaltyText.ofDatabase("remote", "simulated_delay_asked_us"), 1000.0);
        measured.put(PenaltyText.ofDatabase("remote", "simulated_delay_measured_us"), 1043.4);
        Files.createDirectories(files.of(run));
        boolean divided = run.configuration().startsWith("penalty");
        StringBuilder response = new StringBuilder(ResponseTimes.CSV_HEADER + "\n");
        StringBuilder classes = new StringBuilder(PenaltyClass.CSV_HEADER + "\n");
        StringBuilder curves = new StringBuilder(ClassCurve.CSV_HEADER + "\n");
        for (int second = 1; second <= 20; second++) {
            double micros = settled * (1 + 2.0 / second);
            response.append(
                    new ResponseTimes(second, second * 3000L, new Mean(3000, micros), new Mean(1500, micros / 2),
                            new Mean(1500 / second, 800), new Mean(500, 130), new Mean(500, 1050)).csv())
                    .append('\n');
            double dear = 0.5 + 0.4 * (1 - 1.0 / second);
            classes.append(new PenaltyClass(3, "70 to 150 us", 240, 100, 90, 10, 1000, 1 - dear, 0.1)
                    .csv(second * 1000L, second * 3000L)).append('\n');
            classes.append(new PenaltyClass(6, "630 to 1270 us", 1100, 100, 90, 10, 1000, dear, Double.NaN)
                    .csv(second * 1000L, second * 3000L)).append('\n');
            for (int point = 1; second % 5 == 0 && point <= 10; point++) {
                curves.append(new ClassCurve(second * 1000L, second * 3000L, 6, point * 5_000_000L,
                        1.0 / (point + second / 5.0)).csv()).append('\n');
            }
        }
        Files.writeString(files.of(run).resolve(RunFiles.RESPONSE_CSV), response);
        if (divided) {
            measured.put(PenaltyText.BYTES, 1e6);
            measured.put(PenaltyText.RECORDER_BYTES, 5e5);
            measured.put(PenaltyText.DIVISIONS, 12.0);
            measured.put(PenaltyText.CURVES_MICROS, 560.0);
            measured.put(PenaltyText.DIVISION_MICROS, 107.0);
            Files.writeString(files.of(run).resolve(RunFiles.CLASSES_CSV), classes);
            Files.writeString(files.of(run).resolve(RunFiles.CLASS_CURVES_CSV), curves);
        }
        Histogram delays = new Histogram(3);
        for (int i = 1; i <= 1000; i++) {
            delays.recordValue((long) (settled * i / 500));
        }
        try (var out = new java.io.PrintStream(files.of(run).resolve(RunFiles.LATENCY_HGRM).toFile(),
                java.nio.charset.StandardCharsets.US_ASCII)) {
            delays.outputPercentileDistribution(out, 1.0);
        }
        List<Check> checks = divided
                ? List.of(Check.atLeast(PenaltyText.AIM + "lru", 100 * (400 - settled) / 400, 25))
                : List.of();
        return new RunRecord(run, plan.configuration(run).group(), Outcome.OK, List.of(), "2026-11-23T08:00:00Z",
                "penalty", "medium", plan.scale().about(), 1, "Varve 0.1.0", "./varve serve",
                plan.configuration(run).settings(), Map.of(), Machine.describe(), List.of(), measured, checks,
                List.of());
    }

    private static Map<String, String> row(List<PaperTable> tables, String id, String first, String second) {
        PaperTable table = tables.stream().filter(each -> each.id().equals(id)).findFirst().orElseThrow();
        List<String> words = table.rows().stream()
                .filter(row -> row.getFirst().equals(first) && (second.isEmpty() || row.get(1).equals(second)))
                .findFirst().orElseThrow();
        Map<String, String> row = new LinkedHashMap<>();
        for (int i = 0; i < words.size(); i++) {
            row.putIfAbsent(table.head().get(i), words.get(i));
        }
        return row;
    }

    @Test
    void publishedAndMeasuredStandSideBySide() {
        List<PaperTable> tables = PaperTables.of(plan, Summary.of(plan, records));
        assertThat(tables).extracting(PaperTable::id).containsExactly("Figure 14", "Figure 12", "Figure 13",
                "Figure 15", "Table 4", "Tables 2 and 3",
                "Simulated delays");
        assertThat(tables).allSatisfy(table -> assertThat(table.rows())
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(table.head())));

        // (400 - 260) / 400, (320 - 260) / 320
        assertThat(row(tables, "Figure 14", "a", "penalty")).containsEntry("mean, µs", "260")
                .containsEntry("below lru", "35.0 %").containsEntry("below hyperbolic", "18.8 %")
                .containsEntry("reads, µs", "130").containsEntry("hits", "87.5 %")
                .containsEntry("whole run: mean, µs", "360").containsEntry("p99.99, µs", "12,000");
        assertThat(row(tables, "Figure 14", "a", "lru")).containsEntry("below lru", "-");
        assertThat(row(tables, "Figure 14", "a-stress", "penalty-hint")).containsEntry("below lru", "40.0 %")
                .containsEntry("below hyperbolic", "25.0 %");
        assertThat(row(tables, "Table 4", "d", "")).containsEntry("lru, thousand/s", "3.00")
                .containsEntry("published Redis", "1.7").containsEntry("published pRedis", "3.4")
                .containsEntry("penalty-hint over lru", "+50.0 %").containsEntry("published", "+100.0 %");
        assertThat(row(tables, "Table 4", "a-stress", "")).containsEntry("published Redis", "-")
                .containsEntry("published", "-");
        assertThat(row(tables, "Tables 2 and 3", "f", "penalty")).containsEntry("curves of the last one, µs", "560")
                .containsEntry("optimization, µs", "107").containsEntry("MB for penalties", "1.00")
                .containsEntry("MB for curves", "0.50").containsEntry("both, share of maxmemory", "3.00 %");
        assertThat(row(tables, "Simulated delays", "b", "lru")).containsEntry("remote: simulated delay, µs", "1,000")
                .containsEntry("remote: measured", "1,043").containsEntry("all misses, s", "12.50")
                .containsEntry("their simulated delays, s", "8.75")
                .containsEntry("delays with exact LRU, s", "9.25")
                .containsEntry("delays with the best fixed division, s", "6.50")
                .containsEntry("its remote keys", "85 %");
    }

    @Test
    void thePageAndTheImagesHaveEverything() throws IOException {
        Summary summary = Summary.of(plan, records);
        summary.write(DIRECTORY);
        String html = Files.readString(new Report(plan, files, summary).write());
        assertThat(html).contains("Mean response time over the run, workload a").contains("class 6, 630 to 1270 us")
                .contains("class 6 at 100 %").contains("\"35.0 %\"").contains("SIMULATED");
        String cell = plan.runs().getFirst().cell();
        RunSpec divided = plan.runs().stream().filter(run -> run.configuration().equals("penalty")).findFirst()
                .orElseThrow();
        for (String name : List.of("response_" + cell, "misses_" + cell, "response-share_" + cell,
                "response-tail_" + cell, "shares_" + divided.id(), "class-curves_" + divided.id(), "response-settled",
                "throughput")) {
            assertThat(Objects.requireNonNull(ImageIO.read(DIRECTORY.resolve(name + ".png").toFile()), name)
                    .getWidth()).isGreaterThan(400);
        }
        assertThat(summary.table()).contains("2nd half").contains("held")
                .contains("% below that of lru: 35 (at least 25)");
        assertThat(Files.readString(DIRECTORY.resolve("summary.csv"))).contains("response_second_half_mean_us");
    }

    @Test
    void linesAreDrawnOverSharesOfTheOperations() throws IOException {
        List<Graph> graphs = PenaltyGraphs.of(plan, files);
        Graph response = graphs.stream().filter(graph -> graph.file().startsWith("response_a_")).findFirst()
                .orElseThrow();
        assertThat(response.lines()).extracting(Graph.Line::name).containsExactly("unlimited", "lru", "hyperbolic",
                "penalty", "penalty-hint");
        // In the first of twenty seconds 5 % are done, at three times what it is in the end.
        assertThat(response.lines().get(1).points().getFirst()).isEqualTo(new Graph.Point(5, 1200));
        Graph misses = graphs.stream().filter(graph -> graph.file().startsWith("misses_a_")).findFirst()
                .orElseThrow();
        assertThat(misses.lines().getFirst().points().get(1)).isEqualTo(new Graph.Point(10, 50));
        Graph shares = graphs.stream().filter(graph -> graph.file().startsWith("shares_a_")).findFirst().orElseThrow();
        assertThat(shares.lines()).extracting(Graph.Line::name).containsExactly("class 3, 70 to 150 us",
                "class 3, suggested", "class 6, 630 to 1270 us");
        assertThat(shares.lines().get(1).points().getLast()).isEqualTo(new Graph.Point(100, 10));
        Graph curves = graphs.stream().filter(graph -> graph.file().startsWith("class-curves_a_")).findFirst()
                .orElseThrow();
        assertThat(curves.lines()).extracting(Graph.Line::name).containsExactly("class 6 at 25 %",
                "class 6 at 50 %", "class 6 at 100 %");
        assertThat(curves.lines().getLast().points().getFirst()).isEqualTo(new Graph.Point(5, 20));
        assertThat(graphs).filteredOn(graph -> graph.file().startsWith("shares_")).as("two of each workload's servers")
                .hasSize(14);
    }
}

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

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.CleanerText;
import io.varve.experiments.result.table.FragmentationText;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.RequestsText;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes the paper's tables of made-up runs to {@code target/paper-test} for inspection. Confined to the test's thread.
 */
final class PaperTablesTest {
    private static final Path DIRECTORY = Path.of("target", "paper-test");

    private final Plan plan;
    private final RunFiles files;
    private final List<RunRecord> records = new ArrayList<>();

    PaperTablesTest() throws IOException {
        plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("redis-plus-plus"), "quick",
                Filters.NONE).without(Map.of("Redis-tcmalloc", "not at hand", "Redis-mimalloc", "not at hand"));
        files = new RunFiles(DIRECTORY);
        for (RunSpec run : plan.runs()) {
            records.add(made(run));
        }
    }

    private RunRecord made(RunSpec run) throws IOException {
        Map<String, Double> measured = new LinkedHashMap<>();
        Map<String, String> load = new LinkedHashMap<>();
        switch (plan.kind(run)) {
            case PAPER_REQUESTS -> {
                requests(measured);
                load.put(RequestsText.NO_MISSES, "perf stat printed <not supported>");
            }
            case FRAGMENTATION -> {
                measured.put(FragmentationText.LIVE, run.configuration().equals("Varve") ? 0.9 : 0.6);
                measured.put(FragmentationText.LIVE_FROM_FRESH, run.configuration().equals("Varve") ? 0.875 : 0.5);
                measured.put(FragmentationText.OF_RESIDENT, 0.4);
                measured.put(FragmentationText.OVER_USED, 1.25);
            }
            default -> measured.put(CleanerText.COST, cost(run));
        }
        Files.createDirectories(files.of(run));
        return new RunRecord(run, plan.configuration(run).group(), Outcome.OK, List.of(), "2026-11-21T08:00:00Z",
                "redis-plus-plus", "quick", plan.scale().about(), 1, "Varve 0.1.0", "./varve serve",
                plan.configuration(run).settings(), load, Machine.describe(), List.of(), measured, List.of(),
                List.of());
    }

    private static double cost(RunSpec run) {
        return switch (run.configuration()) {
            case "greedy-1-head" -> run.workload().equals("uniform") ? 100 : 300;
            case "modified-1-head" -> 200;
            default -> 250;
        };
    }

    private static void requests(Map<String, Double> measured) {
        for (String test : List.of(RequestsText.READ, RequestsText.WRITE, "50 % reads Unif", "95 % reads Zipf")) {
            for (String server : List.of("Varve", "Redis")) {
                boolean ours = server.equals("Varve");
                measured.put(RequestsText.name(RequestsText.OPS, test, server), ours ? 160_000.0 : 150_000.0);
                measured.put(RequestsText.name(RequestsText.MEAN, test, server), ours ? 21.5 : 22.75);
                measured.put(RequestsText.name(RequestsText.CPU, test, server), ours ? 5.25 : 6.0);
            }
            measured.put(RequestsText.name(RequestsText.OPS, test, RequestsText.OVER_RIVAL), 1.07);
            measured.put(RequestsText.name(RequestsText.MEAN, test, RequestsText.OVER_RIVAL), 0.95);
        }
    }

    private static PaperTable table(List<PaperTable> tables, String id) {
        return tables.stream().filter(table -> table.id().equals(id)).findFirst().orElseThrow();
    }

    private static Map<String, String> row(PaperTable table, String first, String second) {
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
    void thePublishedStandsBesideTheMeasured() {
        List<PaperTable> tables = PaperTables.of(plan, Summary.of(plan, records));
        assertThat(tables).extracting(PaperTable::id).containsExactly("Table 2", "Figure 1", "Figure 5", "Figure 6",
                "Figure 7", "Figure 8");
        assertThat(tables).allSatisfy(table -> assertThat(table.rows())
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(table.head())));

        assertThat(row(table(tables, "Figure 7"), "Tiny", "read")).containsEntry("Varve, mean µs", "21.50")
                .containsEntry("Redis, mean µs", "22.75").containsEntry("mean, Varve / Redis", "0.95")
                .containsEntry("published Redis++, µs", "22.47").containsEntry("published Redis, µs", "68.74")
                .containsEntry("published Redis++ / Redis", "0.33");
        assertThat(row(table(tables, "Figure 7"), "Large", "write"))
                .containsEntry("published Redis++, µs", "not printed").containsEntry("published Redis++ / Redis", "-");
        assertThat(row(table(tables, "Figure 8"), "Tiny", "95 % reads Zipf"))
                .containsEntry("Varve, requests/s", "160,000").containsEntry("Redis, CPU µs/request", "6.00")
                .containsEntry("published Redis++, requests/s", "570,000")
                .containsEntry("published Redis++ / Redis", "3.80");
        assertThat(row(table(tables, "Table 2"), "siphash", "")).containsEntry("published, %", "22.5");
        assertThat(row(table(tables, "Figure 5"), "W2 (W3 of Table 1)", "")).containsEntry("Varve", "90.0 %")
                .containsEntry("Redis", "60.0 %").containsEntry("published Redis++", "not printed");
    }

    @Test
    void missingMeasurementsAreReported() {
        List<PaperTable> tables = PaperTables.of(plan, Summary.of(plan, records));
        assertThat(table(tables, "Table 2").notes())
                .containsExactly("This machine cannot count cache misses: perf stat printed <not supported>.");
        assertThat(table(tables, "Figure 1").notes()).contains("Redis-tcmalloc is omitted: not at hand.");
        assertThat(row(table(tables, "Figure 1"), "W3", "")).containsEntry("Varve", "12.5 % (1.25)")
                .containsEntry("Redis-libc", "50.0 % (1.25)").containsEntry("lowest", "Varve");
        assertThat(PaperTables.of(plan, Summary.of(plan, List.of())))
                .as("nothing was measured, and the allocators are still listed").extracting(PaperTable::id)
                .containsExactly("Figure 1");
    }

    @Test
    void policiesAreRankedAsInFigureSix() {
        PaperTable table = table(PaperTables.of(plan, Summary.of(plan, records)), "Figure 6");
        assertThat(row(table, "uniform", "one")).containsEntry("lowest", "greedy").containsEntry("highest",
                "original");
        assertThat(row(table, "hot-cold", "one")).containsEntry("lowest", "modified").containsEntry("highest",
                "greedy");
    }

    @Test
    void theReportAndTheTerminalHaveThem() throws IOException {
        Summary summary = Summary.of(plan, records);
        summary.write(DIRECTORY);
        String html = Files.readString(new Report(plan, files, summary).write());
        assertThat(html).contains("\"68.74\"").contains("\"not printed\"").contains("Redis-mimalloc is omitted");
        for (String name : List.of("figure-1.png", "figure-7.png", "figure-8.png", "figure-8-cpu.png",
                "reclaim-cost-1-head.png")) {
            assertThat(Objects.requireNonNull(ImageIO.read(DIRECTORY.resolve(name).toFile()), name).getWidth())
                    .isGreaterThan(400);
        }
        assertThat(PaperTables.text(PaperTables.of(plan, summary))).contains("Figure 8: ").contains("570,000");
        assertThat(summary.table()).as("each kind has its table").contains("ReclaimCost").contains("live/growth")
                .contains("mean us");
        assertThat(plan.runs()).anyMatch(run -> plan.kind(run) == Kind.PAPER_REQUESTS);
        assertThat(Files.readString(DIRECTORY.resolve("summary.csv")).lines().toList())
                .hasSize(1 + plan.runs().size());
    }
}

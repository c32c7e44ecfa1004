package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes the TBF paper's tables and figures of made-up runs to {@code target/flash-test} for inspection. Confined to
 * the test's thread.
 */
final class FlashReportTest {
    private static final List<String> POLICIES = List.of("tbf", "tbf-marked", "bfd", "clock", "clock-marked", "lru",
            "random");

    private static List<RunRecord> made(Plan plan, RunFiles files) throws IOException {
        List<RunRecord> records = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            Files.createDirectories(files.of(run));
            Map<String, Double> measured = new LinkedHashMap<>();
            Map<String, String> load = new LinkedHashMap<>(plan.workload(run));
            switch (plan.kind(run)) {
                case POLICY_MEMORY -> {
                    load.put("keys", "1000000");
                    memory(measured);
                }
                case SIMULATED -> List.of("0.5%", "1%", "2%", "10%").forEach(size -> simulated(measured, size));
                default -> observed(measured);
            }
            records.add(new RunRecord(run, "policies", Outcome.OK, List.of(), "2026-12-01T04:00:00Z",
                    plan.experiment().name(), "quick", plan.scale().about(), 1, "Varve", "", Map.of(), load,
                    Machine.describe(), List.of(), measured, List.of(), List.of()));
        }
        return records;
    }

    private static void memory(Map<String, Double> measured) {
        Map.of("lru", 24.0, "tbf", 1.0, "none", 0.0).forEach((policy, bytes) -> {
            measured.put(PoliciesText.name(PoliciesText.BYTES, policy, PoliciesText.FILLED), bytes);
            measured.put(PoliciesText.name(PoliciesText.HEAP, policy, PoliciesText.FILLED), 5e6);
            measured.put(PoliciesText.name(PoliciesText.RESIDENT, policy, PoliciesText.FILLED), 50e6 + 1e6 * bytes);
        });
    }

    private static void simulated(Map<String, Double> measured, String size) {
        double percent = Double.parseDouble(size.substring(0, size.length() - 1));
        for (String policy : POLICIES) {
            measured.put(PoliciesText.name(PoliciesText.HITS, policy, size), 0.5 + percent / 50);
            measured.put(PoliciesText.name(PoliciesText.CAPACITY, policy, size), 10_000 * percent);
            measured.put(PoliciesText.name(PoliciesText.MISSES_OVER_LRU, policy, size),
                    policy.equals("random") ? 1.05 : 0.96);
            measured.put(PoliciesText.name(PoliciesText.TRAVERSED, policy, size), 1.4);
            if (policy.equals("bfd")) {
                measured.put(PoliciesText.name(PoliciesText.FALSE_NEGATIVES, policy, size), percent / 100);
            }
            for (int limit : List.of(1, 2, 5, 10, 20, 50, 100, 1000)) {
                measured.put(PoliciesText.name(PoliciesText.VISITED_WITHIN, policy, size) + " " + limit,
                        100_000.0 * limit / (limit + 1));
            }
        }
    }

    private static void observed(Map<String, Double> measured) {
        for (String policy : List.of("tbf", "lru", "random", "none")) {
            measured.put(PoliciesText.name(PoliciesText.HITS, policy, "10%"), policy.equals("none") ? 0 : 0.75);
            measured.put(PoliciesText.name(PoliciesText.OPS, policy, "10%"), policy.equals("none") ? 1000.0 : 3000.0);
            measured.put(PoliciesText.name(PoliciesText.ADVICE, policy, "10%"), 12.5);
            measured.put(PoliciesText.name(PoliciesText.DEVICE_BYTES, policy, "10%"), 4096.0);
        }
    }

    private static List<PaperTable> report(String experiment, String scale, Path directory) throws IOException {
        Plan plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read(experiment), scale,
                Filters.NONE);
        RunFiles files = new RunFiles(directory);
        Summary summary = Summary.of(plan, made(plan, files));
        new Report(plan, files, summary).write();
        List<PaperTable> tables = PaperTables.of(plan, summary);
        assertThat(tables).allSatisfy(table -> assertThat(table.rows()).isNotEmpty()
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(table.head())));
        return tables;
    }

    private static PaperTable table(List<PaperTable> tables, String id) {
        return tables.stream().filter(table -> table.id().equals(id)).findFirst().orElseThrow();
    }

    @Test
    void simulationsHaveAllTablesAndFigures() throws IOException {
        Path directory = Path.of("target", "flash-test", "simulated");
        List<PaperTable> tables = report("tbf-simulated", "quick", directory);
        assertThat(tables).extracting(PaperTable::id).containsExactly("Table I", "Table II", "Table V", "Table VI",
                "Figure 2", "Figure 3", "Figure 4", "Figure 5");
        assertThat(table(tables, "Table I").rows()).anySatisfy(
                row -> assertThat(row).startsWith("lru", "1,000,000", "192.00", "59.8").endsWith("3"));
        assertThat(table(tables, "Table II").rows()).anySatisfy(row -> assertThat(row).startsWith("lru", "24.00", "24")
                .endsWith("48.000", "48.000", "192.000", "192.000"));
        assertThat(table(tables, "Table V").rows()).anySatisfy(
                row -> assertThat(row).containsExactly("tbf", "1,000,000", "0.001", "0.005", "0.051", "0.15", "0.20",
                        "0.15", "4.1", "5.1"));
        assertThat(table(tables, "Figure 4").rows()).allSatisfy(row -> assertThat(row).startsWith("latest"));
        for (String figure : List.of("figure-2a_zipfian", "figure-2b_latest", "figure-3", "figure-4a_latest",
                "figure-4b_latest", "figure-5a", "figure-5f")) {
            assertThat(directory.resolve(figure + ".png")).isNotEmptyFile();
        }
        assertThat(directory.resolve("figure-4a_zipfian.png")).doesNotExist();
    }

    @Test
    void requestsPerSecondHaveAFigureForEachPageCache() throws IOException {
        Path directory = Path.of("target", "flash-test", "observed");
        List<PaperTable> tables = report("tbf-observed", "reproduce-small", directory);
        assertThat(table(tables, "Figure 7").rows())
                .anySatisfy(row -> assertThat(row).containsExactly("latest-fast-flash", "flash", "10%", "tbf", "75.00",
                        "3,000", "3.00", "12.50", "4,096", "332"))
                .anySatisfy(row -> assertThat(row).startsWith("uniform", "yes", "10%", "none", "0.00", "1,000")
                        .endsWith("51"))
                .anySatisfy(row -> assertThat(row).startsWith("uniform-uncached", "no"));
        for (String pageCache : List.of("yes", "flash", "no")) {
            assertThat(directory.resolve("figure-7_page-cache-" + pageCache + ".png")).isNotEmptyFile();
        }
    }

    @Test
    void eachScaleHasRunsOfTheKindsThatTheFiguresNeed() throws IOException {
        for (String scale : List.of("reproduce-quick", "reproduce-small", "paper")) {
            Plan plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("tbf-simulated"),
                    scale, Filters.NONE);
            assertThat(plan.runs().stream().map(plan::kind)).as(scale).contains(Kind.SIMULATED, Kind.POLICY_MEMORY);
        }
    }
}

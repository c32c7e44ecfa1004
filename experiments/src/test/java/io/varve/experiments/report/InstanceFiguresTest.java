package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.imageio.ImageIO;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.InfoTable;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.RunRecord.Phase;
import io.varve.experiments.result.Sample;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes Figures 4 to 18 of made-up runs to {@code target/instances-test} for inspection. Confined to the test's
 * thread.
 */
final class InstanceFiguresTest {
    private static final Path DIRECTORY = Path.of("target", "instances-test");
    private static final String CELL = "a_quick-30M_ttl4_4t";

    private final Plan plan;
    private final RunFiles files;
    private final List<RunRecord> records = new ArrayList<>();
    private final Summary summary;

    InstanceFiguresTest() throws IOException {
        plan = Plan.of(new ExperimentFiles(Path.of("..", "workloads", "experiments")).read("bucket-expiry"),
                "reproduce-quick", Filters.NONE);
        files = new RunFiles(DIRECTORY);
        for (RunSpec run : plan.runs()) {
            records.add(made(run));
        }
        summary = Summary.of(plan, records);
    }

    private RunRecord made(RunSpec run) throws IOException {
        Files.createDirectories(files.of(run));
        double dead = run.configuration().equals("Ref") ? 1 : run.configuration().endsWith("-100") ? 0.2 : 0.1;
        List<Sample> samples = new ArrayList<>();
        StringBuilder csv = new StringBuilder(Sample.CSV_HEADER + "\n");
        StringBuilder info = new StringBuilder(InfoTable.ELAPSED + ",expired_keys,own\n");
        for (int second = 0; second <= 14; second++) {
            long bytes = (long) (1_000_000 * Math.min(second, 8) * (1 + dead));
            Sample sample = new Sample(second * 1000L, bytes, bytes, 10, 0, 0, 0, -1, -1, Double.NaN);
            samples.add(sample);
            csv.append(sample.csv()).append('\n');
            info.append(second * 1000).append(',').append(second * 7).append(",\n");
        }
        Files.writeString(files.of(run).resolve(RunFiles.MEMORY_CSV), csv.toString());
        Files.writeString(files.of(run).resolve(RunFiles.INFO_CSV), info.toString());
        RunMetrics metrics = new RunMetrics();
        metrics.putMemory(samples);
        metrics.put(RunMetrics.THROUGHPUT, run.configuration().equals("Ref") ? 10_000 : 9_000);
        RunRecord record = new RunRecord(run, plan.configuration(run).group(), Outcome.OK, List.of(),
                "2026-11-21T08:00:00Z", "bucket-expiry", "reproduce-quick", plan.scale().about(), 1, "Varve 0.1.0",
                "./varve serve", plan.configuration(run).settings(), Map.of(), Machine.describe(),
                List.of(new Phase("operations", 3000, 8000)), metrics.asMap(), List.of(), List.of());
        files.write(record);
        return record;
    }

    private static PaperTable table(List<PaperTable> tables, String id) {
        return tables.stream().filter(table -> table.id().equals(id)).findFirst().orElseThrow();
    }

    @Test
    void everyFigureOfThePaper_isDrawn() throws IOException {
        String html = Files.readString(new Report(plan, files, summary, List.of("expired_keys", "own")).write());
        for (int number = 4; number <= 18; number++) {
            Path image = DIRECTORY.resolve("figure-" + number + ".png");
            assertThat(Objects.requireNonNull(ImageIO.read(image.toFile())).getWidth()).as(image.toString())
                    .isGreaterThan(400);
            assertThat(html).contains("Figure " + number);
        }
        assertThat(html).contains("the paper's Figures 8 and 9").contains("the paper's Figures 13 and 14")
                .contains("Exp-120-1000-4 (8-1000)").contains("Reference (Ref)");
    }

    @Test
    void plottedFields_haveAnImageForEachCellWithValues() throws IOException {
        String html = Files.readString(new Report(plan, files, summary, List.of("expired_keys", "own")).write());
        assertThat(DIRECTORY.resolve("info_expired_keys_" + CELL + ".png")).isNotEmptyFile();
        assertThat(DIRECTORY.resolve("info_own_" + CELL + ".png")).as("no value").doesNotExist();
        assertThat(html).contains("INFO: expired_keys").doesNotContain("INFO: own");
        assertThat(Files.readString(new Report(plan, files, summary).write())).doesNotContain("INFO: expired_keys");
    }

    @Test
    void tables_haveTheInstancesByThePapersNames() {
        List<PaperTable> tables = PaperTables.of(plan, summary);
        assertThat(tables).extracting(PaperTable::id).containsExactly("Figure 8", "Figure 9", "Figure 10", "Figure 11",
                "Figure 13", "Figure 14");
        assertThat(tables).allSatisfy(table -> assertThat(table.rows())
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(table.head())));
        PaperTable memory = table(tables, "Figure 8");
        assertThat(memory.rows()).extracting(row -> row.get(1)).containsExactly("Reference (Ref)",
                "Exp-60-1000-4 (4-1000)", "Exp-120-1000-4 (8-1000)", "Exp-240-1000-4 (16-1000)",
                "Exp-600-100-4 (40-100)", "Exp-1200-100-4 (80-100)", "Exp-2400-100-4 (160-100)", "Varve", "Redis");
        assertThat(memory.rows().get(1)).containsSequence("8.8", "8", "+45.0 %", "+45.0 %");
        assertThat(memory.rows().getFirst()).as("the baseline beside the other one").containsSequence("16.0", "8", "-",
                "-");
        PaperTable throughput = table(tables, "Figure 14");
        assertThat(throughput.rows()).extracting(row -> row.get(1)).containsExactly("Reference (Ref)",
                "Exp-60-1000-1 (4-1000)", "Exp-120-1000-1 (8-1000)", "Exp-240-1000-1 (16-1000)");
        assertThat(throughput.rows().get(1)).containsSequence("9,000", "-10.0 %", "-", "not printed");
    }
}

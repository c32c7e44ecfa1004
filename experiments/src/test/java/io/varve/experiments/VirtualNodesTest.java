package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.PlacementText;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs a short experiment on placement from end to end. Confined to the test's thread. */
final class VirtualNodesTest {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: How even are a few seeds?
            kind: placement
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 16
            seed: 1
            workloads:
              eight: {members: "8", keys: "1000", keys-are: hashed, identifiers: "1 8 64"}
              twenty: {members: "20", keys: "1000000", keys-are: drawn, identifiers: "1 16"}
            sizes:
              few: {repetitions: 3}
            configurations:
              placements: {server: varve, group: placements, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [eight, twenty], sizes: [few], ttls: [[]], threads: [1], configurations: [placements]}
            figures:
              - {id: Figure 3, title: Keys, shows: keys-per-member, workloads: [eight], published: [{group: ring, metric: mean, mean: 125}]}
              - {id: Figure 4, title: Deviation, shows: keys-deviation, workloads: [eight]}
              - {id: Large clusters, title: Scale, shows: placement-scale, workloads: [twenty]}
            """;

    @TempDir
    private Path directory;

    private RunFiles run(Plan plan, String name) throws IOException {
        RunFiles files = new RunFiles(directory.resolve(name));
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isZero();
        return files;
    }

    private static double median(RunRecord record, String metric, String placement) {
        MedianRange range = PlacementText.range(record, metric, placement);
        assertThat(range).as(metric + " " + placement).isNotNull();
        assertThat(range.min()).isLessThanOrEqualTo(range.median());
        assertThat(range.max()).isGreaterThanOrEqualTo(range.median());
        return range.median();
    }

    @Test
    void placementsAreCompared() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), EXPERIMENT);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = run(plan, "out");

        RunSpec eight = plan.runs().getFirst();
        RunRecord record = files.read(eight).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(PlacementText.placements(record)).containsExactly("ring-1", "ring-8", "ring-64", "slots-1",
                "slots-8", "slots-64", PlacementText.RENDEZVOUS, PlacementText.REBALANCED, PlacementText.GROWN);
        assertThat(median(record, PlacementText.KEYS_MEAN, "ring-1")).isEqualTo(125);
        assertThat(median(record, PlacementText.KEYS_DEVIATION, "ring-1"))
                .isGreaterThan(median(record, PlacementText.KEYS_DEVIATION, "ring-64"));
        assertThat(PlacementText.number(record, PlacementText.KEYS_THEORY, "ring-1")).isBetween(110.0, 111.5);
        assertThat(median(record, PlacementText.LEAVE_SLOTS, PlacementText.REBALANCED)).isEqualTo(2048);
        assertThat(record.checks()).noneMatch(Check::hasFailed).extracting(Check::notAsserted)
                .contains("fewer than 100 seeds");
        assertThat(files.rows(eight, RunFiles.PLACEMENT_CSV)).hasSize(3 * 9)
                .allSatisfy(row -> assertThat(row.split(",", -1)).hasSize(15));

        RunRecord twenty = files.read(plan.runs().getLast()).orElseThrow();
        assertThat(PlacementText.placements(twenty)).containsExactly("slots-1", "slots-16", PlacementText.RENDEZVOUS,
                PlacementText.REBALANCED, PlacementText.GROWN);
        assertThat(median(twenty, PlacementText.RANGES, PlacementText.GROWN)).isBetween(20.0, 400.0);
        assertThat(median(twenty, PlacementText.RANGES, PlacementText.REBALANCED)).isEqualTo(20);
        for (String name : List.of("figure-3.png", "figure-4.png", "figure-3-continued.png",
                "figure-4-continued.png", "most-loaded_twenty.png", "report.html", "summary.json")) {
            assertThat(files.directory().resolve(name)).isNotEmptyFile();
        }
        List<RunRecord> records = List.of(record, twenty);
        List<PaperTable> tables = PaperTables.of(plan, Summary.of(plan, records));
        assertThat(tables).extracting(PaperTable::id).containsExactly("Figure 3", "Figure 4", "Large clusters");
        assertThat(tables).allSatisfy(table -> assertThat(table.rows()).isNotEmpty()
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(table.head())));
        assertThat(tables.getFirst().rows().getFirst()).startsWith("keys on a ring, 1 identifier", "not printed")
                .contains("125");
        assertThat(tables.getLast().rows()).hasSize(5);
        assertThat(Summary.of(plan, records).table()).contains("rendezvous", "standard deviation");
        assertThat(files.directory().resolve("summary.csv")).content().contains("keys_deviation ring-8");
    }

    /** All but the times is a function of the experiment's seed. */
    @Test
    void oneSeed_alwaysGivesTheSameFigures() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), EXPERIMENT);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick",
                new Filters(List.of("twenty"), List.of(), List.of(), List.of(), List.of(), List.of()));
        RunSpec twenty = plan.runs().getFirst();
        List<String> once = withoutTimes(run(plan, "once").rows(twenty, RunFiles.PLACEMENT_CSV));
        assertThat(withoutTimes(run(plan, "twice").rows(twenty, RunFiles.PLACEMENT_CSV))).isEqualTo(once).isNotEmpty();
    }

    private static List<String> withoutTimes(List<String> rows) {
        return rows.stream().map(row -> row.substring(0, row.lastIndexOf(','))).toList();
    }
}

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
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.LocksText;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures stores with different locks in process and behind servers inside this process, for seconds. Confined to the
 * test's thread.
 */
final class LocksIT {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: What does a lock cost?
            kind: locks
            default-scale: quick
            maxmemory: 32mb
            record-bytes: 16
            seed: 1
            workloads:
              words: {keys: "500", key-bytes: "12", values: "16", large-values: "16", large-share: "0", reads: "100 67", distributions: "unif", connections: "3", threads: "5", segments: "4", stores: "one-lock readers-writer-lock segment-locks Varve"}
            sizes:
              seconds: {seconds: 1, repetitions: 2, warmup-seconds: 0}
            configurations:
              Varve: {server: varve, group: Varve, settings: {}}
              one-shard: {server: varve, group: one-shard, settings: {shards: "1"}}
            baselines: [one-shard]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [words], sizes: [seconds], ttls: [[]], threads: [1], configurations: [Varve, one-shard]}
            figures:
              - {id: Table 2, title: In process, shows: locks, published: [{group: segment-locks, metric: read-write, mean: 1.97}]}
              - {id: Figure 5, title: Served, shows: served-locks}
            """;

    @TempDir
    private Path directory;

    @Test
    void storesAreComparedInProcessAndBehindServers() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), EXPERIMENT);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));

        assertThat(new Matrix(plan, files, Experiments.home()).run()).isZero();

        RunSpec run = plan.runs().getFirst();
        assertThat(plan.runs()).containsExactly(run);
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.checks()).singleElement()
                .matches(check -> check.what().equals("reads that missed") && check.held());
        assertThat(LocksText.stores(record, LocksText.OPS)).containsExactly("one-lock", "readers-writer-lock",
                "segment-locks", "Varve");
        assertThat(LocksText.stores(record, LocksText.SERVED_OPS)).containsExactly("Varve", "one-shard");
        for (String load : List.of(LocksText.READ, LocksText.READ_WRITE)) {
            for (String store : LocksText.stores(record, LocksText.OPS)) {
                MedianRange ops = LocksText.range(record, LocksText.OPS, load, store);
                assertThat(ops).isNotNull();
                assertThat(ops.min()).as(store).isGreaterThan(1000);
                assertThat(LocksText.range(record, LocksText.OVER_ONE_LOCK, load, store) != null)
                        .as(store).isEqualTo(!store.equals("one-lock"));
            }
            assertThat(LocksText.range(record, LocksText.OVER_ONE_SHARD, load, "Varve")).isNotNull();
        }
        assertThat(files.rows(run, RunFiles.LOCKS_CSV)).hasSize(2 * 2 * (4 + 2));
        for (String name : List.of("table-2.png", "in-process-throughput.png", "figure-5.png", "report.html")) {
            assertThat(files.directory().resolve(name)).isNotEmptyFile();
        }
        List<PaperTable> tables = PaperTables.of(plan, Summary.of(plan, List.of(record)));
        assertThat(tables).extracting(PaperTable::id).containsExactly("Table 2", "Figure 5");
        assertThat(tables.getFirst().rows()).hasSize(4);
        assertThat(tables.getFirst().rows().get(2)).startsWith("segment-locks").contains("1.97", "not printed");
        assertThat(tables.getLast().rows()).hasSize(2 * 2)
                .allSatisfy(row -> assertThat(row).hasSameSizeAs(tables.getLast().head()));
        assertThat(Summary.of(plan, List.of(record)).table()).contains("served by one-shard");
    }
}

package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.DurableStoreTables;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.run.Runner;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Measures servers with and without a log, for seconds, with Varve inside this process and a real redis-server.
 * Confined to the test's thread.
 */
final class WriteAheadLogIT {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: What does a log cost?
            kind: write_ahead_log
            default-scale: quick
            maxmemory: 32mb
            record-bytes: 16
            seed: 1
            workloads:
              sets: {loads: "50x1", value-bytes: "16", writers: "3", records: "5", rounds: "2", keys: "1000", limit-everysec: "1000", limit-always: "0.000001", limit-rival: "0.000001"}
            sizes:
              seconds: {seconds: 1, repetitions: 3, warmup-seconds: 1}
            configurations:
              Varve: {server: varve, group: Varve, settings: {dir: "{folder}"}}
              Varve-everysec: {server: varve, group: Varve, settings: {appendonly: "yes", appendfsync: everysec, dir: "{folder}"}}
              Varve-always: {server: varve, group: Varve, settings: {appendonly: "yes", appendfsync: always, dir: "{folder}"}}
              Redis: {server: redis, group: Redis, settings: {dir: "{folder}"}}
              Redis-always: {server: redis, group: Redis, settings: {appendonly: "yes", appendfsync: always, dir: "{folder}"}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [sets], sizes: [seconds], ttls: [[]], threads: [1], configurations: [Varve, Varve-everysec, Varve-always, Redis, Redis-always]}
            figures:
              - {id: Table 1, title: Few records, shows: write-ahead-log, published: [{group: baseline, metric: throughput, mean: 298.7}, {group: sync, metric: throughput, mean: 56.2}]}
              - {id: Our loads, title: Many, shows: write-ahead-log-loads}
            """;

    @TempDir
    private Path directory;

    private Plan plan(Filters filters) throws IOException {
        Files.writeString(directory.resolve("short.yaml"), EXPERIMENT);
        return Plan.of(new ExperimentFiles(directory).read("short"), "quick", filters);
    }

    /** On a bare machine the gate installs it, and says that it is not to be left out. */
    @BeforeEach
    void redisBenchmarkIsFound() throws IOException {
        try {
            Runner.require(plan(Filters.NONE));
        } catch (InvalidExperimentException e) {
            assertThat(System.getenv("VARVE_REQUIRE_REDIS_TOOLS")).as("%s", e).isNotEqualTo("1");
            Assumptions.abort(e.toString());
        }
    }

    @Test
    void allServersAreComparedInOneRun() throws IOException {
        Plan plan = plan(Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));

        assertThat(new Matrix(plan, files, Experiments.home()).run()).isZero();

        RunSpec run = plan.runs().getFirst();
        assertThat(plan.runs()).containsExactly(run);
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.load().get("started-by Redis-always")).contains("redis-server");
        assertThat(record.cells()).extracting(cell -> cell.title() + " " + cell.contestant()).containsExactly(
                "50 clients, pipeline 1 Varve", "50 clients, pipeline 1 Varve-everysec",
                "50 clients, pipeline 1 Varve-always", "50 clients, pipeline 1 Redis",
                "50 clients, pipeline 1 Redis-always");
        for (Cell cell : record.cells()) {
            boolean logs = cell.contestant().contains("-");
            assertThat(cell.ops().median()).as(cell.title()).isPositive();
            assertThat(cell.ratio() != null).as(cell.title()).isEqualTo(logs);
            assertThat(DurableStoreTables.share(record, cell) != null).as(cell.title()).isEqualTo(logs);
        }
        assertThat(record.checks()).extracting(RunRecord.Check::what).containsExactly(
                "50 clients, pipeline 1: CPU per SET with everysec, share of that without a log",
                "50 clients, pipeline 1: throughput with always, share of that without a log",
                "50 clients, pipeline 1: throughput with always, share of Redis-always's");
        assertThat(record.checks()).allMatch(check -> check.notAsserted() == null && check.held());
        assertThat(files.rows(run, RunFiles.THROUGHPUT_CSV)).hasSize(3 * 5);
        assertThat(files.rows(run, RunFiles.RECORDS_CSV)).hasSize(2 * 5);
        try (Stream<Path> left = Files.walk(files.of(run))) {
            assertThat(left.map(Path::toString)).as("the logs are removed").noneMatch(path -> path.contains(".aof"));
        }
        for (String name : List.of("table-1.png", "log-throughput.png", "log-cpu-share.png", "report.html")) {
            assertThat(files.directory().resolve(name)).isNotEmptyFile();
        }
        hasBothTables(PaperTables.of(plan, Summary.of(plan, List.of(record))), record);
    }

    private static void hasBothTables(List<PaperTable> tables, RunRecord record) {
        assertThat(tables).extracting(PaperTable::id).containsExactly("Table 1", "Our loads");
        PaperTable few = tables.getFirst();
        assertThat(few.head()).hasSize(4 + 2 * 3);
        assertThat(few.rows()).hasSize(3).allSatisfy(row -> assertThat(row).hasSameSizeAs(few.head()));
        assertThat(few.rows().get(1)).startsWith("sync (always)", "56.2", "-81.2 %", "not printed");
        assertThat(few.rows().get(1).get(4)).as("Varve's records a second").matches("[0-9,]+ \\(.*\\)");
        assertThat(few.rows().getLast().getLast()).as("no Redis with everysec").isEqualTo("-");
        assertThat(tables.getLast().rows()).hasSameSizeAs(record.cells());
        double force = record.number("disk_force_us");
        assertThat(new MedianRange(1, record.number("disk_force_us least"), force,
                record.number("disk_force_us most"))).matches(range -> range.min() <= force && force <= range.max());
    }

    @Test
    void runningServer_isRefused() throws IOException {
        Plan plan = plan(
                new Filters(List.of(), List.of(), List.of(), List.of(), List.of(), List.of("127.0.0.1:6379")));
        assertThatThrownBy(() -> Runner.require(plan)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("127.0.0.1:6379");
    }
}

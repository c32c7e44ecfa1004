package io.varve.experiments.run.replication;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Report;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.run.Runner;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.Progress;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Targets;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Measures replication with a few keys: Varve in processes with the class path of this test, a real redis-server, and a
 * Varve that follows it. Confined to the test's thread.
 */
final class ReplicationIT {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: What does a replica cost?
            kind: replication
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 16
            seed: 1
            workloads:
              few: {connections: "5", pipeline: "4", write-keys: "100", value-bytes: "16", sync-rate: "200", reads: "80", catch-up-rate: "500", stopped-seconds: "1", migrations: "Redis>Varve"}
            sizes:
              tiny: {records: 1000, seconds: 1, repetitions: 1, warmup-seconds: 0}
            configurations:
              Varve: {server: varve, group: Varve, settings: {save: "", dir: "{folder}"}}
              Redis: {server: redis, group: Redis, settings: {dir: "{folder}", repl-diskless-sync-delay: "0", enable-debug-command: local}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: false, workloads: [few], sizes: [tiny], ttls: [[]], threads: [1], configurations: [Varve, Redis]}
              inside: {about: "SCALED: seconds", embedded: true, workloads: [few], sizes: [tiny], ttls: [[]], threads: [1], configurations: [Varve]}
            figures:
              - {id: Writes, title: With a replica, shows: replicated-writes}
              - {id: Synchronizations, title: Under load, shows: synchronizations}
              - {id: Catching up, title: After a cut, shows: catch-ups}
            """;

    @TempDir
    private Path directory;

    private Plan plan(String scale, Filters filters) throws IOException {
        Files.writeString(directory.resolve("short.yaml"), EXPERIMENT);
        return Plan.of(new ExperimentFiles(directory).read("short"), scale, filters);
    }

    /** On a bare machine the gate installs it, and says that it is not to be left out. */
    @BeforeEach
    void redisBenchmarkIsFound() throws IOException {
        try {
            Runner.require(plan("quick", Filters.NONE));
        } catch (InvalidExperimentException e) {
            assertThat(System.getenv("VARVE_REQUIRE_REDIS_TOOLS")).as("%s", e).isNotEqualTo("1");
            Assumptions.abort(e.toString());
        }
    }

    /**
     * Starts the server with the class path of this test, as the launcher does with that of the build. The servers live
     * for some seconds, so the optimizing compiler would only take the time of the test.
     */
    private Path home() throws IOException {
        Path home = Files.createDirectories(directory.resolve("home"));
        Path launcher = home.resolve("varve");
        Files.writeString(launcher, "#!/bin/sh\nshift\nexec '" + Path.of(System.getProperty("java.home"), "bin", "java")
                + "' --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '"
                + System.getProperty("java.class.path") + "' io.varve.server.Main \"$@\"\n");
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
        return home;
    }

    @Test
    void eachPairIsMeasuredInOneRun() throws IOException {
        Plan plan = plan("quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));
        RunSpec run = plan.runs().getFirst();
        assertThat(plan.runs()).containsExactly(run);

        RunRecord record;
        PrintStream out = System.out;
        try (Progress progress = new Progress(out, 1, 0, 60)) {
            record = new Runner(plan, new Targets(home()), files, progress, new Cancellation(), Double.NaN).run(run,
                    Pinning.NONE);
        }

        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.load().get("started-by Redis")).contains("redis-server");
        assertThat(ReplicationText.pairs(record, ReplicationText.ALONE_CPU)).containsExactly("Varve", "Redis");
        List<String> pairs = List.of("Varve", "Redis", "Varve-follows-Redis");
        for (String metric : List.of(ReplicationText.SYNC_SECONDS, ReplicationText.SYNC_P999, ReplicationText.PEAK,
                ReplicationText.SYNC_MAX, ReplicationText.CATCH_UP_SECONDS, ReplicationText.BEHIND)) {
            assertThat(ReplicationText.pairs(record, metric)).as(metric).isEqualTo(pairs);
            assertThat(pairs).as(metric).allSatisfy(pair -> assertThat(
                    record.number(ReplicationText.name(metric, pair))).as(pair).isPositive());
        }
        // Another process of the gate may have taken the core of the writers for a moment.
        Map<Boolean, List<Check>> checks = record.checks().stream()
                .collect(Collectors.partitioningBy(check -> check.what().contains("writes a second")));
        assertThat(checks.get(true)).hasSize(2 * pairs.size());
        assertThat(checks.get(false)).hasSize(8 * pairs.size() + 2).allMatch(Check::held);
        assertThat(pairs).allSatisfy(
                pair -> assertThat(record.load()).containsEntry("compared " + pair, DataComparison.DIGEST));
        assertThat(files.rows(run, RunFiles.REPLICATION_WRITES_CSV)).hasSize(2);
        assertThat(files.rows(run, RunFiles.REPLICATION_SYNC_CSV)).hasSize(3);
        assertThat(files.rows(run, RunFiles.REPLICATION_CATCH_UP_CSV)).hasSize(3);
        try (Stream<Path> left = Files.walk(files.of(run))) {
            assertThat(left.map(Path::toString)).as("the data is removed").noneMatch(path -> path.endsWith(".rdb"));
        }
        Summary summary = Summary.of(plan, List.of(record));
        assertThat(PaperTables.of(plan, summary)).hasSize(3);
        assertThat(new Report(plan, files, summary).write()).isNotEmptyFile();
        assertThat(files.directory().resolve("sync-p999.png")).isNotEmptyFile();
    }

    @Test
    void serversInsideThisProcess_areRefused() throws IOException {
        Plan plan = plan("inside", Filters.NONE);
        assertThatThrownBy(() -> Runner.require(plan)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("'inside'");
    }

    @Test
    void runningServer_isRefused() throws IOException {
        Plan plan = plan("quick",
                new Filters(List.of(), List.of(), List.of(), List.of(), List.of(), List.of("127.0.0.1:6379")));
        assertThatThrownBy(() -> Runner.require(plan)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("127.0.0.1:6379");
    }
}

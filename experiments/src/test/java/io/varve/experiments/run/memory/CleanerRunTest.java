package io.varve.experiments.run.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.CleanerText;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.NoServer;
import io.varve.experiments.server.Pinning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The cleaner experiment on a tiny store. Confined to the test's thread. */
final class CleanerRunTest {
    private static final String DEFINITION = """
            name: tiny
            title: A tiny one
            question: Does the cleaner's work come out?
            kind: cleaner
            default-scale: quick
            maxmemory: 2mb
            record-bytes: 100
            seed: 1
            workloads:
              uniform: {WORKLOAD, ttl-share: "0", keys-per-live: "20", hot-keys: "1", hot-writes: "1"}
              hot-cold-mixed: {WORKLOAD, ttl-share: "0.5", keys-per-live: "20", hot-keys: "0.2", hot-writes: "0.8"}
              once-ttl: {WORKLOAD, ttl-share: "1", keys-per-live: "0", hot-keys: "1", hot-writes: "1", limit-without-moving: "0.5"}
            sizes:
              one: {repetitions: 1}
            configurations:
              modified: {server: varve, group: modified, settings: {cleaner-policy: modified, shards: "1", segment-size: 16kb}}
              modified-1-head: {server: varve, group: modified, settings: {cleaner-policy: modified, segment-heads: "1", shards: "1", segment-size: 16kb}}
            baselines: []
            scales:
              quick: {about: "SCALED", embedded: true, workloads: [uniform, hot-cold-mixed, once-ttl], sizes: [one], ttls: [[]], threads: [1], configurations: [modified, modified-1-head]}
            """
            .replace("WORKLOAD", "values: \"50-150\", live-share: \"0.5\", ttls: \"15 30 45 60\", "
                    + "warm-turnovers: \"3\", turnovers: \"3\", maintain-every-ms: \"1000\", maintain-rounds: \"1\"");

    @TempDir
    private Path directory;

    private Map<String, RunContext> run(String... workloads) throws IOException {
        Files.writeString(directory.resolve("tiny.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick",
                new Filters(List.of(workloads), List.of(), List.of(), List.of(), List.of(), List.of()));
        Map<String, RunContext> contexts = new HashMap<>();
        for (RunSpec run : plan.runs()) {
            RunContext context = new RunContext(plan, run, Files.createDirectories(directory.resolve(run.id())),
                    new NoServer(), Pinning.NONE, new Cancellation());
            new CleanerRun(context).measure();
            assertThat(context.faults).isEmpty();
            contexts.put(run.workload() + " " + run.configuration(), context);
        }
        return contexts;
    }

    private static RunContext got(Map<String, RunContext> contexts, String name) {
        return Objects.requireNonNull(contexts.get(name), name);
    }

    private static double number(RunContext context, String name) {
        return context.metrics.asMap().getOrDefault(name, Double.NaN);
    }

    @Test
    void theSameSeedGivesTheSameCost() throws IOException {
        Map<String, RunContext> once = run("uniform", "hot-cold-mixed");
        Map<String, RunContext> again = run("uniform", "hot-cold-mixed");
        for (String name : List.of("uniform modified", "hot-cold-mixed modified-1-head")) {
            RunContext context = got(once, name);
            assertThat(number(context, CleanerText.COST)).isPositive()
                    .isEqualTo(number(got(again, name), CleanerText.COST));
            assertThat(number(context, CleanerText.MEAN_UTILIZATION)).isBetween(0.05, 0.95);
            assertThat(number(context, CleanerText.MOVED)).isPositive();
            assertThat(Files.readAllLines(context.directory.resolve(RunFiles.MEMORY_CSV))).hasSizeGreaterThan(60);
        }
    }

    @Test
    void onceWrittenItemsDieBySegmentWithSeparatedHeads() throws IOException {
        Map<String, RunContext> contexts = run("once-ttl");
        RunContext byLifetime = got(contexts, "once-ttl modified");
        RunContext oneHead = got(contexts, "once-ttl modified-1-head");
        assertThat(number(byLifetime, CleanerText.WITHOUT_MOVING)).isGreaterThan(0.9);
        assertThat(number(oneHead, CleanerText.WITHOUT_MOVING)).isLessThan(0.5);
        assertThat(byLifetime.checks).allMatch(Check::held).anyMatch(Check::least);
        assertThat(oneHead.checks).as("the limit is the default's").noneMatch(Check::least);
    }
}

package io.varve.experiments.run.flash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.NoServer;
import io.varve.experiments.server.Pinning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The observation on a few keys in real files. Confined to the test's thread. */
final class ObservedRunTest {
    private static final String DEFINITION = """
            name: tiny
            title: A tiny one
            question: Does what is observed come out?
            kind: observed
            default-scale: quick
            maxmemory: 2mb
            record-bytes: 100
            seed: 1
            workloads:
              zipfian: {distribution: zipfian, requests-per-key: "5", warmup-per-key: "5", updates: "0.05", cache-percents: "10", policies: "tbf random none", steps: "1000"}
              uncached: {distribution: uniform, requests-per-key: "0.5", warmup-per-key: "1", updates: "0.05", cache-percents: "10", policies: "tbf none", steps: "1000", page-cache: "no", disk-tree: 1mb}
            sizes:
              one: {records: 3000, repetitions: 1}
            configurations:
              policies: {server: varve, group: policies, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED", embedded: true, workloads: [zipfian, uncached], sizes: [one], ttls: [[]], threads: [2], configurations: [policies]}
            """;

    @TempDir
    private Path directory;

    private RunContext run(String workload) throws IOException {
        RunContext context = context(workload, DEFINITION);
        new ObservedRun(context).measure();
        assertThat(context.faults).isEmpty();
        return context;
    }

    private RunContext context(String workload, String definition) throws IOException {
        Files.writeString(directory.resolve("tiny.yaml"), definition);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick", Filters.NONE);
        RunSpec run = plan.runs().stream().filter(each -> each.workload().equals(workload)).findFirst().orElseThrow();
        return new RunContext(plan, run, Files.createDirectories(directory.resolve("run")), new NoServer(),
                Pinning.NONE, new Cancellation());
    }

    /** The bytes are not asserted: a file system in memory has no device. */
    @Test
    void withoutPageCache_eachRequestIsServed() throws IOException {
        RunContext context = run("uncached");
        assertThat(number(context, PoliciesText.HITS, "tbf")).isBetween(0.05, 0.15);
        assertThat(number(context, PoliciesText.OPS, "tbf")).isPositive();
        assertThat(context.load).containsEntry("page-cache", "no");
        assertThat(context.checks).extracting(check -> check.what())
                .contains("bytes read from the device per request without a cache");
    }

    /** With a clock that ticks at each call, the time of a request is that between two calls for the advice. */
    @Test
    void operationsPerSecond_excludeTheTimeOfAdvice() throws IOException {
        RunContext context = context("uncached", DEFINITION.replace("threads: [2]", "threads: [1]"));
        AtomicLong clock = new AtomicLong();
        new ObservedRun(context, () -> clock.addAndGet(1_000_000)).measure();
        assertThat(number(context, PoliciesText.OPS, "none")).isBetween(990.0, 1000.0);
        assertThat(number(context, PoliciesText.ADVICE, "none")).isEqualTo(1.5);
    }

    @Test
    void measurementIsNearSimulation() throws IOException {
        RunContext context = run("zipfian");
        for (String policy : List.of("tbf", "random")) {
            double observed = number(context, PoliciesText.HITS, policy);
            assertThat(observed).isBetween(0.15, 0.5);
            assertThat(number(context, PoliciesText.SIMULATED, policy)).isBetween(observed - 0.05, observed + 0.05);
            assertThat(number(context, PoliciesText.TRAVERSED, policy)).isBetween(1.0, 2.0);
        }
        assertThat(number(context, PoliciesText.HITS, "none")).isZero();
        assertThat(number(context, PoliciesText.OPS, "none")).isPositive();
        assertThat(number(context, PoliciesText.ADVICE, "none")).as("nothing is dropped").isNaN();
        assertThat(context.checks).hasSize(2);
        try (var left = Files.list(context.directory)) {
            assertThat(left).as("databases that were left behind").isEmpty();
        }
    }

    private static double number(RunContext context, String metric, String policy) {
        return context.metrics.asMap().getOrDefault(PoliciesText.name(metric, policy, "10%"), Double.NaN);
    }
}

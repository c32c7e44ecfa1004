package io.varve.experiments.run.flash;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;

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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The simulation on a few keys. Confined to the test's thread. */
final class SimulatedRunTest {
    private static final String DEFINITION = """
            name: tiny
            title: A tiny one
            question: Do the policies' figures come out?
            kind: simulated
            default-scale: quick
            maxmemory: 2mb
            record-bytes: 100
            seed: 1
            workloads:
              zipfian: {distribution: zipfian, COMMON}
              uniform: {distribution: uniform, COMMON}
            sizes:
              one: {records: 20000, repetitions: 1}
            configurations:
              policies: {server: varve, group: policies, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED", embedded: true, workloads: [zipfian, uniform], sizes: [one], ttls: [[]], threads: [1], configurations: [policies]}
            """
            .replace("COMMON", "requests-per-key: \"20\", warmup-per-key: \"10\", updates: \"0.05\", "
                    + "cache-percents: \"2 10\", policies: \"tbf bfd clock lru random\", steps: \"1000\", "
                    + "published-keys: \"1000000\"");

    @TempDir
    private Path directory;

    private Map<String, RunContext> run() throws IOException {
        Files.writeString(directory.resolve("tiny.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick", Filters.NONE);
        Map<String, RunContext> contexts = new HashMap<>();
        for (RunSpec run : plan.runs()) {
            RunContext context = new RunContext(plan, run, Files.createDirectories(directory.resolve(run.id())),
                    new NoServer(), Pinning.NONE, new Cancellation());
            new SimulatedRun(context).measure();
            assertThat(context.faults).isEmpty();
            contexts.put(run.workload(), context);
        }
        return contexts;
    }

    private static double number(RunContext context, String metric, String policy, String size) {
        return context.metrics.asMap().getOrDefault(PoliciesText.name(metric, policy, size), Double.NaN);
    }

    @Test
    void everyPolicyHasItsFigures() throws IOException {
        Map<String, RunContext> contexts = run();
        RunContext zipfian = Objects.requireNonNull(contexts.get("zipfian"));
        RunContext uniform = Objects.requireNonNull(contexts.get("uniform"));
        for (String policy : List.of("tbf", "bfd", "clock", "lru", "random")) {
            assertThat(number(uniform, PoliciesText.HITS, policy, "10%")).isBetween(0.09, 0.11);
            assertThat(number(zipfian, PoliciesText.HITS, policy, "10%"))
                    .isGreaterThan(number(zipfian, PoliciesText.HITS, policy, "2%")).isBetween(0.2, 0.6);
            assertThat(number(zipfian, PoliciesText.TRAVERSED, policy, "10%")).isBetween(1.0, 2.0);
        }
        assertThat(number(zipfian, PoliciesText.MISSES_OVER_LRU, "lru", "2%")).isEqualTo(1);
        assertThat(number(zipfian, PoliciesText.MISSES_OVER_LRU, "random", "2%")).isGreaterThan(1);
        assertThat(number(zipfian, PoliciesText.BYTES, "tbf", "10%")).isBetween(0.9, 1.2);
        assertThat(number(zipfian, PoliciesText.FALSE_NEGATIVES, "tbf", "10%")).isBetween(0.0, 0.2);
        assertThat(number(zipfian, PoliciesText.FALSE_NEGATIVES, "bfd", "10%")).isBetween(0.0, 0.3);
        assertThat(number(zipfian, PoliciesText.PUBLISHED_SIZE_THEORY, "lru", "10%"))
                .isGreaterThan(number(zipfian, PoliciesText.THEORY, "lru", "10%"));
        Map<String, Double> measured = zipfian.metrics.asMap();
        assertThat(measured.get(PoliciesText.name(PoliciesText.VISITED_WITHIN, "tbf", "10%") + " 1000"))
                .isGreaterThan(measured.get(PoliciesText.name(PoliciesText.VISITED_WITHIN, "tbf", "10%") + " 1"));
    }

    /** MSR's lines: time, host, disk, type, offset and size in bytes, response time. */
    @Test
    void aTraceIsSimulatedWithCachesOfItsKeys() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 3000; i++) {
            lines.append("128166372003061629,prxy,1,").append(i % 3 == 0 ? "Write" : "Read").append(',')
                    .append(i % 100 * 8192).append(",8192,411\n");
        }
        Path trace = directory.resolve("prxy.csv.gz");
        try (Writer out = new OutputStreamWriter(new GZIPOutputStream(Files.newOutputStream(trace)),
                StandardCharsets.UTF_8)) {
            out.write(lines.toString());
        }
        Files.writeString(directory.resolve("tiny.yaml"), DEFINITION.replace("distribution: uniform",
                "trace: \"" + trace + "\", format: msr"));
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick", Filters.NONE);
        RunContext context = new RunContext(plan, plan.runs().getLast(), directory, new NoServer(), Pinning.NONE,
                new Cancellation());
        new SimulatedRun(context).measure();
        assertThat(context.faults).isEmpty();
        assertThat(context.load).containsEntry("keys", "200").containsEntry("requests", "6000");
        assertThat(number(context, PoliciesText.CAPACITY, "lru", "10%")).isEqualTo(20);
        assertThat(number(context, PoliciesText.HITS, "lru", "10%")).as("a loop over more keys than the cache holds")
                .isZero();
    }

    @Test
    void anAbsentTrace_isAnError() throws IOException {
        Files.writeString(directory.resolve("tiny.yaml"), DEFINITION.replace("distribution: uniform",
                "trace: \"" + directory.resolve("absent") + "\""));
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick", Filters.NONE);
        RunContext context = new RunContext(plan, plan.runs().getLast(), directory, new NoServer(), Pinning.NONE,
                new Cancellation());
        assertThatThrownBy(() -> new SimulatedRun(context).measure()).isInstanceOf(IOException.class)
                .hasMessageContaining("absent");
    }

    @Test
    void checksCoverTheClaims() throws IOException {
        RunContext zipfian = Objects.requireNonNull(run().get("zipfian"));
        assertThat(zipfian.checks).extracting(check -> check.what().replaceAll(",.*", "")).contains(
                "lru", "random", "tbf above clock", "the second worst of the paper's five policies above random",
                "keys that tbf visits per victim", "bytes of memory per item with tbf",
                "marks that tbf lost before it had visited as many keys as the cache holds");
    }

    @Test
    void cancelledRunHasNoResults() throws IOException {
        Files.writeString(directory.resolve("tiny.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick", Filters.NONE);
        Cancellation cancellation = new Cancellation();
        cancellation.cancel();
        RunContext context = new RunContext(plan, plan.runs().getFirst(), directory, new NoServer(), Pinning.NONE,
                cancellation);
        new SimulatedRun(context).measure();
        assertThat(context.checks).isEmpty();
    }
}

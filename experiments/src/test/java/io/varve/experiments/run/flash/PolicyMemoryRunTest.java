package io.varve.experiments.run.flash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.NoServer;
import io.varve.experiments.server.Pinning;
import io.varve.flash.policy.Policies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the memory of filled policies. Confined to the test's thread. */
final class PolicyMemoryRunTest {
    private static final String DEFINITION = """
            name: tiny
            title: A tiny one
            question: How much memory do policies take?
            kind: policy_memory
            default-scale: quick
            maxmemory: 2mb
            record-bytes: 100
            seed: 1
            workloads:
              memory: {policies: "tbf lru none"}
            sizes:
              one: {records: 100000, repetitions: 1}
            configurations:
              policies: {server: varve, group: policies, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED", embedded: true, workloads: [memory], sizes: [one], ttls: [[]], threads: [1], configurations: [policies]}
            """;

    @TempDir
    private Path directory;

    @Test
    void aJvmForEachPolicyReportsItsMemory() throws IOException {
        Files.writeString(directory.resolve("tiny.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("tiny"), "quick", Filters.NONE);
        RunContext context = new RunContext(plan, plan.runs().getFirst(), directory, new NoServer(), Pinning.NONE,
                new Cancellation());
        new PolicyMemoryRun(context).measure();
        assertThat(context.faults).isEmpty();
        Map<String, Double> measured = context.metrics.asMap();
        assertThat(number(measured, PoliciesText.BYTES, "tbf")).isBetween(0.99, 1.05);
        assertThat(number(measured, PoliciesText.BYTES, "lru")).isBetween(24.0, 25.0);
        assertThat(number(measured, PoliciesText.BYTES, "none")).isZero();
        for (String policy : new String[] {"tbf", "lru", "none"}) {
            double heap = number(measured, PoliciesText.HEAP, policy);
            assertThat(heap).isGreaterThan(100_000);
            assertThat(number(measured, PoliciesText.RESIDENT, policy)).isGreaterThan(heap);
        }
        assertThat(context.checks).singleElement().satisfies(check -> assertThat(check.held()).isTrue());
    }

    private static double number(Map<String, Double> measured, String metric, String policy) {
        return measured.getOrDefault(PoliciesText.name(metric, policy, PoliciesText.FILLED), Double.NaN);
    }

    @Test
    void messagesOfTheJvm_mayPrecedeTheResult() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(FilledPolicy.command(Policies.TBF, 1000)).redirectErrorStream(true);
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Dvarve.test=1");
        Process process = builder.start();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            in.mark(100);
            assertThat(in.readLine()).isEqualTo("Picked up JAVA_TOOL_OPTIONS: -Dvarve.test=1");
            in.reset();
            assertThat(FilledPolicy.Memory.read(in).policyBytes()).isPositive();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void linesBeforeAndAfterTheResult_areIgnored() throws IOException {
        assertThat(read("""
                Picked up JAVA_TOOL_OPTIONS: -Xint
                result of a warning
                result 1 2 3
                result 4 5 6
                """)).isEqualTo(new FilledPolicy.Memory(1, 2, 3));
    }

    @Test
    void outputWithoutResult_isAFailureThatShowsTheOutput() {
        assertThatThrownBy(() -> read("""
                Picked up JAVA_TOOL_OPTIONS: -Xint
                result 1 2
                Error: no main class
                """)).isInstanceOf(IOException.class).hasMessageEndingWith("""
                no result, but:
                Picked up JAVA_TOOL_OPTIONS: -Xint
                result 1 2
                Error: no main class""");
        assertThatThrownBy(() -> read("")).isInstanceOf(IOException.class).hasMessageEndingWith("(nothing)");
    }

    private static FilledPolicy.Memory read(String output) throws IOException {
        return FilledPolicy.Memory.read(new BufferedReader(new StringReader(output)));
    }
}

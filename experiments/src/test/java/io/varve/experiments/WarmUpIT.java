package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.WarmUpText;
import io.varve.experiments.run.Runner;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Measures servers after their starts, for seconds, with Varve inside this process and a real redis-server. Confined to
 * the test's thread.
 */
final class WarmUpIT {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: How fast is a fresh server?
            kind: warm_up
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 16
            seed: 1
            workloads:
              strings: {connections: "5", pipeline: "16", test: SET, value-bytes: "16", keys: "1000", paced-rate: "500", paced-seconds: "2", mix: "GET 50 OVERWRITE 50", values: "16-16", ttls: "60-60", limit-first-pass: "1000"}
            sizes:
              seconds: {operations: 4000, seconds: 2, repetitions: 1, warmup-seconds: 1}
            configurations:
              Varve: {server: varve, group: Varve, settings: {}}
              Redis: {server: redis, group: Redis, settings: {}}
            baselines: [Redis]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [strings], sizes: [seconds], ttls: [[]], threads: [1], configurations: [Varve, Redis]}
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
    void eachMeasurementHasAFreshServer() throws IOException {
        Plan plan = plan(Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));

        // One start gives no verdict, whatever the limit.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isZero();

        RunSpec run = plan.runs().getFirst();
        assertThat(plan.runs()).containsExactly(run);
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.serverVersion()).startsWith("Varve ");
        assertThat(record.load().get("started-by Redis")).contains("redis-server");
        List<String> tests = WarmUpText.tests(record.measured(), "Varve");
        assertThat(tests).contains("PING_INLINE", "SET", "ZADD", "LRANGE_600", "MSET").hasSizeGreaterThan(15);
        assertThat(WarmUpText.tests(record.measured(), "Redis")).isEqualTo(tests);
        for (String server : WarmUpText.servers(record, List.of("Redis"))) {
            assertThat(WarmUpText.bySecond(record, server)).hasSize(2).allSatisfy(
                    ops -> assertThat(ops).isPositive());
            assertThat(record.number("requests " + server)).isEqualTo(1000);
            assertThat(record.measured()).containsKeys("latency_p99_us " + server, "seconds_until_warm " + server);
        }
        assertThat(record.checks()).hasSameSizeAs(tests).noneMatch(Check::hasFailed)
                .allMatch(check -> check.limit() == 1000 && check.notAsserted() != null);
        assertThat(files.rows(run, RunFiles.FIRST_PASS_CSV)).hasSize(2 * tests.size());
        assertThat(files.rows(run, RunFiles.WARM_UP_CSV)).hasSize(2 * 2);
        for (String name : List.of("warm-up_strings.png", "first-pass_strings.png", "report.html")) {
            assertThat(files.directory().resolve(name)).isNotEmptyFile();
        }
    }

    @Test
    void runningServer_isRefused() throws IOException {
        Plan plan = plan(
                new Filters(List.of(), List.of(), List.of(), List.of(), List.of(), List.of("127.0.0.1:6379")));
        assertThatThrownBy(() -> Runner.require(plan)).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("127.0.0.1:6379");
    }
}

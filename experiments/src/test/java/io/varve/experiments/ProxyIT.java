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
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.ProxyText;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures members inside this process, directly and through a proxy in a process of its own, for seconds. Confined to
 * the test's thread.
 */
final class ProxyIT {
    private static final String EXPERIMENT = """
            name: short
            title: A short one
            question: What does the proxy cost?
            kind: proxy
            default-scale: quick
            maxmemory: 32mb
            record-bytes: 16
            seed: 1
            workloads:
              mixed: {members: "2", connections: "3", reads: "80", value-bytes: "16", keys: "500", distributions: "zipf", pipelines: "1 8", windows: "0"}
            sizes:
              seconds: {seconds: 1, repetitions: 2, warmup-seconds: 0}
            configurations:
              member: {server: varve, group: member, settings: {cluster-enabled: "yes", cluster-require-full-coverage: "no", dir: "{folder}"}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [mixed], sizes: [seconds], ttls: [[]], threads: [1], configurations: [member]}
            """;

    @TempDir
    private Path directory;

    /** Starts the proxy with the class path of this test, as the launcher does with that of the build. */
    private Path home() throws IOException {
        Path home = Files.createDirectories(directory.resolve("home"));
        Path launcher = home.resolve("varve");
        Files.writeString(launcher, "#!/bin/sh\nshift\nexec '" + Path.of(System.getProperty("java.home"), "bin", "java")
                + "' --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -Xmx128m -cp '"
                + System.getProperty("java.class.path") + "' io.varve.proxy.Main \"$@\"\n");
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
        return home;
    }

    @Test
    void clientsUseTheMembersDirectlyAndThroughTheProxy() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), EXPERIMENT);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));

        assertThat(new Matrix(plan, files, home()).run()).isZero();

        RunSpec run = plan.runs().getFirst();
        assertThat(plan.runs()).containsExactly(run);
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.checks()).singleElement()
                .matches(check -> check.what().equals("reads that missed") && check.held());
        for (String place : List.of("zipf-1 direct", "zipf-1 proxy-0ms", "zipf-8 direct", "zipf-8 proxy-0ms")) {
            MedianRange ops = record.range(ProxyText.OPS + " " + place);
            MedianRange median = record.range(ProxyText.P50 + " " + place);
            MedianRange tail = record.range(ProxyText.P99 + " " + place);
            assertThat(ops).as(place).isNotNull();
            assertThat(median).as(place).isNotNull();
            assertThat(tail).as(place).isNotNull();
            assertThat(ops.min()).as(place).isPositive();
            assertThat(tail.min()).as(place).isGreaterThanOrEqualTo(median.min());
        }
        assertThat(files.rows(run, RunFiles.PROXY_CSV)).hasSize(2 * 2 * 2);
        assertThat(Summary.of(plan, List.of(record)).table()).contains("proxy-0ms", "zipf-8", "requests/s");
    }
}

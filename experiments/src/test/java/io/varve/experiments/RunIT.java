package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.InfoTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.Sample;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A short experiment from end to end against Varve inside this process and a real redis-server, in seconds. Confined to
 * the test's thread.
 */
final class RunIT {
    private static final String DEFINITION = """
            name: short
            title: A short one
            question: Does a run write everything down?
            kind: ycsb
            default-scale: quick
            maxmemory: 256mb
            record-bytes: 100
            seed: 1
            workloads:
              a: {readproportion: "0.5", updateproportion: "0.5", requestdistribution: zipfian}
            sizes:
              tiny: {records: 200, loaded: 150, seconds: 3, rate: 200}
            configurations:
              wheel: {server: varve, group: wheel, settings: {expire-algorithm: wheel}}
              Redis: {server: redis, group: Redis, settings: {}}
            baselines: [Redis]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, maxmemory: 64mb, workloads: [a], sizes: [tiny], ttls: [[1, 2]], threads: [2], configurations: [wheel, Redis]}
            """;

    private static final String PER_KEY = """
            name: per-key
            title: A short one
            question: Is a key's memory measured?
            kind: memory_per_key
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 16
            seed: 1
            workloads:
              key-8-ttl: {key-bytes: "8", value-bytes-min: "8", value-bytes-max: "16", keys: "20000", ttl: "true", limit-bytes-per-key: "62"}
            sizes:
              tiny: {divisor: 10}
            configurations:
              wheel: {server: varve, group: wheel, settings: {}}
            baselines: []
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [key-8-ttl], sizes: [tiny], ttls: [[]], threads: [1], configurations: [wheel]}
            """;

    private static final String FRAGMENTATION = """
            name: fragments
            title: A short one
            question: Is what lives measured?
            kind: fragmentation
            default-scale: quick
            maxmemory: 8mb
            record-bytes: 100
            seed: 1
            workloads:
              W3: {before: "100", delete: "0.5", after: "130", limit-live-share: "0.85", limit-copied: "2", limit-throughput: "0.5"}
            sizes:
              once: {repetitions: 1}
            configurations:
              wheel: {server: varve, group: wheel, settings: {maxmemory-policy: allkeys-random}}
              Redis: {server: redis, group: Redis, settings: {maxmemory-policy: allkeys-random}}
            baselines: [Redis]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [W3], sizes: [once], ttls: [[]], threads: [1], configurations: [wheel, Redis]}
            """;

    @TempDir
    private Path directory;

    @Test
    void runsWriteEverythingDownAndResumeDoesNotDoThemAgain() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));
        Matrix matrix = new Matrix(plan, files, Experiments.home(),
                new Matrix.Options(0, List.of("expired_keys"), List.of()));

        assertThat(matrix.run()).isZero();

        assertThat(plan.runs()).hasSize(2);
        for (RunSpec run : plan.runs()) {
            isWhole(files, run);
        }
        assertThat(files.read(plan.runs().getFirst()).orElseThrow().serverVersion()).startsWith("Varve ");
        assertThat(files.read(plan.runs().getLast()).orElseThrow().serverVersion()).startsWith("Redis ");
        for (String name : List.of("summary.csv", "summary.json", "report.html",
                "memory_" + plan.runs().getFirst().cell() + ".png",
                "info_expired_keys_" + plan.runs().getFirst().cell() + ".png")) {
            assertThat(files.directory().resolve(name)).isNotEmptyFile();
        }

        List<String> startedAt = startedAt(plan, files);
        assertThat(matrix.run()).isZero();
        assertThat(startedAt(plan, files)).isEqualTo(startedAt);
    }

    @Test
    void residentBytesAreMeasuredPerKeyAndDrawnBesideTheirLimit() throws IOException {
        Files.writeString(directory.resolve("per-key.yaml"), PER_KEY);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("per-key"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("per-key"));

        // So few keys are lost in the noise of a JVM: this test checks that it is measured, not whether the limit is
        // held.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);

        RunRecord record = files.read(plan.runs().getFirst()).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.number("keys")).isEqualTo(2000);
        assertThat(record.measured()).containsKey("resident_bytes_per_key");
        assertThat(record.checks()).extracting(RunRecord.Check::limit).contains(62.0);
        assertThat(files.directory().resolve("resident-bytes-per-key.png")).isNotEmptyFile();
        assertThat(files.directory().resolve("summary.csv")).content().contains("resident_bytes_per_key");
    }

    @Test
    void liveItemsAreCountedKeyByKey() throws IOException {
        Files.writeString(directory.resolve("fragments.yaml"), FRAGMENTATION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("fragments"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("fragments"));

        // So little is lost in the noise of a JVM: this test checks that it is measured, not whether the limits are
        // held.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);

        for (RunSpec run : plan.runs()) {
            RunRecord record = files.read(run).orElseThrow();
            assertThat(record.faults()).isEmpty();
            assertThat(record.outcome()).isEqualTo(Outcome.OK);
            assertThat(record.number("deleted_share")).isBetween(0.45, 0.55);
            double payload = record.number("live_payload_bytes");
            assertThat(payload).isBetween(3e6, 8.0 * (1 << 20));
            assertThat(record.measured()).containsKeys("second_load_over_first", "peak_resident_bytes",
                    "resident_empty_bytes");
            if (run.configuration().equals("wheel")) {
                assertThat(record.number("used_memory_dataset_bytes")).as("what Varve itself says").isEqualTo(payload);
                assertThat(record.measured()).containsKey("bytes_copied_per_byte_written");
                assertThat(record.checks()).extracting(RunRecord.Check::limit).contains(0.85, 2.0, 0.5);
            }
        }
        assertThat(files.directory().resolve("peak-resident.png")).isNotEmptyFile();
    }

    private static List<String> startedAt(Plan plan, RunFiles files) throws IOException {
        List<String> times = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            times.add(files.read(run).orElseThrow().startedAt());
        }
        return times;
    }

    private static void isWhole(RunFiles files, RunSpec run) throws IOException {
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.number("operations")).isPositive();
        assertThat(record.number("peak_keys")).as("a part of the records is loaded").isGreaterThanOrEqualTo(100);
        List<Sample> samples = files.samples(run);
        assertThat(samples).hasSizeGreaterThan(3);
        assertThat(samples.stream().mapToLong(Sample::keys).max().orElse(0)).isPositive();
        assertThat(samples.getLast().keys()).as("everything has expired").isZero();
        InfoTable info = files.info(run);
        assertThat(info.rows()).as("a row of all numbers for each sample").hasSameSizeAs(samples);
        assertThat(info.fields()).contains("used_memory_rss", "expired_keys", "mem_fragmentation_ratio", "keys");
        assertThat(record.number(RunMetrics.AT_ONCE)).isEqualTo(1);
        assertThat(record.number(RunMetrics.RUN_SECONDS)).isPositive();
        for (String name : List.of(RunFiles.YCSB_TXT, RunFiles.LATENCY_HGRM, "run.json")) {
            assertThat(files.of(run).resolve(name)).isNotEmptyFile();
        }
    }
}

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
import io.varve.experiments.result.RunFiles;
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
            asks: Does a run write everything down?
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
            asks: Is a key's memory measured?
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
            asks: Is what lives measured?
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

    private static final String LATENCY = """
            name: steady
            title: A short one
            asks: Is the latency measured?
            kind: latency
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 100
            seed: 1
            workloads:
              mixed: {mix: "GET 40 NEW 32 EXPIRING 15 OVERWRITE 4 DEL 3 HSET 3 HGET 3", values: "50-150", ttls: "1-2", hashes: "10", fields: "10", keys: "1000"}
            sizes:
              tiny: {rate: 1000, seconds: 3, warmup-seconds: 2}
            configurations:
              Redis: {server: redis, group: Redis, settings: {}}
              wheel: {server: varve, group: wheel, settings: {}}
            baselines: [Redis]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [mixed], sizes: [tiny], ttls: [[]], threads: [1], configurations: [Redis, wheel]}
            """;

    private static final String EVENTS = """
            name: events
            title: A short one
            asks: Is it measured when expired is told?
            kind: expired_events
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 100
            seed: 1
            workloads:
              among: {ttls: "1-2", one-in: "4"}
            sizes:
              tiny: {records: 2000, seconds: 60}
            configurations:
              wheel: {server: varve, group: wheel, settings: {notify-keyspace-events: Ex, expire-bucket-base-ms: "100"}}
              Redis: {server: redis, group: Redis, settings: {notify-keyspace-events: Ex}}
            baselines: [Redis]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [among], sizes: [tiny], ttls: [[]], threads: [1], configurations: [wheel, Redis]}
            """;

    @TempDir
    private Path directory;

    @Test
    void runsWriteEverythingDownAndResumeDoesNotDoThemAgain() throws IOException {
        Files.writeString(directory.resolve("short.yaml"), DEFINITION);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));
        Matrix matrix = new Matrix(plan, files, Experiments.home());

        assertThat(matrix.run()).isZero();

        assertThat(plan.runs()).hasSize(2);
        for (RunSpec run : plan.runs()) {
            isWhole(files, run);
        }
        assertThat(files.read(plan.runs().getFirst()).orElseThrow().serverVersion()).startsWith("Varve ");
        assertThat(files.read(plan.runs().getLast()).orElseThrow().serverVersion()).startsWith("Redis ");
        for (String name : List.of("summary.csv", "summary.json", "report.html",
                "memory_" + plan.runs().getFirst().cell() + ".png")) {
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

        // So few keys are lost in the noise of a JVM: that it is measured is asked here, not whether the limit is held.
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

        // So little is lost in the noise of a JVM: that it is measured is asked here, not whether the limits are held.
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

    @Test
    void latenciesAreMeasuredOnASchedule() throws IOException {
        Files.writeString(directory.resolve("steady.yaml"), LATENCY);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("steady"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("steady"));

        // How fast this machine is now is not asked here: that all requests are made and everything is written down is.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);

        for (RunSpec run : plan.runs()) {
            RunRecord record = files.read(run).orElseThrow();
            assertThat(record.faults()).isEmpty();
            assertThat(record.outcome()).isEqualTo(Outcome.OK);
            assertThat(record.number("requests_planned")).isEqualTo(3000);
            assertThat(record.number("requests")).isEqualTo(3000);
            assertThat(record.number("error_replies")).isZero();
            assertThat(record.number("keys_expired")).isPositive();
            assertThat(record.number("latency_with_disturbed_p50_us")).isPositive();
            for (String name : List.of(RunFiles.LATENCY_HGRM, RunFiles.LATENCY_CSV, RunFiles.MEMORY_CSV)) {
                assertThat(files.of(run).resolve(name)).isNotEmptyFile();
            }
            if (run.configuration().equals("wheel")) {
                assertThat(record.number("longest_hiccup_ms")).as("Varve's own measure").isPositive();
                assertThat(record.checks()).extracting(RunRecord.Check::what)
                        .anyMatch(what -> what.endsWith("at most that of Redis"));
            }
        }
        assertThat(files.directory().resolve("latency-p999.png")).isNotEmptyFile();
    }

    @Test
    void eventsAreWaitedForAndTheirDelaysMeasured() throws IOException {
        Files.writeString(directory.resolve("events.yaml"), EVENTS);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("events"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("events"));

        // How soon they come on this machine is not asked here: that each comes once, and when, is.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);

        for (RunSpec run : plan.runs()) {
            RunRecord record = files.read(run).orElseThrow();
            assertThat(record.faults()).isEmpty();
            assertThat(record.outcome()).isEqualTo(Outcome.OK);
            assertThat(record.number("events")).isBetween(400.0, 600.0);
            assertThat(record.number("events_missing")).isZero();
            assertThat(record.number("event_delay_p50_ms")).isPositive()
                    .isLessThanOrEqualTo(record.number("event_delay_max_ms"));
            assertThat(record.number("events_within_base_percent")).isBetween(0.0, 100.0);
            assertThat(files.of(run).resolve(RunFiles.DELAY_HGRM)).isNotEmptyFile();
        }
        assertThat(files.directory().resolve("summary.csv")).content().contains("event_delay_p99_ms");
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
        for (String name : List.of(RunFiles.YCSB_TXT, RunFiles.LATENCY_HGRM, "run.json")) {
            assertThat(files.of(run).resolve(name)).isNotEmptyFile();
        }
    }
}

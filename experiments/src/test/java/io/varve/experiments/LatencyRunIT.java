package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Short experiments on latency from end to end, against Varve inside this process and a real redis-server. Confined to
 * the test's thread.
 */
final class LatencyRunIT {
    private static final String LATENCY = """
            name: steady
            title: A short one
            question: Is the latency measured?
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
            question: Is it measured when expired events arrive?
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
}

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
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.RequestsText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two parts of the Redis++ paper's experiment, seconds long, against Varve inside this process and a real redis-server.
 * Confined to the test's thread.
 */
final class PaperRequestsIT {
    private static final String CLEANER = """
            name: tiny-cleaner
            title: A short one
            question: What does cleaning cost?
            kind: cleaner
            default-scale: quick
            maxmemory: 2mb
            record-bytes: 100
            seed: 1
            workloads:
              uniform: {values: "50-150", live-share: "0.5", ttl-share: "0", ttls: "15", keys-per-live: "20", hot-keys: "1", hot-writes: "1", warm-turnovers: "1", turnovers: "1", maintain-every-ms: "1000", maintain-rounds: "1"}
            sizes:
              one: {repetitions: 1}
            configurations:
              modified: {server: varve, group: modified, settings: {cleaner-policy: modified, shards: "1", segment-size: 16kb}}
            baselines: []
            scales:
              quick: {about: "SCALED", embedded: true, workloads: [uniform], sizes: [one], ttls: [[]], threads: [1], configurations: [modified]}
            """;

    private static final String PAPER = """
            name: short
            title: A short one
            question: Are both kinds measured?
            kind: paper_requests
            default-scale: quick
            maxmemory: 128mb
            record-bytes: 16
            seed: 1
            includes: [tiny-cleaner]
            workloads:
              Small: {key-bytes: "16", values: "16-128", large-values: "1024-10240", large-share: "0.05", reads: "50 95", distributions: "unif zipf", connections: "7", limit-delay: "1.00", limit-cpu: "1.00", limit-throughput: "1.00"}
            sizes:
              seconds: {records: 3000, operations: 600, seconds: 1, repetitions: 2, warmup-seconds: 1}
            configurations:
              wheel: {server: varve, group: wheel, settings: {}}
              Redis: {server: redis, group: Redis, settings: {}}
            baselines: [Redis]
            scales:
              quick:
                about: "SCALED: seconds"
                embedded: true
                parts:
                  - {workloads: [Small], sizes: [seconds], ttls: [[]], threads: [1], configurations: [wheel, Redis]}
                  - {workloads: [uniform], sizes: [one], ttls: [[]], threads: [1], configurations: [modified], maxmemory: 2mb}
            """;

    @TempDir
    private Path directory;

    @Test
    void bothServersGetTheSameRequestsAndEveryPartIsDone() throws IOException {
        Files.writeString(directory.resolve("tiny-cleaner.yaml"), CLEANER);
        Files.writeString(directory.resolve("short.yaml"), PAPER);
        Plan plan = Plan.of(new ExperimentFiles(directory).read("short"), "quick", Filters.NONE);
        RunFiles files = new RunFiles(directory.resolve("out"));

        // Seconds do not show which server is faster: this test checks that it is measured, not whether the limits are
        // held.
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);

        assertThat(plan.runs()).extracting(RunSpec::configuration).containsExactly("wheel", "modified");
        for (RunSpec run : plan.runs()) {
            RunRecord record = files.read(run).orElseThrow();
            assertThat(record.faults()).isEmpty();
            assertThat(record.outcome()).isEqualTo(Outcome.OK);
        }
        RunRecord record = files.read(plan.runs().getFirst()).orElseThrow();
        assertThat(RequestsText.tests(record)).containsExactly("read", "write", "50 % reads Unif", "50 % reads Zipf",
                "95 % reads Unif", "95 % reads Zipf");
        for (String server : List.of("wheel", "Redis")) {
            for (String test : RequestsText.tests(record)) {
                assertThat(RequestsText.number(record, RequestsText.OPS, test, server)).isGreaterThan(100);
                assertThat(RequestsText.number(record, RequestsText.MEAN, test, server)).isPositive();
            }
        }
        assertThat(record.checks()).filteredOn(check -> check.what().startsWith("reads that"))
                .singleElement().matches(Check::held);
        assertThat(record.checks()).filteredOn(check -> check.what().contains("evicted")).hasSize(2)
                .allMatch(Check::held);
        // One client's 300 requests may take no hundredth of a second of CPU time: then there is no ratio of that.
        assertThat(record.checks()).filteredOn(check -> check.limit() == 1)
                .filteredOn(check -> !check.what().matches("(read|write): CPU.*")).hasSize(2 + 4 * 2);

        List<String> turns = files.rows(plan.runs().getFirst(), RunFiles.REQUESTS_CSV);
        assertThat(turns).hasSize(2 * 6 * 2);
        assertThat(turns.stream().filter(turn -> turn.matches("\\d,(read|write),.*"))
                .map(turn -> turn.split(",", -1)[3])).as("half of the requests in each turn").containsOnly("300");
        assertThat(files.of(plan.runs().getFirst()).resolve("read_Redis.hgrm")).isNotEmptyFile();
        assertThat(files.directory().resolve("report.html")).isNotEmptyFile();
    }
}

package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.ClassCurve;
import io.varve.experiments.result.PenaltyClass;
import io.varve.experiments.result.ResponseTimes;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PenaltyText;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The penalty experiment from end to end, truly small, against Varve inside this process. Confined to the test's
 * thread.
 */
final class PenaltyIT {
    private static final String DEFINITION = """
            name: dear
            title: A short one
            question: Is it written down what misses cost?
            kind: penalty
            default-scale: quick
            maxmemory: 64mb
            record-bytes: 100
            seed: 1
            workloads:
              mixed: {workload: site.ycsb.workloads.CoreWorkload, db: io.varve.ycsb.CacheAsideClient, readproportion: "0.8", updateproportion: "0.1", readmodifywriteproportion: "0.1", scanproportion: "0", insertproportion: "0", requestdistribution: zipfian, fieldcount: "2", fieldlength: "2000", varve.db.local.delay-us: "10", varve.db.remote.delay-us: "100", stress-at: "0.4", aims: "lru 25"}
              growing: {workload: site.ycsb.workloads.CoreWorkload, db: io.varve.ycsb.CacheAsideClient, readproportion: "0.9", updateproportion: "0", readmodifywriteproportion: "0", scanproportion: "0", insertproportion: "0.1", requestdistribution: zipfian, fieldcount: "2", fieldlength: "2000", varve.db.local.delay-us: "10", varve.db.remote.delay-us: "100"}
            sizes:
              tiny: {records: 2000, operations: 6000}
            configurations:
              unlimited: {server: varve, group: unlimited, settings: {maxmemory-policy: noeviction}}
              lru: {server: varve, group: lru, settings: {maxmemory-policy: allkeys-lru}}
              hyperbolic: {server: varve, group: hyperbolic, settings: {maxmemory-policy: allkeys-hyperbolic, penalty-tracking: "yes"}}
              penalty: {server: varve, group: penalty, settings: {maxmemory-policy: allkeys-penalty, penalty-tracking: "yes", mrc-tracking: "yes"}}
              penalty-hint: {server: varve, group: penalty-hint, settings: {maxmemory-policy: allkeys-penalty, penalty-tracking: "yes", mrc-tracking: "yes"}, client: {varve.penalty.hint: "true"}}
            baselines: [lru, hyperbolic]
            scales:
              quick: {about: "SCALED: seconds", embedded: true, workloads: [mixed], sizes: [tiny], ttls: [[]], threads: [2], configurations: [unlimited, lru, hyperbolic, penalty, penalty-hint]}
              inserts: {about: "SCALED: seconds", embedded: true, workloads: [growing], sizes: [tiny], ttls: [[]], threads: [2], configurations: [unlimited, lru]}
            """;

    @TempDir
    private Path directory;
    private RunFiles files;

    @BeforeEach
    void define() throws IOException {
        Files.writeString(directory.resolve("dear.yaml"), DEFINITION);
        files = new RunFiles(directory.resolve("out"));
    }

    private Plan plan(String... configurations) throws IOException {
        return planAt("quick", configurations);
    }

    private Plan planAt(String scale, String... configurations) throws IOException {
        return Plan.of(new ExperimentFiles(directory).read("dear"), scale,
                new Filters(List.of(), List.of(), List.of(configurations), List.of(), List.of(), List.of()));
    }

    /** This test checks that response times are measured, not how much they improve. */
    private void run(Plan plan) throws IOException {
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);
        for (RunSpec run : plan.runs()) {
            isWhole(plan, run);
        }
        try (Stream<Path> left = Files.list(files.directory())) {
            assertThat(left).as("the databases are not kept")
                    .noneMatch(path -> path.getFileName().toString().startsWith("databases"));
        }
    }

    private void isWhole(Plan plan, RunSpec run) throws IOException {
        RunRecord record = files.read(run).orElseThrow();
        assertThat(record.faults()).as(run.id()).isEmpty();
        assertThat(record.outcome()).isEqualTo(Outcome.OK);
        assertThat(record.number("operations")).isEqualTo(6000);
        List<ResponseTimes> intervals = files.rows(run, RunFiles.RESPONSE_CSV).stream().map(ResponseTimes::parse)
                .toList();
        // Reads and updates, and both for each of about 600 read-modify-writes.
        long calls = ResponseTimes.calls(intervals).count();
        assertThat(calls).isBetween(6300L, 6900L);
        assertThat(record.number(PenaltyText.RESPONSE)).isPositive()
                .isCloseTo(ResponseTimes.calls(intervals).micros(), org.assertj.core.data.Percentage.withPercentage(1));
        assertThat(record.number(PenaltyText.SETTLED)).isPositive();
        assertThat(record.load().get("idle-cores"))
                .as("a test leaves the idle state alone").isEqualTo("the machine's default");
        assertThat(record.number(PenaltyText.MISSES)).isPositive();
        assertThat(record.number(PenaltyText.HITS)).isBetween(0.1, 0.95);
        assertThat(record.number(PenaltyText.MISS_SECONDS)).isPositive();
        assertThat(record.number(PenaltyText.MISS_DELAY_SECONDS)).isPositive()
                .isLessThan(record.number(PenaltyText.MISS_SECONDS));
        assertThat(record.number(PenaltyText.AFTER_STRESS)).isPositive();
        assertThat(record.number(PenaltyText.STRESS_AT)).isEqualTo(2400);
        assertThat(record.number(PenaltyText.ofDatabase("local", "simulated_delay_measured_us")))
                .isGreaterThanOrEqualTo(10);
        assertThat(record.number(PenaltyText.ofDatabase("remote", "simulated_delay_measured_us")))
                .as("100 us and, after the stress, 200").isGreaterThan(120);
        assertThat(record.number(PenaltyText.ofDatabase("remote", "miss_penalty_us")))
                .isGreaterThan(record.number(PenaltyText.ofDatabase("remote", "simulated_delay_measured_us")));
        assertThat(record.measured()).containsKeys(RunMetrics.THROUGHPUT, RunMetrics.PEAK_MEMORY, PenaltyText.P9999);
        assertThat(files.of(run).resolve(RunFiles.LATENCY_HGRM)).isNotEmptyFile();
        if (Plan.evictsNothing(plan.configuration(run))) {
            assertThat(record.number(PenaltyText.SET_BYTES)).isBetween(1e6, 20e6);
        } else {
            RunRecord all = files.read(plan.workingSetRun(run).orElseThrow()).orElseThrow();
            assertThat(record.number(PenaltyText.LIMIT)).isEqualTo(Math.round(all.number(PenaltyText.SET_BYTES) / 2));
            assertThat(record.number(PenaltyText.KEYS_SHARE)).isBetween(0.2, 0.7);
            double exact = record.number(PenaltyText.UNDIVIDED_SECONDS);
            assertThat(record.number(PenaltyText.BEST_SECONDS)).isPositive().isLessThan(exact);
            assertThat(record.number(PenaltyText.BEST_SHARE)).isBetween(0.5, 1.0);
            if (run.configuration().equals("lru")) {
                assertThat(record.number(PenaltyText.MISS_DELAY_SECONDS)).as("as exact LRU, or nearly").isCloseTo(exact,
                        org.assertj.core.data.Percentage.withPercentage(20));
            }
        }
    }

    private void isReported(Plan plan) {
        for (String name : List.of("response_", "misses_", "response-share_", "response-tail_")) {
            assertThat(files.directory().resolve(name + plan.runs().getFirst().cell() + ".png")).isNotEmptyFile();
        }
        assertThat(files.directory().resolve("summary.csv")).content().contains("response_second_half_mean_us");
        assertThat(files.directory().resolve("report.html")).content().contains("Mean response time over the run");
    }

    @Test
    void classesAndTheirCurvesAreWrittenDown() throws IOException {
        assertThat(plan("lru").runs()).extracting(RunSpec::configuration).as("what half of the set is has to be known")
                .containsExactly("unlimited", "lru");
        Plan plan = plan(TestBudget.cases(List.of("lru", "penalty-hint"), List.of("hyperbolic", "penalty"))
                .toArray(String[]::new));
        run(plan);
        isReported(plan);
        RunSpec hinted = plan.runs().getLast();
        List<PenaltyClass.At> reported = files.rows(hinted, RunFiles.CLASSES_CSV).stream().map(PenaltyClass.At::parse)
                .toList();
        long last = reported.getLast().elapsedMillis();
        List<PenaltyClass> inTheEnd = reported.stream().filter(at -> at.elapsedMillis() == last)
                .map(PenaltyClass.At::state).toList();
        assertThat(inTheEnd).hasSize(16);
        assertThat(inTheEnd).filteredOn(each -> each.bytes() > 0).as("the client's two, and what came before a hint")
                .extracting(PenaltyClass::number).contains(3, 6);
        assertThat(inTheEnd.get(6).misses()).isPositive();
        assertThat(inTheEnd.get(6).penaltyMicros()).isGreaterThan(100);
        assertThat(inTheEnd.stream().mapToDouble(PenaltyClass::share).sum())
                .isCloseTo(1, org.assertj.core.data.Offset.offset(0.01));
        List<ClassCurve> curves = files.rows(hinted, RunFiles.CLASS_CURVES_CSV).stream().map(ClassCurve::parse)
                .toList();
        assertThat(curves).extracting(ClassCurve::number).contains(3, 6);
        assertThat(curves).allSatisfy(point -> assertThat(point.missRatio()).isBetween(0.0, 1.0));
        RunRecord record = files.read(hinted).orElseThrow();
        assertThat(record.number(PenaltyText.MEASURED)).isPositive();
        assertThat(record.checks()).extracting(RunRecord.Check::what).contains(PenaltyText.AIM + "lru");
        assertThat(files.directory().resolve("shares_" + hinted.id() + ".png")).isNotEmptyFile();
    }

    /**
     * The inserts of the run before are not there: an insert that finds its record writes to the database a second
     * time.
     */
    @Test
    void eachRunBeginsWithTheDatabasesAsTheyWereLoaded() throws IOException {
        Plan plan = planAt("inserts");
        assertThat(new Matrix(plan, files, Experiments.home()).run()).isLessThanOrEqualTo(1);
        assertThat(plan.runs()).hasSize(2).allSatisfy(run -> {
            RunRecord record = files.read(run).orElseThrow();
            assertThat(record.faults()).as(run.id()).isEmpty();
            assertThat(Stream.of("local", "remote")
                    .mapToDouble(side -> record.number(PenaltyText.ofDatabase(side, "writes"))).sum())
                    .as("a write for each of about 600 inserts in %s", run.id()).isBetween(450.0, 750.0);
        });
    }
}

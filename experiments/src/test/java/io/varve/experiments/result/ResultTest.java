package io.varve.experiments.result;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.RunRecord.Phase;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.wire.ServerInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Percentages, ranges, samples and the files of a run. Confined to the test's thread. */
final class ResultTest {
    private static final RunSpec RUN = new RunSpec("a", "quick", List.of(3, 6), 4, "120-1000");

    @Test
    void percentagesAreThePapers() {
        assertThat(Percent.reduction(200, 120)).isEqualTo(40);
        assertThat(Percent.reduction(100, 103.74)).isCloseTo(-3.74, within(1e-9));
        assertThat(Percent.improvement(100, 120.5)).isEqualTo(20.5);
        assertThat(Percent.improvement(100, 90)).isEqualTo(-10);
        assertThat(Percent.reduction(0, 5)).isNaN();
    }

    @Test
    void aSpreadIsRangeAndMean() {
        assertThat(Spread.of(List.of(3.0, -1.0, 4.0))).isEqualTo(new Spread(3, -1, 2, 4));
        assertThatThrownBy(() -> Spread.of(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aSampleIsReadFromInfoAndBackFromItsRow() {
        ServerInfo info = ServerInfo.parse("""
                # Memory\r
                used_memory:1000\r
                used_memory_rss:2000\r
                # Stats\r
                expired_keys:7\r
                evicted_keys:1\r
                used_cpu_sys:0.25\r
                used_cpu_user:1.5\r
                # Keyspace\r
                db0:keys=30,expires=20,avg_ttl=5\r
                db3:keys=4,expires=0,avg_ttl=0\r
                """);
        Sample sample = Sample.of(1500, info, 99.6);
        assertThat(sample.csv()).isEqualTo("1500,1000,2000,34,7,1,100");
        assertThat(sample.cpuSeconds()).isEqualTo(1.75);
        assertThat(sample.expiredUnreclaimed()).isEqualTo(-1);
        assertThat(Sample.parse(sample.csv()).keys()).isEqualTo(34);
        assertThat(Sample.CSV_HEADER.split(",", -1)).hasSameSizeAs(sample.csv().split(",", -1));
    }

    @Test
    void infoWithoutMemoryIsNoSample() {
        assertThatThrownBy(() -> Sample.of(0, ServerInfo.parse("redis_version:7.0.15\r\n"), 0))
                .hasMessageContaining("used_memory");
    }

    @Test
    void memoryIsMeanPeakFirstAndLast() {
        RunMetrics metrics = new RunMetrics();
        metrics.putMemory(List.of(sample(100, 500), sample(300, 400), sample(200, 900)));
        assertThat(metrics.asMap()).containsEntry(RunMetrics.MEAN_MEMORY, 200.0)
                .containsEntry(RunMetrics.PEAK_MEMORY, 300.0)
                .containsEntry(RunMetrics.MEAN_RSS, 600.0)
                .containsEntry(RunMetrics.PEAK_RSS, 900.0)
                .containsEntry(RunMetrics.FIRST_MEMORY, 100.0)
                .containsEntry(RunMetrics.LAST_MEMORY, 200.0);
    }

    private static Sample sample(long used, long rss) {
        return new Sample(0, used, rss, 0, 0, 0, 0, -1, -1, Double.NaN);
    }

    @Test
    void runIsReadBack(@TempDir Path directory) throws IOException {
        RunFiles files = new RunFiles(directory);
        assertThat(files.read(RUN)).isEmpty();
        Files.createDirectories(files.of(RUN));
        RunRecord record = new RunRecord(RUN, "120 s", Outcome.INTERRUPTED, List.of("a fault"), "2026-11-21T08:00:00Z",
                "bucket-expiry", "quick", "SCALED", 42, "Redis 7.0.15", "redis-server", Map.of("hz", "10"),
                Map.of("recordcount", "1"), Map.of("cores", "2"), List.of(new Phase("load", 0, 5)),
                Map.of(RunMetrics.THROUGHPUT, 12.5), List.of(Check.atMost("DBSIZE", 3, 0)), List.of());
        files.write(record);
        assertThat(files.read(RUN)).contains(record);
        assertThat(record.checks().getFirst().held()).isFalse();
        assertThat(files.samples(RUN)).isEmpty();
    }

    private static RunRecord checked(String configuration, Check... checks) {
        return new RunRecord(new RunSpec("a", "quick", List.of(3), 4, configuration), configuration, Outcome.OK,
                List.of(), "", "e", "quick", "", 1, "", "", Map.of(), Map.of(), Map.of(), List.of(), Map.of(),
                List.of(checks), List.of());
    }

    @Test
    void failedChecks_ofBaseline_areOnlyThoseOfTheLoad() {
        Check kept = Check.atMost("DBSIZE", 0, 0);
        Check broken = Check.atMost("DBSIZE", 3, 0);
        Check shortfall = Check.atMost(RunRecord.SAME_LOAD, 6, 5);
        List<RunRecord> runs = List.of(checked("wheel", kept, broken), checked("Redis", broken, shortfall),
                checked("Ref", broken));
        Summary summary = new Summary("e", "quick", "", runs, List.of(), List.of("Redis", "Ref"));

        assertThat(summary.failedChecks()).containsExactly("not held in a_quick_ttl3_4t_wheel: DBSIZE: 3 (at most 0)",
                "not held in a_quick_ttl3_4t_Redis: " + RunRecord.SAME_LOAD + ": 6 (at most 5)");
        assertThat(summary.table()).contains("NOT HELD DBSIZE: 3 (at most 0)").contains("held     DBSIZE: 0");
    }

    @Test
    void notAsserted_valueBeyondLimit_isReportedAndDoesNotFail() {
        Check reported = Check.atLeast("live share", 0.75, 0.85).notAsserted("too small");
        Summary summary = new Summary("e", "quick", "", List.of(checked("Varve", reported)), List.of(), List.of());

        assertThat(reported.hasFailed()).isFalse();
        assertThat(summary.failedChecks()).isEmpty();
        assertThat(summary.table())
                .contains("    reported live share: 0.75 (at least 0.85); not asserted: too small\n");
    }

    @Test
    void anIdIsADirectorysName() {
        assertThat(RUN.id()).isEqualTo("a_quick_ttl3-6_4t_120-1000");
        assertThat(new RunSpec("a", "s", List.of(1), 1, "host:80/x").id()).doesNotContain("/").doesNotContain(":");
    }
}

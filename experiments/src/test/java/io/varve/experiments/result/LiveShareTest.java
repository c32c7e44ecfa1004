package io.varve.experiments.result;

import java.util.List;
import java.util.Map;

import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.CleanerText;
import io.varve.experiments.result.table.FragmentationText;
import io.varve.experiments.result.table.LatencyText;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests shares, minimum limits, and the tables of the fragmentation and the cleaner experiment. Confined to the test's
 * thread.
 */
final class LiveShareTest {
    private static RunRecord record(String workload, String configuration, Outcome outcome,
            Map<String, Double> measured,
            List<Check> checks) {
        return new RunRecord(new RunSpec(workload, "once", List.of(), 1, configuration), configuration, outcome,
                List.of(),
                "", "e", "quick", "", 1, "Varve", "", Map.of(), Map.of(), Map.of(), List.of(), measured, checks,
                List.of());
    }

    @Test
    void growthExcludesEmptyAndIncludesKeptMemory() {
        LiveShare share = new LiveShare(90, 200, 100, 80);
        assertThat(share.ofGrowth()).isEqualTo(0.9);
        assertThat(share.ofGrowthFromFresh()).isEqualTo(0.75);
        assertThat(share.ofResident()).isEqualTo(0.45);
        assertThat(new LiveShare(90, 100, 100, 80).ofGrowth()).isNaN();
        assertThat(share.ofGrowthIfPossible()).isEqualTo(0.9);
        assertThat(new LiveShare(90, 100, 20, 10).ofGrowthIfPossible()).as("more than it grew by").isNaN();
    }

    @Test
    void aLimitMayBeTheLeast() {
        assertThat(Check.atLeast("share", 0.85, 0.85).held()).isTrue();
        assertThat(Check.atLeast("share", 0.84, 0.85).held()).isFalse();
        assertThat(Check.atLeast("share", Double.NaN, 0.85).held()).as("what is not known is not held").isFalse();
        assertThat(Check.atLeast("share", 0.844, 0.85).text()).isEqualTo("share: 0.84 (at least 0.85)");
    }

    @Test
    void theFragmentationTableHasARowForEachRunAndADashWhereNothingIs() {
        String table = FragmentationText.table(List.of(
                record("W3", "wheel", Outcome.OK, Map.of(FragmentationText.LIVE, 0.912, FragmentationText.PEAK, 1.2e9),
                        List.of(Check.atLeast(FragmentationText.LIVE_CHECK, 0.912, 0.85))),
                record("W3", "Redis", Outcome.FAILED, Map.of(), List.of())));
        assertThat(table).contains("0.912").contains("1,200.0").contains("FAILED").contains("at least 0.85");
        assertThat(table.lines().filter(line -> line.startsWith("W3"))).hasSize(2)
                .allMatch(line -> line.contains(" - "));
    }

    @Test
    void latencyTable_hasARowPerRunAndLoadChecksOfBaseline() {
        RunRecord redis = record("quick", "Redis", Outcome.OK, Map.of(LatencyText.P999, 1234.0, LatencyText.P9999, 9e3),
                List.of(Check.atLeast(RunRecord.KEYS_EVICTED, 0, 1), Check.atMost("of its own", 2, 1)));
        RunRecord varve = record("quick", "serial", Outcome.OK,
                Map.of(LatencyText.P9999, 8e3, LatencyText.HICCUP, 6.125),
                List.of(Check.atMost(LatencyText.HICCUP_CHECK, 6.125, 5)));
        String table = LatencyText.table(List.of(redis, varve));
        assertThat(table).contains("1,234").contains("6.13").contains("NOT HELD");
        Summary summary = new Summary("latency", "quick", "", List.of(redis, varve), List.of(), List.of("Redis"));
        assertThat(summary.table()).isEqualTo(table);
        assertThat(summary.failedChecks()).hasSize(2).anyMatch(line -> line.contains(RunRecord.KEYS_EVICTED))
                .anyMatch(line -> line.contains(LatencyText.HICCUP_CHECK));
    }

    @Test
    void aConfigurationsCostIsThatOfAllItsLoads() {
        List<RunRecord> runs = List.of(
                record("uniform", "greedy", Outcome.OK,
                        Map.of(CleanerText.COST, 10.0, "bytes_moved", 30.0, "bytes_written", 100.0), List.of()),
                record("hot-cold", "greedy", Outcome.OK,
                        Map.of(CleanerText.COST, 5.0, "bytes_moved", 50.0, "bytes_written", 100.0), List.of()),
                record("hot-cold", "modified", Outcome.FAILED, Map.of(), List.of()));
        assertThat(CleanerText.totals(runs)).containsOnlyKeys("greedy");
        CleanerText.Total total = CleanerText.totals(runs).get("greedy");
        assertThat(total).isNotNull();
        assertThat(total.cost()).isEqualTo(15);
        assertThat(total.moved() / total.written()).isCloseTo(0.4, within(1e-9));
        assertThat(CleanerText.table(runs)).contains("its 2 loads: 15.0").contains("FAILED");
    }
}

package io.varve.experiments.run.replication;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.plan.ReplicationLoad.Pair;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.ReplicationText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the checks of the experiment on replication with made-up numbers. Confined to the test's thread. */
final class ReplicationChecksTest {
    private static final Pair PAIR = new Pair("Varve", "Varve");
    private static final int RATE = 1000;
    private static final ReplicationLoad LOAD = new ReplicationLoad(1, 1, 1, 1, 1, 80, RATE, 1, List.of());

    @TempDir
    private Path directory;

    private static Map<String, Double> good() {
        Map<String, Double> numbers = new LinkedHashMap<>();
        numbers.put(ReplicationText.ERRORS, 0.0);
        numbers.put(ReplicationText.CAUGHT_UP, 1.0);
        numbers.put(ReplicationText.CATCH_UP_SECONDS, 2.5);
        numbers.put(ReplicationText.CATCH_UP_ERRORS, 0.0);
        numbers.put(ReplicationText.STOPPED_OPS, 1000.0);
        numbers.put(ReplicationText.CATCH_UP_OPS, 951.0);
        numbers.put(ReplicationText.PARTIAL, 1.0);
        numbers.put(ReplicationText.FULL, 0.0);
        numbers.put(ReplicationText.DIFFERENT, 0.0);
        return numbers;
    }

    private RoundResults results(List<Map<String, Double>> rounds) throws IOException {
        RoundResults results = new RoundResults(directory.resolve("rounds.csv"));
        for (int round = 0; round < rounds.size(); round++) {
            results.add(round + 1, PAIR.name(), rounds.get(round));
        }
        return results;
    }

    private static List<Check> checks(RoundResults results) {
        RunMetrics metrics = new RunMetrics();
        results.put(metrics);
        return ReplicationChecks.of(PAIR, LOAD, metrics);
    }

    @Test
    void goodRounds_passAllChecks() throws IOException {
        RoundResults results = results(List.of(good(), good()));
        assertThat(checks(results)).hasSize(8).allMatch(Check::held);
        assertThat(ReplicationChecks.isComplete(PAIR, "catching up", results, 2).held()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"sync_errors,1,errors during a full synchronization", "catch_up_has_caught_up,0,has caught up",
            "catch_up_errors,1,errors while the replica is stopped",
            "stopped_writes_per_second,949,writes a second while the replica is stopped",
            "catch_up_writes_per_second,949,writes a second while it catches up",
            "catch_up_partial_syncs,0,partial", "catch_up_full_syncs,1,full synchronizations after",
            "different_data,1,different data"})
    void oneBadRound_failsItsCheck(String metric, double value, String check) throws IOException {
        Map<String, Double> bad = good();
        assertThat(bad.put(metric, value)).isNotNull();
        assertThat(checks(results(List.of(good(), bad, good()))).stream().filter(Check::hasFailed)).singleElement()
                .satisfies(failed -> assertThat(failed.what()).startsWith("Varve: ").contains(check));
    }

    @Test
    void roundWithoutANumber_failsTheCheckOfTheirNumber() throws IOException {
        Map<String, Double> bad = good();
        bad.put(ReplicationText.CATCH_UP_SECONDS, Double.NaN);
        RoundResults results = results(List.of(bad, good()));
        assertThat(ReplicationChecks.isComplete(PAIR, "catching up", results, 2)).isEqualTo(
                Check.atLeast("Varve: values of each number on catching up", 1, 2));
        assertThat(Files.readAllLines(directory.resolve("rounds.csv")).get(1)).startsWith("1,Varve,0,1,,0,");

        assertThat(ReplicationChecks.isComplete(PAIR, "writes", results(List.of()), 1).held()).as("no round")
                .isFalse();
    }

    @Test
    void numberThatNoRoundHas_isNotStored() throws IOException {
        Map<String, Double> bad = good();
        bad.put(ReplicationText.CATCH_UP_SECONDS, Double.NaN);
        bad.put(ReplicationText.CAUGHT_UP, 0.0);
        RoundResults results = results(List.of(bad));
        RunMetrics metrics = new RunMetrics();
        results.put(metrics);
        assertThat(metrics.asMap()).doesNotContainKey(
                ReplicationText.name(ReplicationText.CATCH_UP_SECONDS, PAIR.name()));
        assertThat(results.fewest(PAIR.name())).isZero();
        assertThat(checks(results).stream().filter(Check::hasFailed)).singleElement()
                .satisfies(failed -> assertThat(failed.what()).contains("has caught up"));
    }

    @Test
    void cpuTimeOfASet_settlesWithinThreePercent() {
        assertThat(WriteCost.isSettled(Double.NaN, 1)).as("first turn").isFalse();
        assertThat(WriteCost.isSettled(100, 103)).isTrue();
        assertThat(WriteCost.isSettled(100, 97)).isTrue();
        assertThat(WriteCost.isSettled(100, 96)).isFalse();
        assertThat(WriteCost.isSettled(100, 104)).isFalse();
    }
}

package io.varve.experiments.result;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests the grouping of measurements into cells: medians, ratios within a repetition, targets. Confined to the test's
 * thread.
 */
final class CellTest {
    private static TrialResult turn(int repetition, String contestant, double cpu, double hits) {
        return new TrialResult(repetition, "GET", 16, contestant, 1000, 50_000, cpu, 99, hits, 0.1, 0.2);
    }

    @Test
    void cpuPerOperationIsTheDifferenceOverTheRequests() {
        assertThat(TrialResult.cpuPerOperation(1_000_000, 3_000_000, 1_000_000)).isEqualTo(2.0);
        assertThat(TrialResult.cpuPerOperation(1, 2, 0)).isNaN();
    }

    @Test
    void theMiddleOfFewIsTheirMedian() {
        assertThat(MedianRange.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new MedianRange(3, 1, 2, 3));
        assertThat(MedianRange.of(List.of(4.0, 1.0, 2.0, 3.0)).median()).isEqualTo(2.5);
        assertThatThrownBy(() -> MedianRange.of(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aRatioIsMadeWithinARepetition() {
        // The machine is twice as slow in the second repetition, for both: the ratio does not see it.
        List<TrialResult> turns = List.of(turn(1, "wheel", 1, 100), turn(1, "Redis", 2, 100), turn(2, "Redis", 4, 100),
                turn(2, "wheel", 2, 99), turn(3, "wheel", 1.2, 100), turn(3, "Redis", 2, 100),
                turn(1, "touch-ahead no", 3, 100));
        List<Cell> cells = Cell.of(turns, "Redis", Map.of("GET, pipeline 16", 0.64));
        assertThat(cells).extracting(Cell::contestant).containsExactly("wheel", "Redis", "touch-ahead no");

        Cell wheel = cells.getFirst();
        assertThat(wheel.ratio()).isNotNull();
        assertThat(wheel.ratio().median()).isCloseTo(0.5, within(1e-9));
        assertThat(wheel.ratio().max()).isCloseTo(0.6, within(1e-9));
        assertThat(wheel.target()).isEqualTo(0.64);
        assertThat(wheel.hitPercent()).as("the worst repetition").isEqualTo(99);
        assertThat(cells.get(1).ratio()).as("the rival has none").isNull();
        assertThat(cells.get(2).ratio()).isNotNull();
        assertThat(cells.get(2).target()).as("the target is of the first contestant alone").isNull();
    }

    @Test
    void withoutARivalThereIsNoRatio() {
        Cell alone = Cell.of(List.of(turn(1, "wheel", 1, Double.NaN)), null, Map.of("GET, pipeline 16", 0.64))
                .getFirst();
        assertThat(alone.ratio()).isNull();
        assertThat(alone.target()).isNull();
        assertThat(alone.hitPercent()).isNull();
    }

    @Test
    void aTurnsRowHasAColumnForEachNameAndNothingWhereNothingIsKnown() {
        String row = turn(1, "wheel", 1.5, Double.NaN).csv();
        assertThat(row.split(",", -1)).hasSameSizeAs(TrialResult.CSV_HEADER.split(",", -1));
        assertThat(row).isEqualTo("1,GET,16,wheel,1000,50000.000,1.500,99.000,,0.100,0.200");
    }

    @Test
    void shareHasDecimals() {
        assertThat(RunRecord.Check.atMost("share", 0.584, 0.58).text())
                .isEqualTo("share: 0.58 (at most 0.58)");
        assertThat(RunRecord.Check.atMost("bytes", 1234.5, 5000).text())
                .isEqualTo("bytes: 1,235 (at most 5,000)");
        assertThat(RunRecord.Check.atMost("items", 3, 0).text()).isEqualTo("items: 3 (at most 0)");
    }
}

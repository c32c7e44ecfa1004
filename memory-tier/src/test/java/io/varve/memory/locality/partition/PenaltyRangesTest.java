package io.varve.memory.locality.partition;

import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the ranges of the penalty classes and their text. */
class PenaltyRangesTest {
    private static final PenaltyRanges ALL = new PenaltyRanges(PenaltyRanges.MAX_CLASSES);

    @Test
    void boundsAreThoseOfThePaper() {
        assertThat(IntStream.range(0, 16).mapToLong(ALL::lowestMicros).toArray()).containsExactly(0, 10, 30, 70, 150,
                310, 630,
                1270, 2550, 5110, 10_230, 20_470, 40_950, 81_910, 163_830, 327_670);
        assertThat(10 * ((1L << 16) - 1)).isEqualTo(PenaltyRanges.SCALE_MICROS);
    }

    @Test
    void rangesAreContiguous() {
        for (int i = 0; i < 16; i++) {
            assertThat(ALL.classOf(ALL.lowestMicros(i))).isEqualTo(i);
            if (i < 15) {
                assertThat(ALL.endMicros(i)).isEqualTo(ALL.lowestMicros(i + 1));
                assertThat(ALL.classOf(ALL.endMicros(i) - 1)).isEqualTo(i);
            }
        }
        assertThat(ALL.endMicros(15)).isEqualTo(Long.MAX_VALUE);
        assertThat(ALL.classOf(PenaltyRanges.SCALE_MICROS)).isEqualTo(15);
        assertThat(ALL.classOf(Long.MAX_VALUE)).isEqualTo(15);
        assertThat(ALL.classOf(0)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 16})
    void withFewerClassesTheLastIsUnbounded(int classes) {
        PenaltyRanges ranges = new PenaltyRanges(classes);
        for (long micros = 0; micros < 700_000; micros += 7) {
            assertThat(ranges.classOf(micros)).isEqualTo(Math.min(ALL.classOf(micros), classes - 1));
        }
        assertThat(ranges.endMicros(classes - 1)).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @CsvSource({"0,below 10 µs", "1,10 to 30 µs", "3,70 to 150 µs", "6,0.63 to 1.27 ms", "7,1.27 to 2.55 ms",
            "10,10.23 to 20.47 ms", "15,from 327.67 ms"})
    void rangesHaveReadableText(int penaltyClass, String text) {
        assertThat(ALL.text(penaltyClass)).isEqualTo(text);
    }

    @Test
    void aSingleClassCoversAllPenalties() {
        assertThat(new PenaltyRanges(1).text(0)).isEqualTo("any");
        assertThat(new PenaltyRanges(2).text(1)).isEqualTo("from 10 µs");
    }

    @Test
    void valuesOutOfRangeAreRefused() {
        assertThatThrownBy(() -> new PenaltyRanges(0))
                .hasMessage("The number of penalty classes must be 1 to 16, not 0");
        assertThatThrownBy(() -> new PenaltyRanges(17))
                .hasMessage("The number of penalty classes must be 1 to 16, not 17");
        assertThatThrownBy(() -> ALL.classOf(-1)).hasMessage("A penalty must be at least 0 µs, not -1");
        PenaltyRanges four = new PenaltyRanges(4);
        assertThatThrownBy(() -> four.require(4)).hasMessage("A penalty class is 0 to 3, not 4");
        assertThatThrownBy(() -> four.require(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> four.require(1L << 32)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> four.text(4)).isInstanceOf(IllegalArgumentException.class);
        assertThat(four.require(3)).isEqualTo(3);
    }
}

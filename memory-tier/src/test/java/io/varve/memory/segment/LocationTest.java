package io.varve.memory.segment;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the fields of a packed location. */
class LocationTest {
    @ParameterizedTest
    @CsvSource({"0,0", "0,8388607", "33554430,0", "33554430,8388607", "1,1", "12345678,7654321"})
    void segmentAndOffset_roundTrip(int segment, int offset) {
        long location = Location.of(segment, offset);
        assertThat(Location.segment(location)).isEqualTo(segment);
        assertThat(Location.offset(location)).isEqualTo(offset);
        assertThat(Location.isLarge(location)).isFalse();
        assertThat(location).isBetween(0L, (1L << Location.BITS) - 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8_388_607})
    void largeNumber_roundTrips(int number) {
        long location = Location.ofLarge(number);
        assertThat(Location.isLarge(location)).isTrue();
        assertThat(Location.largeNumber(location)).isEqualTo(number);
        assertThat(Location.segment(location)).isEqualTo(Location.LARGE_SEGMENT);
        assertThat(location).isLessThan(1L << Location.BITS);
    }

    @Test
    void widthsAreThoseOfThePaper() {
        assertThat(Location.BITS).isEqualTo(48);
        assertThat(Location.MAX_SEGMENT).isEqualTo((1 << 25) - 2);
        assertThat(Location.MAX_OFFSET).isEqualTo((8 << 20) - 1);
        assertThat(Location.of(Location.MAX_SEGMENT, Location.MAX_OFFSET)).isLessThan(Location.ofLarge(0));
        assertThat(Location.isLarge(Location.NONE)).isFalse();
    }
}

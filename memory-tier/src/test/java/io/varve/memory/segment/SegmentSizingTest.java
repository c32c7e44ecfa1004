package io.varve.memory.segment;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the automatic segment size. */
class SegmentSizingTest {
    @ParameterizedTest
    @CsvSource({
            // maxmemory, shards, heads, expected
            "1048576, 1, 1, 32768", "1048576, 64, 4, 4096", "10737418240, 1, 4, 8388608",
            "10737418240, 16, 4, 4194304", "1099511627776, 64, 4, 8388608", "1073741824, 1, 32, 8388608",
            "1073741823, 1, 32, 4194304"})
    void autoSize_keepsOpenSegmentsWithinAThirtySecond(long maxMemoryBytes, int shards, int maxOpenSegments,
            int expected) {
        assertThat(SegmentSizing.auto(maxMemoryBytes, shards, maxOpenSegments)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -4096, 2048, 4097, 12288, 16 << 20})
    void sizesBeyondLocationsAreRefused(int segmentBytes) {
        assertThatThrownBy(() -> SegmentSizing.require(segmentBytes)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(segmentBytes));
    }
}

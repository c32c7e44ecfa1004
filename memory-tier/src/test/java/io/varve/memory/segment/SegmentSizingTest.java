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
            "10737418240, 16, 4, 8388608", "1099511627776, 64, 4, 8388608", "1073741824, 1, 32, 8388608",
            "1073741823, 1, 32, 4194304",
            // The number of shards counts up to eight, and then only for a segment above 256 KiB.
            "268435456, 8, 6, 262144", "268435456, 256, 6, 262144", "268435456, 1024, 6, 262144",
            "1073741824, 8, 6, 1048576", "1073741824, 32, 6, 1048576", "1073741824, 64, 6, 1048576",
            "1073741824, 256, 6, 262144", "17179869184, 256, 6, 4194304", "1048576, 256, 6, 4096"})
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

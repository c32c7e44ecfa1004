package io.varve.memory.segment;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the extents and lifetime classes of open segments. */
class OpenSegmentsTest {
    private static final int SEGMENT_BYTES = 8 << 20;
    private static final int HEADS = 4;

    /**
     * Whatever a segment holds, all heads together take a 32nd of what the shard does, between 32 KiB and a segment.
     */
    @ParameterizedTest
    @CsvSource({
            // item, used, extent
            "100, 0, 32768", "100, 1000000, 32768", "100, 4194304, 32768", "100, 8388608, 65536",
            "100, 10000000, 81920",
            "10000, 0, 81920", "65536, 0, 524288", "100, 1000000000, 7815168", "100, 5000000000, 8388608",
            "8388608, 0, 8388608"})
    void anExtentIsInProportionToItsShard(int size, long usedBytes, int extentBytes) {
        assertThat(new OpenSegments(HEADS, SEGMENT_BYTES, 1).extentBytes(size, usedBytes)).isEqualTo(extentBytes);
    }

    /** With many shards a small extent has 32 items, and is between a part of half a megabyte and 32 KiB. */
    @ParameterizedTest
    @CsvSource({
            // shards, item, used, extent
            "8, 20, 0, 32768", "16, 20, 0, 32768", "32, 20, 0, 16384", "64, 20, 0, 8192", "1024, 20, 0, 8192",
            "64, 0, 0, 8192", "64, 300, 0, 12288", "64, 1000, 0, 32768", "64, 2000, 0, 32768",
            "64, 10000, 0, 81920", "64, 20, 1048576, 8192", "64, 20, 2097152, 16384", "1024, 20, 1000000000, 7815168"})
    void theLeastExtentShrinksWithTheNumberOfShards(int shards, int size, long usedBytes, int extentBytes) {
        assertThat(new OpenSegments(HEADS, SEGMENT_BYTES, shards).extentBytes(size, usedBytes)).isEqualTo(extentBytes);
    }

    /** A shard that grows from nothing never has more partial segments than addresses were reserved for. */
    @ParameterizedTest
    @CsvSource({"1, 8388608", "8, 262144", "8, 32768", "8, 4096", "64, 65536", "256, 262144", "1024, 8192"})
    void aGrowingShardHasFewerPartsThanReserved(int shards, int segmentBytes) {
        OpenSegments open = new OpenSegments(HEADS, segmentBytes, shards);
        int parts = 0;
        for (long used = 0; open.extentBytes(1, used) < segmentBytes; used += open.extentBytes(1, used)) {
            parts++;
        }
        assertThat(parts).isLessThanOrEqualTo(OpenSegments.maxParts(HEADS, shards, segmentBytes));
    }

    @Test
    void noExtentIsLargerThanASegment() {
        assertThat(new OpenSegments(1, 4096, 1).extentBytes(100, 0)).isEqualTo(4096);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "2, 1000", "3, 1500", "4, 2000", "5, 3000", "9, 12000", "11, 24000", "12, 32000", "13, 48000",
            "60, 536870912000"})
    void everyLifetimeOfAClassIsAboveItsBound(int lifetimeClass, long aboveMillis) {
        assertThat(OpenSegments.lifetimeAboveMillis(lifetimeClass)).isEqualTo(aboveMillis);
        assertThat(OpenSegments.classOf(aboveMillis + 1)).isEqualTo(lifetimeClass);
        assertThat(OpenSegments.classOf(aboveMillis)).isEqualTo(Math.max(1, lifetimeClass - 1));
    }
}

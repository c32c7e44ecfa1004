package io.varve.memory.collection.packed;

import java.lang.foreign.Arena;

import io.varve.memory.offheap.LiveRanges;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the widths and round trips of the two layouts of a packed set. Confined to the test thread. */
class PackedSetLayoutTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455, 268_435_456,
            Integer.MAX_VALUE})
    void memberLength_roundTrips(int length) {
        withMemory(5, address -> {
            long bytes = PackedSetLayout.putLength(address, length);
            assertThat(PackedSetLayout.length(address)).isEqualTo(length);
            assertThat(PackedSetLayout.bytes(address, length)).isEqualTo(bytes);
            assertThat(PackedSetLayout.memberBytes(length)).isEqualTo(bytes - address + length);
        });
    }

    @Test
    void count_roundTripsAndIsFollowedByTheMembers() {
        withMemory(PackedSetLayout.MEMBERS_OFFSET, address -> {
            for (int count : new int[] {0, 1, Integer.MAX_VALUE}) {
                PackedSetLayout.count(address, count);
                assertThat(PackedSetLayout.count(address)).isEqualTo(count);
            }
            assertThat(PackedSetLayout.MEMBERS_OFFSET)
                    .isEqualTo(PackedSetLayout.COUNT_OFFSET + PackedSetLayout.COUNT_BYTES);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {Short.BYTES, Integer.BYTES, Long.BYTES})
    void integersOfEachWidth_roundTrip(int width) {
        int values = 3;
        withMemory(PackedIntegersLayout.VALUES_OFFSET + values * width, address -> {
            PackedIntegersLayout.width(address, width);
            long min = -1L << width * Byte.SIZE - 1;
            long[] written = {min, 0, -1 - min};
            for (int i = 0; i < values; i++) {
                PackedIntegersLayout.put(address, width, i, written[i]);
            }
            assertThat(PackedIntegersLayout.width(address)).isEqualTo(width);
            for (int i = 0; i < values; i++) {
                assertThat(PackedIntegersLayout.get(address, width, i)).isEqualTo(written[i]);
            }
            assertThat(PackedIntegersLayout.VALUES_OFFSET)
                    .isEqualTo(PackedIntegersLayout.WIDTH_OFFSET + PackedIntegersLayout.WIDTH_BYTES);
        });
    }

    private static void withMemory(int bytes, java.util.function.LongConsumer test) {
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(bytes).address();
            LiveRanges.add(address, bytes);
            try {
                test.accept(address);
            } finally {
                LiveRanges.remove(address);
            }
        }
    }
}

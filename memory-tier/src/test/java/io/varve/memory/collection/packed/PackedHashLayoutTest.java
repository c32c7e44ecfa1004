package io.varve.memory.collection.packed;

import java.lang.foreign.Arena;

import io.varve.memory.offheap.LiveRanges;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the widths and round trips of a packed hash's numbers. Confined to the test thread. */
class PackedHashLayoutTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152, 268435455, 268435456, Integer.MAX_VALUE})
    void varint_roundTripsAndHasTheComputedLength(int value) {
        try (Arena arena = Arena.ofConfined()) {
            // The range ends with the varint, so that the checked mode notices one byte too many.
            int bytes = PackedHashLayout.varintBytes(value);
            long address = arena.allocate(bytes).address();
            LiveRanges.add(address, bytes);
            try {
                assertThat(PackedHashLayout.putVarint(address, value)).isEqualTo(address + bytes);
                assertThat(PackedHashLayout.getVarint(address)).isEqualTo(value);
                assertThat(bytes).isEqualTo(Math.max(1, (38 - Integer.numberOfLeadingZeros(value)) / 7));
            } finally {
                LiveRanges.remove(address);
            }
        }
    }

    @Test
    void varintWidth_growsEverySevenBits() {
        assertThat(PackedHashLayout.varintBytes(0)).isEqualTo(1);
        for (int bits = 1; bits <= 31; bits++) {
            assertThat(PackedHashLayout.varintBytes(1 << bits - 1)).as("%d bits", bits).isEqualTo((bits + 6) / 7);
            assertThat(PackedHashLayout.varintBytes((int) ((1L << bits) - 1))).as("%d bits", bits)
                    .isEqualTo((bits + 6) / 7);
        }
    }

    @Test
    void count_roundTripsAndIsFollowedByTheEntries() {
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(PackedHashLayout.ENTRIES_OFFSET).address();
            LiveRanges.add(address, PackedHashLayout.ENTRIES_OFFSET);
            try {
                for (int count : new int[] {0, 1, Integer.MAX_VALUE}) {
                    PackedHashLayout.count(address, count);
                    assertThat(PackedHashLayout.count(address)).isEqualTo(count);
                }
                assertThat(PackedHashLayout.ENTRIES_OFFSET)
                        .isEqualTo(PackedHashLayout.COUNT_OFFSET + PackedHashLayout.COUNT_BYTES);
            } finally {
                LiveRanges.remove(address);
            }
        }
    }
}

package io.varve.server.resp;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What of the heap clients may have. Confined to the test's thread. */
class ArgumentMemoryTest {
    private static final long MB = 1 << 20;

    @Test
    void aSmallHeapLeavesRoomForTheServerAndALargeOneIsDividedWhole() {
        assertThat(ArgumentMemory.heapOfClientsBytes(8 * MB)).isZero();
        assertThat(ArgumentMemory.heapOfClientsBytes(32 * MB)).isBetween(20 * MB, 22 * MB);
        assertThat(ArgumentMemory.heapOfClientsBytes(92 * MB)).isEqualTo(92 * MB);
        assertThat(ArgumentMemory.heapOfClientsBytes(4096 * MB)).isEqualTo(4096 * MB);
    }

    @Test
    void aHeapHasRoomForConnectionsInProportion() {
        assertThat(ArgumentMemory.mostConnections(8 * MB)).isZero();
        assertThat(ArgumentMemory.mostConnections(32 * MB)).isBetween(4_000L, 5_000L);
        // The launcher's heap of 96 MB, less what its young generation keeps empty: twice the default of maxclients.
        assertThat(ArgumentMemory.mostConnections(93 * MB)).isGreaterThan(20_000);
    }
}

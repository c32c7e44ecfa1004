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
    void connectionsHaveTwoThirdsOfTheLimitAndAreChargedToIt() {
        // What 32 and 96 MB of heap leave, the latter's enough for the default of maxclients.
        assertThat(new ArgumentMemory(12 * MB).mostConnections()).isEqualTo(4096);
        assertThat(new ArgumentMemory(55 * MB).mostConnections()).isGreaterThan(10_000);
        ArgumentMemory memory = new ArgumentMemory(3000);
        assertThat(memory.takeConnection()).isTrue();
        assertThat(memory.takeConnection()).as("no room").isFalse();
        memory.giveConnection();
        assertThat(memory.takenBytes()).isZero();
        assertThat(memory.takeConnection()).isTrue();
    }
}

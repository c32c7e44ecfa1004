package io.varve.server.resp;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the clients' share of the heap. Confined to the test's thread. */
class RequestHeapBudgetTest {
    private static final long MB = 1 << 20;

    @Test
    void smallHeapsReserveMemoryForTheServer() {
        assertThat(RequestHeapBudget.heapOfClientsBytes(8 * MB)).isZero();
        assertThat(RequestHeapBudget.heapOfClientsBytes(32 * MB)).isBetween(20 * MB, 22 * MB);
        assertThat(RequestHeapBudget.heapOfClientsBytes(92 * MB)).isEqualTo(92 * MB);
        assertThat(RequestHeapBudget.heapOfClientsBytes(4096 * MB)).isEqualTo(4096 * MB);
    }

    @Test
    void connectionLimitsAreProportionalToTheHeap() {
        assertThat(RequestHeapBudget.maxConnections(8 * MB)).isZero();
        assertThat(RequestHeapBudget.maxConnections(32 * MB)).isBetween(4_000L, 5_000L);
        // The launcher's heap of 96 MB, less what its young generation keeps empty: twice the default of maxclients.
        assertThat(RequestHeapBudget.maxConnections(93 * MB)).isGreaterThan(20_000);
    }
}

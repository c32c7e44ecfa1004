package io.varve.experiments.run.speed;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

/** Tests the reading of cachegrind's files. Confined to the test's thread. */
class SimulatedCacheMissesTest {
    private static final List<String> FILE = List.of("desc: D1 cache: 32768 B", "cmd: redis-server",
            "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw", "fl=dict.c", "fn=dictFind", "10 100 0 0 50 9 7 20 3 1",
            "11 100 0 0 50 9 2 20 3 0", "fn=siphash", "5 7 0 0 1 1 30 0 0 0", "summary: 1 2 3");

    @Test
    void theMissesOfAFunctionsLinesAreAdded() throws IOException {
        assertThat(SimulatedCacheMisses.counts(FILE)).containsExactly(entry("dictFind", 10L), entry("siphash", 30L));
        assertThatThrownBy(() -> SimulatedCacheMisses.counts(List.of("events: Ir", "fn=f", "1 2")))
                .isInstanceOf(IOException.class).hasMessageContaining("DLmr");
    }

    @Test
    void sharesAreOfTheReadsAloneAndTheLargestFirst() {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("less in the second process", -5L);
        counts.put("few", 10L);
        counts.put("many", 30L);
        assertThat(SimulatedCacheMisses.shares(counts)).containsExactly(entry("many", 75.0), entry("few", 25.0),
                entry("other", 0.0));
        for (int i = 0; i < 60; i++) {
            counts.put("function " + i, 1L);
        }
        assertThat(SimulatedCacheMisses.shares(counts)).hasSize(13).containsEntry("other", 50.0);
        assertThat(SimulatedCacheMisses.shares(Map.of())).isEmpty();
    }
}

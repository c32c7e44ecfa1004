package io.varve.server.admin.latency;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the graph and the text about spikes. Confined to the test's thread. */
class LatencyReportTest {
    private final LatencyMonitor monitor = new LatencyMonitor();

    private String diagnosis(long thresholdMillis, long slowlogMicros) {
        return LatencyReport.diagnosis(monitor.events(), thresholdMillis, slowlogMicros, 1234, 1_000);
    }

    @Test
    void theGraphHasAColumnForEachSpike() {
        monitor.add("command", 500, 20);
        monitor.add("command", 999, 100);
        monitor.add("command", 1_000, 60);
        assertThat(LatencyReport.graph(monitor.events().getFirst(), 1_000)).isEqualTo("""
                command - high 100 ms, low 20 ms (all time high 100 ms)
                --------------------------------------------------------------------------------
                 #\s
                 |\s
                 |#
                _||

                810
                mss
                """);
    }

    @Test
    void oneSpikeAndManyAreDrawn() {
        monitor.add("command", 1, 7);
        assertThat(LatencyReport.graph(monitor.events().getFirst(), 200_000)).contains("high 7 ms, low 7 ms", "\n_\n",
                "\n2\nd\n");
        for (int second = 2; second <= 200; second++) {
            monitor.add("command", second, second);
        }
        List<String> lines = LatencyReport.graph(monitor.events().getFirst(), 201).lines().toList();
        assertThat(lines).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
        assertThat(lines.stream().skip(2).filter(line -> line.startsWith("_")).count()).isEqualTo(1);
    }

    @Test
    void theDoctorReportsFindingsAndAdvice() {
        assertThat(diagnosis(0, 10_000)).contains("CONFIG SET latency-monitor-threshold");
        assertThat(diagnosis(5, 10_000)).startsWith("No latency spike of 5 ms or more");
        monitor.add("command", 998, 20);
        monitor.add("command", 999, 100);
        assertThat(diagnosis(5, 10_000)).contains("1. command: 2 latency spikes (average 60ms, mean deviation 40ms,"
                + " period 1.00 sec). Worst all time event 100ms.", "CONFIG SET slowlog-log-slower-than 5000")
                .doesNotContain("hiccup");
        monitor.add("fast-command", 1_000, 9);
        assertThat(diagnosis(5, 100)).contains("2. fast-command: 1 latency spikes", "SLOWLOG GET", "1.23 ms");
    }
}

package io.varve.experiments.run.context;

import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.RunMetrics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** Computes the shares of others and of the hypervisor from the kernel's files. Confined to the test's thread. */
final class MachineUsageTest {
    private static final String BEFORE = "cpu  100 10 50 1000 5 1 2 20 7 0\ncpu0 100 10 50 1000 5 1 2 20 7 0\n";
    private static final String AFTER = "cpu  180 20 70 1070 5 1 2 40 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";

    @Test
    void othersPercent_isTimeOfProcessesWithoutOwn() {
        MachineUsage.Ticks before = MachineUsage.Ticks.parse(BEFORE, 30);
        MachineUsage.Ticks after = MachineUsage.Ticks.parse(AFTER, 80);
        // Of 200 ticks, processes used 110, 50 of them our own; 20 were stolen.
        assertThat(after.othersPercent(before)).isEqualTo(30);
        assertThat(after.stolenPercent(before)).isEqualTo(10);
    }

    @Test
    void othersPercent_ownExceedsKernelsSum_isZero() {
        assertThat(MachineUsage.Ticks.parse(AFTER, 500).othersPercent(MachineUsage.Ticks.parse(BEFORE, 30))).isZero();
    }

    @Test
    void ownTicks_includeThoseOfEndedChildren() {
        assertThat(MachineUsage.ownTicks("4711 (a (b) 9 8) S 1 2 3 4 5 6 7 8 9 10 150 30 7000 8000 20 0 9 0 100"))
                .isEqualTo(15_180);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void put_onLinux_recordsBothShares() {
        MachineUsage usage = MachineUsage.start();
        new Cancellation().await(50);
        RunMetrics metrics = new RunMetrics();
        usage.put(metrics);
        assertThat(metrics.asMap()).containsOnlyKeys(BusyMachine.OTHERS, BusyMachine.STOLEN)
                .allSatisfy((_, percent) -> assertThat(percent).isBetween(0.0, 100.0));
    }
}

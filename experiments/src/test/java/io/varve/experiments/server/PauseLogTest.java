package io.varve.experiments.server;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Parses a JVM's log of its safepoints. Confined to the test's thread. */
final class PauseLogTest {
    private static final List<String> LINES = List.of(
            "[1795271800000ms][safepoint   ] Safepoint \"ICBufferFull\", Time since last: 1000000 ns, Reaching safepoint: 900 ns, Cleanup: 100 ns, At safepoint: 8000000 ns, Leaving safepoint: 10 ns, Total: 9000000 ns, Threads: 0 runnable, 14 total",
            "[1795271801000ms][gc          ] GC(3) Pause Young (Allocation Failure) 10M->2M(31M) 1.234ms",
            "[1795271801000ms][safepoint   ] Safepoint \"SerialCollectForAllocation\", Time since last: 1000000 ns, Reaching safepoint: 4000 ns, At safepoint: 1240000 ns, Total: 1250000 ns, Threads: 1 runnable, 14 total",
            "[1795271802000ms][safepoint   ] Safepoint \"Cleanup\", Time since last: 1 ns, Reaching safepoint: 4 ns, At safepoint: 5 ns, Total: 250000 ns");

    @Test
    void theLongestOfTheTimeThatCountsIsFound() {
        PauseLog counted = PauseLog.of(LINES.stream(), 1795271800500L, 1795271809000L);
        assertThat(counted.longestMillis()).isEqualTo(1.25);
        assertThat(counted.longestReason()).isEqualTo("SerialCollectForAllocation");
        assertThat(counted.count()).isEqualTo(2);
        assertThat(counted.totalMillis()).isCloseTo(1.5, within(1e-9));
        assertThat(PauseLog.of(LINES.stream(), 0, Long.MAX_VALUE).longestMillis()).isEqualTo(9);
    }

    @Test
    void withoutASafepointThereIsNoPause() {
        assertThat(PauseLog.of(LINES.stream().limit(2).skip(1), 0, Long.MAX_VALUE))
                .isEqualTo(new PauseLog(0, 0, "", 0));
    }

    @Test
    void theOptionsKeepTheLauncherFromSplittingThem() {
        assertThat(PauseLog.options("pauses.log").split(" ", -1)).hasSize(2)
                .allMatch(option -> option.startsWith("-Xlog:"));
    }
}

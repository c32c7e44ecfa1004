package io.varve.ycsb.database;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.varve.ycsb.option.DatabaseOptions;
import io.varve.ycsb.option.Side;
import io.varve.ycsb.option.StressOptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the remote delay before and after the switch, on a clock that the test advances. Confined to the test's thread,
 * except where a test says otherwise.
 */
class StressSwitchTest {

    private static final DatabaseOptions LOCAL = new DatabaseOptions(Side.LOCAL, "jdbc:l", null, null, 120_000, 3);
    private static final DatabaseOptions REMOTE = new DatabaseOptions(Side.REMOTE, "jdbc:r", null, null, 1_000_000, 6);

    private long now;

    @Test
    void stressNeverBeginsByDefault() {
        StressSwitch stress = new StressSwitch(new StressOptions(StressOptions.NEVER, StressOptions.NEVER, 2),
                () -> now);
        for (int i = 0; i < 100; i++) {
            now += TimeUnit.DAYS.toNanos(1);
            stress.count();
        }
        assertThat(stress.switched()).isNull();
        assertThat(stress.delayNanos(REMOTE)).isEqualTo(1_000_000);
    }

    @Test
    void stressBegins_afterNumberOfOperations() {
        StressSwitch stress = new StressSwitch(new StressOptions(3, StressOptions.NEVER, 2), () -> now);
        for (int i = 0; i < 3; i++) {
            stress.count();
            now += 10;
            assertThat(stress.delayNanos(REMOTE)).isEqualTo(1_000_000);
        }
        stress.count();
        assertThat(stress.delayNanos(REMOTE)).isEqualTo(2_000_000);
        assertThat(stress.delayNanos(LOCAL)).isEqualTo(120_000);
        stress.count();
        assertThat(stress.delayNanos(REMOTE)).isEqualTo(2_000_000);
        assertThat(stress.switched()).isEqualTo(new StressSwitch.Switched(3, 29));
    }

    /** Of two threads that count concurrently, the later one may be the first to switch. */
    @Test
    void operationsBeforeStress_areIndependentOfSwitchingThread() throws Exception {
        ExecutorService others = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 2_000; round++) {
                StressSwitch stress = new StressSwitch(new StressOptions(2_000, StressOptions.NEVER, 2), () -> 1);
                CyclicBarrier together = new CyclicBarrier(2);
                Callable<Void> counts = () -> {
                    together.await();
                    for (int i = 0; i < 2_000; i++) {
                        stress.count();
                    }
                    return null;
                };
                for (Future<Void> each : others.invokeAll(List.of(counts, counts))) {
                    each.get();
                }
                assertThat(stress.switched()).isEqualTo(new StressSwitch.Switched(2_000, 0));
            }
        } finally {
            others.shutdown();
        }
    }

    @Test
    void stressBegins_afterSecondsSinceFirstOperation() {
        now = TimeUnit.SECONDS.toNanos(100);
        StressSwitch stress = new StressSwitch(new StressOptions(StressOptions.NEVER, 5, 3), () -> now);
        stress.count();
        now += TimeUnit.SECONDS.toNanos(5) - 1;
        stress.count();
        assertThat(stress.delayNanos(REMOTE)).isEqualTo(1_000_000);
        now++;
        stress.count();
        assertThat(stress.delayNanos(REMOTE)).isEqualTo(3_000_000);
        assertThat(stress.switched()).isEqualTo(new StressSwitch.Switched(2, TimeUnit.SECONDS.toNanos(5)));
    }

    @Test
    void afterNoneIsFromTheFirstOn() {
        StressSwitch stress = new StressSwitch(new StressOptions(0, StressOptions.NEVER, 2), () -> now);
        stress.count();
        assertThat(stress.delayNanos(REMOTE)).isEqualTo(2_000_000);
    }
}

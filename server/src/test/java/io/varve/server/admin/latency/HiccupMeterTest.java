package io.varve.server.admin.latency;

import java.time.Duration;

import io.varve.server.system.TimeSlice;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the counts of the thread that sleeps 1 ms at a time, for given oversleeps. Confined to the test's thread. */
final class HiccupMeterTest {
    private final HiccupMeter meter = new HiccupMeter(new TimeSlice(0));

    @Test
    void theLongestIsKeptUntilItIsReset() {
        meter.add(200_000);
        meter.add(7_123_000);
        meter.add(1_000_000);
        meter.add(-5_000);
        assertThat(meter.longestMicros()).isEqualTo(7123);
        assertThat(meter.longOnes()).isEqualTo(2);
        meter.reset();
        assertThat(meter.longestMicros()).isZero();
        assertThat(meter.longOnes()).isZero();
    }

    @Test
    void measurementsRunOnlyWhileEnabled() {
        meter.follow(false);
        assertThat(meter.isMeasuring()).isFalse();
        meter.follow(true);
        meter.follow(true);
        await().atMost(Duration.ofSeconds(30)).until(() -> meter.longestMicros() > 0);
        meter.follow(false);
        await().atMost(Duration.ofSeconds(30)).until(() -> !meter.isMeasuring());
        meter.follow(true);
        assertThat(meter.isMeasuring()).isTrue();
        meter.follow(false);
    }
}

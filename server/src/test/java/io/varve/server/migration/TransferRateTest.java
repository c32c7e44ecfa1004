package io.varve.server.migration;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link TransferRate} with a clock that the test sets. Confined to the test's thread. */
class TransferRateTest {
    private final SettableTicker clock = new SettableTicker();
    private final AtomicLong limit = new AtomicLong(1000);
    private final TransferRate rate = new TransferRate(clock, limit::get);

    @Test
    void bytesAboveTheLimit_haveToWait() {
        assertThat(rate.pauseMillis(100)).isEqualTo(100);
        assertThat(rate.pauseMillis(100)).isEqualTo(200);
        clock.pass(200);
        assertThat(rate.pauseMillis(1)).isZero();
        assertThat(rate.pauseMillis(99)).isEqualTo(100);
    }

    @Test
    void anIdleTime_permitsAShortBurst() {
        clock.pass(TimeUnit.HOURS.toMillis(1));
        assertThat(rate.pauseMillis(100)).isZero();
        assertThat(rate.pauseMillis(100)).isEqualTo(100);
    }

    @Test
    void aLargeValue_waitsInSteps() {
        assertThat(rate.pauseMillis(1 << 30)).isEqualTo(1000);
        limit.set(0);
        assertThat(rate.pauseMillis(1 << 30)).isZero();
    }
}

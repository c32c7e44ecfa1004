package io.varve.memory;

import java.util.concurrent.TimeUnit;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Ticker;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests when expiry cycles begin. Confined to the test's thread. */
class ExpiryCycleTest {
    private static final long WHOLE_SECOND = 1_750_000_000_000L;

    /** A clock that only the test advances. Confined to the test's thread. */
    private static final class StandingTicker implements Ticker {
        private long millis;

        @Override
        public long wallMillis() {
            return millis;
        }

        @Override
        public long nanoTime() {
            return TimeUnit.MILLISECONDS.toNanos(millis);
        }
    }

    /** Wherever in a cycle's time the cache was opened, and maintenance came late the last time. */
    @Test
    void anEndedTimeBucketIsEmptiedAtOnce() {
        for (int opened = 1; opened < 100; opened += 7) {
            StandingTicker ticker = new StandingTicker();
            ticker.millis = WHOLE_SECOND + opened;
            try (CacheFixture fixture = new CacheFixture(
                    Cache.open(CacheConfig.defaults(8L << 20).withExpireBaseMillis(1000).withTicker(ticker)))) {
                fixture.set(0, CacheFixture.bytes("early"), new byte[1], WHOLE_SECOND + 500);
                fixture.set(0, CacheFixture.bytes("late"), new byte[1], WHOLE_SECOND + 999);
                for (long millis : new long[] {opened, 203 + opened, 999}) {
                    ticker.millis = WHOLE_SECOND + millis;
                    fixture.cache.maintain();
                    assertThat(fixture.cache.stats().expired()).as("opened at %d", opened).isZero();
                }
                ticker.millis = WHOLE_SECOND + 1000;
                fixture.cache.maintain();
                assertThat(fixture.cache.stats().expired()).as("opened at %d", opened).isEqualTo(2);
            }
        }
    }
}

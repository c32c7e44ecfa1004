package io.varve.ycsb.database;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests waits on a clock that the test advances. Confined to the test's thread. */
class PreciseDelayTest {

    private static final long READ_NANOS = 50;

    private final List<Long> parks = new ArrayList<>();
    private long now = Long.MAX_VALUE - 100_000; // the clock passes its end during the tests
    private long lateNanos = 55_000;

    private final PreciseDelay delay = new PreciseDelay(() -> now += READ_NANOS, nanos -> {
        parks.add(nanos);
        now += Math.max(nanos + lateNanos, READ_NANOS);
    });

    @Test
    void lateWakeUpsAreLearned() {
        assertThat(delay.await(120_000)).isEqualTo(175_000 + READ_NANOS);
        for (int i = 0; i < 50; i++) {
            delay.await(120_000);
        }
        parks.clear();
        assertThat(delay.await(120_000)).isBetween(120_000L, 122_000L);
        assertThat(parks).singleElement().satisfies(nanos -> assertThat(nanos).isBetween(63_000L, 66_000L));
        assertThat(delay.await(1_000_000)).isBetween(1_000_000L, 1_002_000L);
    }

    @Test
    void aWaitIsNeverShorterThanRequested() {
        for (long late : new long[] {0, 200, 300_000, 7000, 55_000}) {
            lateNanos = late;
            for (int i = 0; i < 30; i++) {
                assertThat(delay.await(120_000)).isGreaterThanOrEqualTo(120_000);
            }
        }
    }

    /** As a park may. */
    @Test
    void aParkThatEndsTooSoonIsFollowedByAnother() {
        lateNanos = -40_000;
        assertThat(delay.await(120_000)).isBetween(120_000L, 121_000L);
        assertThat(parks).hasSizeGreaterThan(1);
    }

    @Test
    void oneLongWaitForACoreIsForgotten() {
        lateNanos = 50_000_000;
        for (int i = 0; i < 20; i++) {
            delay.await(120_000);
        }
        lateNanos = 5000;
        parks.clear();
        for (int i = 0; i < 100; i++) {
            delay.await(120_000);
        }
        assertThat(parks.get(parks.size() - 1)).isGreaterThan(100_000);
        assertThat(delay.await(120_000)).isBetween(120_000L, 122_000L);
    }

    @Test
    void shortWaitsAreSpun() {
        assertThat(delay.await(5000)).isBetween(5000L, 5100L);
        assertThat(delay.await(0)).isZero();
        assertThat(parks).isEmpty();
    }

    @Test
    void theRealOneWaits() {
        assertThat(new PreciseDelay().await(200_000)).isGreaterThanOrEqualTo(200_000);
    }
}

package io.varve.experiments.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the assignment of cores to the server and its load. Confined to the test's thread. */
final class PinningTest {
    @Test
    void oneCoreEachNeverSharesACore() {
        for (int cores : new int[] {1, 2, 3, 4, 16}) {
            Pinning pinning = Pinning.oneCoreEach(cores, 1);
            assertThat(pinning.server().isEmpty()).isEqualTo(pinning.load().isEmpty());
            assertThat(pinning.server()).doesNotContain("-", ",");
            if (!pinning.server().isEmpty()) {
                assertThat(pinning.server()).isNotEqualTo(pinning.load());
            }
        }
    }

    @Test
    void eventLoopsGetTheCoresThatFollowAndTheLoadTheNext() {
        assertThat(new Pinning("0", "1").serverCores(1, 2)).isEqualTo("0");
        assertThat(new Pinning("0", "1").serverCores(2, 2)).isEqualTo("0-1");
        assertThat(new Pinning("1", "5").serverCores(4, 16)).isEqualTo("1-4");
        assertThat(new Pinning("1", "3").serverCores(8, 4)).isEqualTo("1-3");
        assertThat(Pinning.NONE.serverCores(2, 2)).isEmpty();
    }

    @Test
    void coresOfConcurrentRun_fourEach_orOneForServerAndLoad_orNone() {
        assertThat(Pinning.coresOfConcurrentRun(0, 16, 4)).isEqualTo(new Pinning("0-1", "2-3"));
        assertThat(Pinning.coresOfConcurrentRun(3, 16, 4)).isEqualTo(new Pinning("12-13", "14-15"));
        assertThat(Pinning.coresOfConcurrentRun(3, 8, 4)).isEqualTo(new Pinning("6", "7"));
        assertThat(Pinning.coresOfConcurrentRun(0, 2, 1)).isEqualTo(new Pinning("0", "1"));
        assertThat(Pinning.coresOfConcurrentRun(3, 7, 4)).isEqualTo(Pinning.NONE);
    }

    @Test
    void theLoadGetsAsManyCoresAsTheEventLoopsWhereThereAreAny() {
        assertThat(Pinning.coresEach(16, 1)).isEqualTo(new Pinning("1", "2"));
        assertThat(Pinning.coresEach(16, 4)).isEqualTo(new Pinning("1", "5-8"));
        assertThat(Pinning.coresEach(16, 8)).isEqualTo(new Pinning("1", "9-15"));
        assertThat(Pinning.coresEach(4, 2)).isEqualTo(new Pinning("1", "3"));
        assertThat(Pinning.coresEach(2, 1)).isEqualTo(new Pinning("0", "1"));
        assertThat(Pinning.coresEach(2, 2)).isEqualTo(new Pinning("0", "1"));
        assertThat(Pinning.coresEach(16, 8).loadCores()).isEqualTo(7);
        assertThat(Pinning.coresEach(16, 1).loadCores()).isEqualTo(1);
        assertThat(Pinning.NONE.loadCores()).isEqualTo(1);
    }
}

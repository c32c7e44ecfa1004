package io.varve.server.admin.metrics;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the states of a server's life cycle, with events in any order. Confined to the test's thread. */
class HealthTest {
    private final Health health = new Health();

    @Test
    void itIsReadyOnceItListensAndHasLoaded() {
        assertThat(health.state()).isEqualTo(Health.State.STARTING);
        health.listening();
        assertThat(health.state()).isEqualTo(Health.State.LOADING);
        health.loaded();
        assertThat(health.state()).isEqualTo(Health.State.READY);
    }

    @Test
    void anEarlierLoadIsRemembered() {
        health.loaded();
        assertThat(health.state()).isEqualTo(Health.State.STARTING);
        health.listening();
        assertThat(health.state()).isEqualTo(Health.State.READY);
    }

    @Test
    void itStopsForGood() {
        health.stopping();
        health.listening();
        health.loaded();
        assertThat(health.state()).isEqualTo(Health.State.STOPPING);
    }
}

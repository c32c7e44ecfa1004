package io.varve.server.admin;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The states of a server's life, in whatever order they are told. Confined to the test's thread. */
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
    void whatWasLoadedBeforeIsRemembered() {
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

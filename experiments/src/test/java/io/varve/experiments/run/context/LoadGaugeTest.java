package io.varve.experiments.run.context;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LoadGaugeTest {
    private final LoadGauge gauge = new LoadGauge();

    @Test
    void newGauge_readsZero() {
        assertThat(gauge.operationsPerSecond()).isZero();
        assertThat(gauge.done()).isZero();
    }

    @Test
    void rateAndProgress_areIndependentAndHoldTheLatestValue() {
        gauge.set(1234.5);
        assertThat(gauge.done()).isZero();
        gauge.done(Long.MAX_VALUE);
        assertThat(gauge.operationsPerSecond()).isEqualTo(1234.5);
        assertThat(gauge.done()).isEqualTo(Long.MAX_VALUE);
        gauge.set(0);
        gauge.done(7);
        assertThat(gauge.operationsPerSecond()).isZero();
        assertThat(gauge.done()).isEqualTo(7);
    }
}

package io.varve.experiments.run.flash;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which client's time counts. Confined to the test's thread. */
final class ClientTimeTest {
    @Test
    void slowest_excludesAdvice() {
        ClientTime advised = new ClientTime(9_000_000_000L, 6_000_000_000L);
        ClientTime busy = new ClientTime(5_000_000_000L, 500_000_000L);
        ClientTime slowest = ClientTime.slowest(List.of(advised, busy));
        assertThat(slowest).isEqualTo(busy);
        assertThat(slowest.seconds()).isEqualTo(4.5);
        assertThat(slowest.adviceSeconds()).isEqualTo(0.5);
    }
}

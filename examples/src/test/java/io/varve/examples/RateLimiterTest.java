package io.varve.examples;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link RateLimiter}. Confined to the test's thread, except where a test says otherwise. */
class RateLimiterTest {
    private static final int THREADS = 8;
    private static final int CONNECTIONS = 3;

    private final SetClock clock = new SetClock(Instant.EPOCH);

    @Test
    void aNewPeriodBeginsAtZero() throws Exception {
        try (VarveServer varve = Varve.start();
                RateLimiter limiter = new RateLimiter(Varve.HOST, varve.port(), CONNECTIONS, 2, Duration.ofMinutes(1),
                        clock)) {
            assertThat(List.of(limiter.allows("ann"), limiter.allows("ann"), limiter.allows("ann"),
                    limiter.allows("bob"))).containsExactly(true, true, false, true);
            clock.advance(Duration.ofMinutes(1));
            assertThat(limiter.allows("ann")).isTrue();
        }
    }

    @Test
    void threadsThatShareThePoolAreCountedTogether() throws Exception {
        try (VarveServer varve = Varve.start();
                RateLimiter limiter = new RateLimiter(Varve.HOST, varve.port(), CONNECTIONS, 100, Duration.ofMinutes(1),
                        clock);
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Boolean>> requested = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                requested.add(threads.submit(() -> limiter.allows("ann")));
            }
            int allowed = 0;
            for (Future<Boolean> answer : requested) {
                allowed += answer.get() ? 1 : 0;
            }
            assertThat(allowed).isEqualTo(100);
        }
    }
}

package io.varve.server.system;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that the system reports the requested slice. Confined to a thread for each test. */
class TimeSliceTest {
    private record Requested(boolean taken, long before, long after) {}

    /** On a thread of its own, so that no other test's gets another slice. */
    private static Requested request(long micros) throws Exception {
        CompletableFuture<Requested> requested = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                long before = TimeSlice.currentMicros();
                boolean taken = new TimeSlice(micros).apply();
                requested.complete(new Requested(taken, before, TimeSlice.currentMicros()));
            } catch (RuntimeException failed) {
                requested.completeExceptionally(failed);
            }
        });
        return requested.get(20, TimeUnit.SECONDS);
    }

    @Test
    void withoutASliceNoRequestIsMade() throws Exception {
        Requested nothing = request(0);
        assertThat(nothing.taken()).isFalse();
        assertThat(nothing.after()).isEqualTo(nothing.before());
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = {"amd64", "aarch64"})
    void theSystemTakesIt() throws Exception {
        Requested short300 = request(300);
        assertThat(short300.taken()).isTrue();
        // Before 6.12 Linux took it and did not say so.
        assertThat(short300.after()).isEqualTo(short300.before() == 0 ? 0 : 300);
        assertThat(request(0).after()).as("another thread's").isEqualTo(short300.before());
    }
}

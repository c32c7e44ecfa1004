package io.varve.server.system;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that the system reports the requested slice. Confined to a thread for each test. */
class TimeSliceTest {
    private record Asked(boolean taken, long before, long after) {}

    /** On a thread of its own, so that no other test's gets another slice. */
    private static Asked ask(long micros) throws Exception {
        CompletableFuture<Asked> asked = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                long before = TimeSlice.currentMicros();
                boolean taken = new TimeSlice(micros).apply();
                asked.complete(new Asked(taken, before, TimeSlice.currentMicros()));
            } catch (RuntimeException failed) {
                asked.completeExceptionally(failed);
            }
        });
        return asked.get(20, TimeUnit.SECONDS);
    }

    @Test
    void withoutASliceNoRequestIsMade() throws Exception {
        Asked nothing = ask(0);
        assertThat(nothing.taken()).isFalse();
        assertThat(nothing.after()).isEqualTo(nothing.before());
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = {"amd64", "aarch64"})
    void theSystemTakesIt() throws Exception {
        Asked short300 = ask(300);
        assertThat(short300.taken()).isTrue();
        // Before 6.12 Linux took it and did not say so.
        assertThat(short300.after()).isEqualTo(short300.before() == 0 ? 0 : 300);
        assertThat(ask(0).after()).as("another thread's").isEqualTo(short300.before());
    }
}

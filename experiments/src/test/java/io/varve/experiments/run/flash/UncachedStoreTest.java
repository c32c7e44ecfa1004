package io.varve.experiments.run.flash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.store.DurabilityLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the time of advice on a clock that ticks at each call. Confined to the test's thread, except the readers. */
final class UncachedStoreTest {
    private static final long TICK = 1000;
    private static final byte[] KEY = {1};

    @TempDir
    private Path directory;

    @Test
    void adviceNanos_areThoseOfTheCallingThread() throws IOException, InterruptedException, ExecutionException {
        AtomicLong clock = new AtomicLong();
        try (UncachedStore store = new UncachedStore(JeStore.open(directory, JeSettings.of(1 << 20)),
                CachedPages.of(directory), () -> clock.addAndGet(TICK));
                ExecutorService reader = Executors.newSingleThreadExecutor()) {
            store.put(KEY, new byte[] {2}, DurabilityLevel.BUFFERED);
            store.get(KEY);
            assertThat(store.adviceNanos()).as("before the start").isZero();
            store.start();
            for (int i = 0; i < 3; i++) {
                assertThat(store.get(KEY)).containsExactly(2);
            }
            assertThat(store.adviceNanos()).isEqualTo(3 * TICK);
            long ofReader = reader.submit(() -> {
                store.get(KEY);
                return store.adviceNanos();
            }).get();
            assertThat(ofReader).isEqualTo(TICK);
            assertThat(store.adviceNanos()).isEqualTo(3 * TICK);
        }
    }
}

package io.varve.flash.store;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests files that are given up repeatedly while another thread uses them. */
class ReopeningTest {
    private static final int TIMES = 300_000;

    /** A caller that does not notice new files would treat changes lost with the old ones as done. */
    @Test
    void reopenedFilesAreReportedToCaller() throws Exception {
        AtomicLong opened = new AtomicLong();
        Reopening<Long> files = new Reopening<>("The files",
                new Reopening.Handling<>(opened::getAndIncrement, (_, _) -> false, _ -> {}), 0, System::nanoTime);
        AtomicBoolean ended = new AtomicBoolean();
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Future<Long> untold = executor.submit(() -> {
                long count = 0;
                while (!ended.get()) {
                    long number = files.files();
                    count += files.reopened() < number ? 1 : 0;
                }
                return count;
            });
            try {
                for (long i = 0; i < TIMES; i++) {
                    long before = i;
                    long used = files.call(number -> {
                        if (number == before) {
                            throw new IllegalStateException("given up, for the test");
                        }
                        return number;
                    });
                    assertThat(used).isEqualTo(i + 1);
                }
            } finally {
                ended.set(true);
            }
            assertThat(untold.get(1, TimeUnit.MINUTES)).isZero();
        }
        assertThat(files.reopened()).isEqualTo(TIMES);
    }
}

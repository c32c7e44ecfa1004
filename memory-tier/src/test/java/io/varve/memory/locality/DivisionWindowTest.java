package io.varve.memory.locality;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class DivisionWindowTest {
    @Test
    void itEndsWithItsLastAccess() {
        DivisionWindow window = new DivisionWindow(10);
        assertThat(window.add(9)).isFalse();
        assertThat(window.add(0)).isFalse();
        assertThat(window.add(1)).isTrue();
        assertThat(window.add(0)).isFalse();
        assertThat(window.add(9)).isFalse();
        assertThat(window.add(25)).isTrue();
        assertThat(window.add(5)).isFalse();
        assertThat(window.add(1)).isTrue();
    }

    @Test
    void oneOfManyThreadsIsToldOfEachEnd() throws InterruptedException {
        DivisionWindow window = new DivisionWindow(1000);
        AtomicInteger ends = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int added = 0; added < 10_000; added++) {
                    ends.addAndGet(window.add(7) ? 1 : 0);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(ends).hasValue(280);
    }

    @Test
    void aWindowOfZeroIsRefused() {
        assertThatThrownBy(() -> new DivisionWindow(0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A window has 1 access or more, not 0");
    }
}

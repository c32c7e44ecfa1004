package io.varve.ycsb;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisCommandInterruptedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Who waits at a loop, and what ends it. Confined to the test's thread, but where a test says otherwise. */
@Timeout(60)
class OwnEventLoopTest {

    private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(10);

    private OwnEventLoop loop;

    @BeforeEach
    void open() {
        loop = OwnEventLoop.open().orElseThrow();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void whatDoesNotComeIsNotWaitedForAnyLonger() {
        assertThat(loop.runUntil(() -> false, 1)).isFalse();
        assertThat(loop.runUntil(() -> true, 0)).isTrue();
    }

    @RepeatedTest(20)
    void whatAnotherThreadDoesIsSeen() throws Exception {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        Thread other = new Thread(() -> {
            answer.complete(null);
            loop.wake();
        });
        other.start();
        assertThat(loop.runUntil(answer::isDone, LONG_NANOS)).isTrue();
        other.join();
    }

    /** Wherever it comes: before the wait, or in the midst of it. */
    @RepeatedTest(20)
    void anInterruptEndsAWaitAndIsNotForgotten() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Thread waiting = Thread.currentThread();
        Thread other = new Thread(() -> {
            while (asked.get() < 2) {
                Thread.onSpinWait();
            }
            waiting.interrupt();
        });
        other.start();
        assertThatThrownBy(() -> loop.runUntil(() -> asked.incrementAndGet() < 0, LONG_NANOS))
                .isInstanceOf(RedisCommandInterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
        other.join();
    }

    @Test
    void otherThreadsAreRefused() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> running = thread.submit(loop::run);
            assertThatThrownBy(running::get).hasMessageContaining("is used by the thread that opened it, not by");
        } finally {
            thread.shutdownNow();
        }
    }
}

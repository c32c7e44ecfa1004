package io.varve.ycsb.connection;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.RedisCommandInterruptedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests waits at a loop, and their end. Confined to the test's thread, except where a test says otherwise. */
@Timeout(60)
@ParameterizedClass
@ValueSource(longs = {0, OwnEventLoopTest.LONG_NANOS})
class OwnEventLoopTest {

    static final long LONG_NANOS = 600_000_000_000L;
    private static final long SHORT_NANOS = 400_000;
    private static final int OFTEN = 200;
    private static final int SELDOM = 10;

    private final long pollNanos;
    private OwnEventLoop loop;

    OwnEventLoopTest(long pollNanos) {
        this.pollNanos = pollNanos;
    }

    @BeforeEach
    void open() {
        loop = OwnEventLoop.open(pollNanos).orElseThrow();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void missingReplyIsAwaitedOnlyOnce() {
        assertThat(loop.runUntil(() -> false, 1)).isFalse();
        assertThat(loop.runUntil(() -> true, 0)).isTrue();
    }

    @RepeatedTest(20)
    void changesOfAnotherThreadAreVisible() throws Exception {
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
        AtomicInteger requested = new AtomicInteger();
        Thread waiting = Thread.currentThread();
        Thread other = new Thread(() -> {
            while (requested.get() < 2) {
                Thread.onSpinWait();
            }
            waiting.interrupt();
        });
        other.start();
        assertThatThrownBy(() -> loop.runUntil(() -> requested.incrementAndGet() < 0, LONG_NANOS))
                .isInstanceOf(RedisCommandInterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
        other.join();
    }

    /**
     * A sleeping client checks ten times a second whether it was interrupted: so many checks would take over ten
     * seconds.
     */
    @Test
    void pollingClientPollsAndSleepingClientDoesNot() {
        AtomicInteger requested = new AtomicInteger();
        boolean polls = pollNanos > 0;
        assertThat(loop.runUntil(() -> requested.incrementAndGet() >= OFTEN,
                polls ? LONG_NANOS : TimeUnit.MILLISECONDS.toNanos(300))).isEqualTo(polls);
    }

    /** A selector does not sleep for less than half a millisecond: a loop would spin until the end of its time. */
    @RepeatedTest(20)
    void sleepingClientSleepsForItsLastMomentToo() {
        try (OwnEventLoop sleeping = OwnEventLoop.open(0).orElseThrow()) {
            AtomicInteger requested = new AtomicInteger();
            assertThat(sleeping.runUntil(() -> requested.incrementAndGet() >= SELDOM, SHORT_NANOS)).isFalse();
        }
    }

    /**
     * From the first look on, as that comes after the wait has begun: the thread may have had to wait for a core
     * before.
     */
    @Test
    void pollingClientSleepsAfterItsTime() {
        long polled = TimeUnit.MILLISECONDS.toNanos(10);
        try (OwnEventLoop soon = OwnEventLoop.open(polled).orElseThrow()) {
            AtomicLong firstLook = new AtomicLong();
            AtomicInteger askedAfterwards = new AtomicInteger();
            assertThat(soon.runUntil(() -> {
                firstLook.compareAndSet(0, System.nanoTime());
                return System.nanoTime() - firstLook.get() > 2 * polled && askedAfterwards.incrementAndGet() >= OFTEN;
            }, 30 * polled)).isFalse();
        }
    }

    @Test
    void otherThreadsAreRefused() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> running = thread.submit(loop::run);
            assertThatThrownBy(running::get).hasMessageContaining("belongs to the thread that opened it, not to");
        } finally {
            thread.shutdownNow();
        }
    }
}

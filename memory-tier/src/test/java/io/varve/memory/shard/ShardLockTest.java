package io.varve.memory.shard;

import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

class ShardLockTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 100_000;

    private final ShardLock lock = new ShardLock();
    /** Plain on purpose: only the lock makes it right. */
    private long count;
    private long twin;

    @Test
    void oneThreadAtATimeSeesWhatTheOneBeforeWrote() throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        long[] torn = new long[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int me = t;
            threads[t] = new Thread(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    if (i % 3 != 0 || !lock.tryLock()) {
                        lock.lock();
                    }
                    torn[me] += count == twin ? 0 : 1;
                    count++;
                    twin++;
                    lock.unlock();
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(count).isEqualTo((long) THREADS * ROUNDS).isEqualTo(twin);
        assertThat(torn).containsOnly(0);
    }

    @Test
    void whoWaitsLongGetsItInTheEnd() throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(1);
        lock.lock();
        Thread other = new Thread(() -> {
            waiting.countDown();
            lock.lock();
            count = 1;
            lock.unlock();
        });
        other.start();
        waiting.await();
        while (other.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        assertThat(lock.tryLock()).isFalse();
        lock.unlock();
        other.join();
        assertThat(count).isEqualTo(1);
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.isHeldByMe()).isTrue();
        lock.unlock();
        assertThat(lock.isHeldByMe()).isFalse();
    }

    @Test
    void whoHasLittleTimeGoesAwayWithoutIt() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            lock.lock();
            held.countDown();
            while (end.getCount() > 0) {
                Thread.onSpinWait();
            }
            lock.unlock();
        });
        other.start();
        held.await();
        assertThat(lock.lockWithin(0)).isFalse();
        assertThat(lock.lockWithin(20)).isFalse();
        assertThat(lock.isHeldByMe()).isFalse();
        end.countDown();
        other.join();
        assertThat(lock.lockWithin(0)).isTrue();
        assertThat(lock.lockWithin(0)).as("it is mine").isTrue();
        lock.unlock();
        assertThat(lock.isHeldByMe()).isTrue();
        lock.unlock();
        assertThat(lock.isHeldByMe()).isFalse();
    }

    /** Parking returns at once while the mark is there: who waited with it would keep a core busy. */
    @Test
    @Timeout(20)
    void whoIsInterruptedWaitsAsOthersDoAndIsToldAfterwards() throws InterruptedException {
        boolean[] told = {false};
        lock.lock();
        Thread other = new Thread(() -> {
            Thread.currentThread().interrupt();
            lock.lock();
            told[0] = Thread.interrupted();
            lock.unlock();
        });
        other.start();
        while (other.getState() != Thread.State.TIMED_WAITING || other.isInterrupted()) {
            Thread.onSpinWait();
        }
        lock.unlock();
        other.join();
        assertThat(told[0]).isTrue();
    }

    @Test
    void whoHasItTakesItAgainAndGivesItBackAsOften() throws InterruptedException {
        lock.lock();
        lock.lock();
        lock.lock();
        assertThat(lock.tryLock()).isFalse();
        lock.unlock();
        lock.unlock();
        assertThat(lock.isHeldByMe()).isTrue();
        boolean[] taken = {true, false};
        Thread other = new Thread(() -> taken[0] = lock.tryLock());
        other.start();
        other.join();
        lock.unlock();
        Thread another = new Thread(() -> taken[1] = lock.tryLock());
        another.start();
        another.join();
        assertThat(taken).containsExactly(false, true);
    }
}

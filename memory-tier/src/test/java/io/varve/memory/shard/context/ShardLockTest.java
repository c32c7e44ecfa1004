package io.varve.memory.shard.context;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests mutual exclusion, reservations and callbacks of a shard lock with several threads. */
class ShardLockTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 100_000;

    private final ShardLock lock = new ShardLock();
    /** Plain on purpose: only the lock makes it right. */
    private long count;
    private long twin;

    @Test
    void lock_isExclusiveAndPublishesWrites() throws InterruptedException {
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
    void version_changesWithEachAcquisitionOnly() {
        long version = lock.version();
        assertThat(lock.isUnchanged(version)).isTrue();
        lock.lock();
        assertThat(lock.version()).isEqualTo(ShardLock.NO_VERSION);
        assertThat(lock.isUnchanged(version)).isFalse();
        lock.onUnlock(() -> {});
        lock.unlock();
        assertThat(lock.isFree()).as("reserved for the called thread").isFalse();
        long reserved = lock.version();
        assertThat(reserved).isGreaterThan(version);
        assertThat(lock.isUnchanged(version)).isFalse();
        lock.cancelReservation();
        assertThat(lock.isFree()).isTrue();
        assertThat(lock.isUnchanged(reserved)).as("nobody has held it").isTrue();
    }

    /** A reader without the lock never accepts two counters that differ. */
    @Test
    void isUnchanged_neverAcceptsAMixture() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        long[] accepted = new long[2];
        Thread reader = new Thread(() -> {
            while (!over.get()) {
                long version = lock.version();
                long first = count;
                long second = twin;
                if (version != ShardLock.NO_VERSION && lock.isUnchanged(version)) {
                    accepted[first == second ? 0 : 1]++;
                }
            }
        });
        reader.start();
        for (int i = 0; i < ROUNDS * 10; i++) {
            lock.lock();
            count++;
            twin++;
            lock.unlock();
            Thread.onSpinWait();
        }
        over.set(true);
        reader.join();
        assertThat(accepted[1]).isZero();
        assertThat(accepted[0]).isPositive();
    }

    @Test
    void aLongWaiterGetsTheLockEventually() throws InterruptedException {
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
    void lockWithin_givesUpAfterItsNaps() throws InterruptedException {
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
        assertThat(lock.lockWithin(0, false)).isFalse();
        assertThat(lock.lockWithin(20, false)).isFalse();
        assertThat(lock.isHeldByMe()).isFalse();
        end.countDown();
        other.join();
        assertThat(lock.lockWithin(-1, false)).isTrue();
        assertThat(lock.lockWithin(-1, false)).as("it is mine").isTrue();
        lock.unlock();
        assertThat(lock.isHeldByMe()).isTrue();
        lock.unlock();
        assertThat(lock.isHeldByMe()).isFalse();
    }

    @Test
    void aRegisteredCallbackRunsAndItsThreadIsNext() {
        List<String> calls = new ArrayList<>();
        lock.lock();
        lock.onUnlock(() -> calls.add("first"));
        lock.onUnlock(() -> calls.add("second"));
        assertThat(lock.isHeld()).isTrue();
        assertThat(calls).isEmpty();
        lock.unlock();
        assertThat(calls).containsExactlyInAnyOrder("first", "second");
        assertThat(lock.isHeld()).isFalse();
        assertThat(lock.tryLock()).as("it is reserved").isFalse();
        assertThat(lock.lockWithin(0, false)).isFalse();
        assertThat(lock.lockWithin(-1, true)).isTrue();
        lock.unlock();
        assertThat(calls).as("they are called once").hasSize(2);
        assertThat(lock.tryLock()).as("it is free").isTrue();
        lock.unlock();
    }

    /** One after the other, before another is called. */
    @Test
    void theReservationHoldsForAllCalledThreads() {
        List<String> calls = new ArrayList<>();
        lock.lock();
        lock.onUnlock(() -> calls.add("first"));
        lock.unlock();
        lock.onUnlock(() -> calls.add("second"));
        for (int i = 0; i < 3; i++) {
            assertThat(lock.lockWithin(-1, true)).isTrue();
            lock.renewReservation();
            lock.unlock();
            assertThat(lock.isFree()).isFalse();
            assertThat(calls).containsExactly("first");
        }
        lock.cancelReservation();
        assertThat(calls).containsExactly("first", "second");
        assertThat(lock.isFree()).as("it is the second's").isFalse();
        lock.cancelReservation();
        assertThat(lock.isFree()).isTrue();
    }

    /** Its client may have disconnected. */
    @Test
    @Timeout(20)
    void aWaiterTakesAnUnusedReservation() {
        for (int i = 0; i < 3; i++) {
            lock.lock();
            lock.onUnlock(() -> {});
            lock.unlock();
            assertThat(lock.tryLock()).isFalse();
            switch (i) {
                case 0 -> lock.lock();
                case 1 -> {
                    assertThat(lock.lockWithin(7, false)).as("there is time for the called thread").isFalse();
                    assertThat(lock.lockWithin(40, false)).isTrue();
                }
                default -> {
                    lock.cancelReservation();
                    assertThat(lock.tryLock()).isTrue();
                    lock.cancelReservation();
                }
            }
            assertThat(lock.isHeldByMe()).isTrue();
            assertThat(lock.isHeld()).isTrue();
            lock.unlock();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
        }
    }

    /** ... while others take it again and again, and want it themselves. */
    @Test
    @Timeout(60)
    void everyThreadGetsTheLock() throws InterruptedException {
        int threads = 3;
        int each = 2000;
        CountDownLatch ended = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            new Thread(() -> {
                AtomicBoolean called = new AtomicBoolean();
                int tries = 0;
                for (int taken = 0; taken < each; taken++) {
                    // A reservation for a thread that has ended is taken by one that sleeps often enough.
                    while (!lock.lockWithin(tries++ % 3 == 0 ? 40 : tries % 3 - 2, called.get())) {
                        called.set(false);
                        lock.onUnlock(() -> called.set(true));
                        while (!called.get() && lock.isHeld()) {
                            Thread.onSpinWait();
                        }
                    }
                    count++;
                    lock.unlock();
                }
                ended.countDown();
            }).start();
        }
        ended.await();
        assertThat(count).isEqualTo((long) threads * each);
    }

    /** Parking returns at once while the interrupt flag is set: a busy wait would keep a core busy. */
    @Test
    @Timeout(20)
    void anInterruptedThreadWaitsAndKeepsItsFlag() throws InterruptedException {
        boolean[] interrupted = {false};
        lock.lock();
        Thread other = new Thread(() -> {
            Thread.currentThread().interrupt();
            lock.lock();
            interrupted[0] = Thread.interrupted();
            lock.unlock();
        });
        other.start();
        while (other.getState() != Thread.State.TIMED_WAITING || other.isInterrupted()) {
            Thread.onSpinWait();
        }
        lock.unlock();
        other.join();
        assertThat(interrupted[0]).isTrue();
    }

    @Test
    void lock_isReentrant() throws InterruptedException {
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

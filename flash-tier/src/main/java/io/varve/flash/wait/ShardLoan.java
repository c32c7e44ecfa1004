package io.varve.flash.wait;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.varve.memory.item.LockWait;
import org.jspecify.annotations.Nullable;

/**
 * The shards of a thread that holds them all and waits for a key on flash, as a script does. Thread-safe.
 *
 * <p>A worker needs a shard for every item that it moves, also for those of other requests before the awaited one. It
 * would wait for the thread that waits for it. So while that thread waits, it runs this work for the workers, under its
 * own locks, which nest. The work is short: files are read and written by the workers.
 */
public final class ShardLoan {
    /** How long the thread that lends waits at a time. */
    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<FutureTask<Boolean>> works = new ArrayDeque<>();
    /** The workers that drop the content of flash, for which they need all shards. */
    private int failures;
    private volatile boolean isOpen;

    // --- workers

    /**
     * Runs work that locks shards, by this thread or by the one that lends them.
     *
     * @param own gives up its wait for a shard once they are lent: it has then changed nothing
     * @param lent the same work, for a thread that holds all shards
     * @return the result of the work; if that is false, the work has changed nothing
     */
    public boolean run(BooleanSupplier own, BooleanSupplier lent) {
        while (true) {
            Boolean result = offer(lent);
            if (result != null) {
                return result;
            }
            boolean[] isInVain = new boolean[1];
            LockWait.giveUpAllIf(() -> {
                isInVain[0] |= isOpen;
                return isOpen;
            });
            try {
                boolean done = own.getAsBoolean();
                // Otherwise it may have failed for want of shards that were lent.
                if (done || !isInVain[0]) {
                    return done;
                }
            } catch (LockWait.GivenUpException _) {
                // The shards were lent. If they are not any more, it waits again.
            } finally {
                LockWait.neverGiveUp();
            }
        }
    }

    /** @return null if no thread lends its shards, or it has ended its wait */
    private @Nullable Boolean offer(BooleanSupplier work) {
        if (!isOpen) {
            return null;
        }
        FutureTask<Boolean> offered = new FutureTask<>(work::getAsBoolean);
        lock.lock();
        try {
            if (!isOpen) {
                return null;
            }
            works.add(offered);
            changed.signal();
        } finally {
            lock.unlock();
        }
        return await(offered);
    }

    private static @Nullable Boolean await(FutureTask<Boolean> offered) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return offered.get();
                } catch (InterruptedException _) {
                    interrupted = true;
                } catch (CancellationException _) {
                    return null;
                } catch (ExecutionException failed) {
                    if (failed.getCause() instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) failed.getCause();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Reports that a fetch has been completed. */
    public void completed() {
        if (isOpen) {
            call(0);
        }
    }

    /** Reports that a worker begins to drop the content of flash: it waits for all shards, so nobody waits for it. */
    public void beginFailure() {
        call(1);
    }

    /** Ends {@link #beginFailure}. */
    public void endFailure() {
        call(-1);
    }

    private void call(int moreFailures) {
        lock.lock();
        try {
            failures += moreFailures;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    // --- the thread that lends

    /**
     * Begins something, waits until it is done, and works for the workers meanwhile. The caller holds all shards, and
     * uses no item.
     *
     * @param begin passes it to the workers, which then find the shards lent
     * @param meanwhile runs about once a millisecond; if it throws, the wait ends
     * @return false if a worker has failed: it is not done, and will not be while the caller holds its shards
     */
    public boolean lend(Runnable begin, BooleanSupplier isDone, Runnable meanwhile) {
        boolean interrupted = false;
        open();
        try {
            begin.run();
            while (!isDone.getAsBoolean()) {
                FutureTask<Boolean> work = null;
                try {
                    work = next(isDone);
                } catch (InterruptedException _) {
                    interrupted = true;
                }
                if (work != null) {
                    work.run();
                } else if (hasFailed()) {
                    return isDone.getAsBoolean();
                }
                meanwhile.run();
            }
            return true;
        } finally {
            close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void open() {
        lock.lock();
        try {
            assert !isOpen : "two threads hold all shards";
            isOpen = true;
        } finally {
            lock.unlock();
        }
    }

    /** The next work; null if there is none, or the thread has waited for a while. */
    private @Nullable FutureTask<Boolean> next(BooleanSupplier isDone) throws InterruptedException {
        lock.lock();
        try {
            long left = WAIT_NANOS;
            while (left > 0 && works.isEmpty() && failures == 0 && !isDone.getAsBoolean()) {
                left = changed.awaitNanos(left);
            }
            return works.poll();
        } finally {
            lock.unlock();
        }
    }

    private boolean hasFailed() {
        lock.lock();
        try {
            return failures > 0;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the loan. Workers that still wait get their work back. */
    private void close() {
        lock.lock();
        try {
            isOpen = false;
            FutureTask<Boolean> work = works.poll();
            while (work != null) {
                boolean returned = work.cancel(false);
                assert returned : "only this thread runs it";
                work = works.poll();
            }
        } finally {
            lock.unlock();
        }
    }
}

package io.varve.experiments.run.context;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The cancellation flag of a matrix: Ctrl-C sets it, and all waits end when it is set. Any thread may call any method.
 */
public final class Cancellation {
    private final CountDownLatch cancelled = new CountDownLatch(1);

    public void cancel() {
        cancelled.countDown();
    }

    public boolean isCancelled() {
        return cancelled.getCount() == 0;
    }

    /** Waits; an interrupt counts as a request. @return whether to stop */
    public boolean await(long millis) {
        try {
            return cancelled.await(Math.max(0, millis), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            cancel();
            return true;
        }
    }
}

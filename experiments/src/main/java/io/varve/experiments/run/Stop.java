package io.varve.experiments.run;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Whether to go on: Ctrl-C asks for the end here, and everything that waits waits here. Any thread may call any method.
 */
public final class Stop {
    private final CountDownLatch asked = new CountDownLatch(1);

    public void ask() {
        asked.countDown();
    }

    public boolean isAsked() {
        return asked.getCount() == 0;
    }

    /** Waits; an interrupt counts as asking. @return whether to stop */
    public boolean await(long millis) {
        try {
            return asked.await(Math.max(0, millis), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            ask();
            return true;
        }
    }
}

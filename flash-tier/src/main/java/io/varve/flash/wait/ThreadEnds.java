package io.varve.flash.wait;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/** Waits for the end of threads, until a time of {@link System#nanoTime}. Static. */
public final class ThreadEnds {
    private ThreadEnds() {}

    /** @return whether it has ended */
    public static boolean awaitEnd(Thread thread, long deadline) {
        boolean interrupted = false;
        boolean stopped = false;
        while (!stopped && deadline - System.nanoTime() > 0) {
            try {
                stopped = thread.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return stopped;
    }

    /** @return whether all its threads have ended */
    public static boolean awaitEnd(ExecutorService executor, long deadline) {
        try {
            return executor.awaitTermination(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException again) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

package io.varve.experiments.run.context;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C while a command runs: it cancels the runs in progress, and the process ends only when the command has closed
 * this, so that the available results are still summarized. Any thread may call {@link #cancellation}; the thread that
 * opened it closes it.
 */
public final class Interruption implements AutoCloseable {
    /** How long the end of the process waits for the report. */
    private static final long REPORT_SECONDS = 60;

    private final Cancellation cancellation = new Cancellation();
    private final CountDownLatch written = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupt, "interrupt");

    /** Waits for Ctrl-C from now on. */
    public Interruption() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Returns the flag that Ctrl-C sets. */
    public Cancellation cancellation() {
        return cancellation;
    }

    private void interrupt() {
        cancellation.cancel();
        try {
            if (!written.await(REPORT_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("varve: the report was not ready after " + REPORT_SECONDS
                        + " s; the files of the runs are kept");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The results have been written. */
    @Override
    public void close() {
        written.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyEnding) {
            // The process ends, and the hook with it: there is nothing to remove.
            cancellation.cancel();
        }
    }
}

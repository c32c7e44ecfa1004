package io.varve.server.system;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The JVM's shutdown hook: on a signal it has the main thread close the server, and waits for it. Guarded by {@code
 * this}; the main thread creates and closes it.
 *
 * <p>It is registered before any resource is opened that has to be closed. A signal during the start cancels the load
 * of data; otherwise it takes effect once the start is complete.
 */
public final class ShutdownHook implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ShutdownHook.class);
    /** Maximum time after SIGTERM until the process ends. */
    private static final int DRAIN_SECONDS = 10;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::end, "varve-shutdown");
    private @Nullable Thread waiting;
    private boolean signalled;
    private volatile Runnable onSignal = () -> {};
    private volatile BooleanSupplier isBusy = () -> false;

    private ShutdownHook() {}

    public static ShutdownHook register() {
        ShutdownHook hook = new ShutdownHook();
        Runtime.getRuntime().addShutdownHook(hook.thread);
        return hook;
    }

    /** The process is not ended while this says so: data is being saved. */
    public void waitWhile(BooleanSupplier busy) {
        isBusy = busy;
    }

    /** Runs this first when a signal arrives, such as to cancel what the start has not completed. */
    public void onSignal(Runnable action) {
        onSignal = action;
        synchronized (this) {
            if (!signalled) {
                return;
            }
        }
        action.run();
    }

    /** The event that the main thread waits for. */
    @FunctionalInterface
    public interface Wait {
        void await() throws InterruptedException;
    }

    /** Returns when the wait ends, or when a signal arrives. */
    public void awaitSignalOr(Wait wait) {
        synchronized (this) {
            if (signalled) {
                return;
            }
            waiting = Thread.currentThread();
        }
        try {
            wait.await();
        } catch (InterruptedException interrupted) {
            LOG.debug("A signal stops the process", interrupted);
        } finally {
            synchronized (this) {
                waiting = null;
            }
        }
    }

    private void end() {
        LOG.info("Shutdown requested: finishing the running work");
        synchronized (this) {
            signalled = true;
            if (waiting != null) {
                waiting.interrupt();
            }
        }
        onSignal.run();
        try {
            boolean ended;
            boolean busy;
            do {
                busy = isBusy.getAsBoolean();
                ended = closed.await(DRAIN_SECONDS, TimeUnit.SECONDS);
                // After the save there is the whole time again.
            } while (!ended && (busy || isBusy.getAsBoolean()));
            if (!ended) {
                LOG.warn("The shutdown did not finish within {} s", DRAIN_SECONDS);
            }
        } catch (InterruptedException givenUp) {
            LOG.warn("Interrupted during the shutdown");
        }
        // The JVM would exit with the signal's status (143), although the requested shutdown has succeeded.
        Runtime.getRuntime().halt(0);
    }

    /** Called after everything is closed: the hook, if it runs, ends the process as soon as possible. */
    @Override
    public void close() {
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException alreadyEnding) {
            LOG.debug("The process is already shutting down", alreadyEnding);
        }
    }
}

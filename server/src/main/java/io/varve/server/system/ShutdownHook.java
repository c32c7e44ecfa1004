package io.varve.server.system;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The JVM's hook for signals that end the process: it has the main thread close the server, and waits for it. Guarded by itself; created
 * and closed by the main thread.
 *
 * <p>It is registered before anything is opened that has to be closed. A signal that comes during the start takes effect once the start
 * is complete.
 */
public final class ShutdownHook implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ShutdownHook.class);
    /** SIGTERM ends the process within it. */
    private static final int DRAIN_SECONDS = 10;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::end, "varve-shutdown");
    private @Nullable Thread waiting;
    private boolean signalled;

    private ShutdownHook() {}

    public static ShutdownHook register() {
        ShutdownHook hook = new ShutdownHook();
        Runtime.getRuntime().addShutdownHook(hook.thread);
        return hook;
    }

    /** What the main thread waits for. */
    @FunctionalInterface
    public interface Wait {
        void await() throws InterruptedException;
    }

    /** Returns when the wait is over, or when a signal has come. */
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
            LOG.debug("A signal ends the process", interrupted);
        } finally {
            synchronized (this) {
                waiting = null;
            }
        }
    }

    private void end() {
        LOG.info("Asked to end: finishing");
        synchronized (this) {
            signalled = true;
            if (waiting != null) {
                waiting.interrupt();
            }
        }
        try {
            if (!closed.await(DRAIN_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("Not finished within {} s", DRAIN_SECONDS);
            }
        } catch (InterruptedException givenUp) {
            LOG.warn("Interrupted while finishing");
        }
        // The JVM would report the signal (143): a server that was asked to end and did has succeeded.
        Runtime.getRuntime().halt(0);
    }

    /** All is closed: the hook, if it runs, ends the process as soon as it may. */
    @Override
    public void close() {
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException alreadyEnding) {
            LOG.debug("The process is ending already", alreadyEnding);
        }
    }
}

package io.varve.proxy.map;

import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that asks for the slot map: periodically, and soon after a request. Guarded by {@code this}; the rounds are
 * confined to the thread.
 */
final class MapPoller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MapPoller.class);
    /** Minimum time between two rounds. */
    private static final int MIN_PAUSE_MILLIS = 100;
    private static final int END_MILLIS = 5_000;

    private final int periodMillis;
    private final Round round;
    private final Thread thread = new Thread(this::run, "varve-proxy-map");
    private boolean requested = true;
    private boolean closed;

    /** One question for the map. */
    @FunctionalInterface
    interface Round {
        /** @return whether the map may change again */
        boolean ask() throws InterruptedException;
    }

    /** @param periodMillis time after which it asks without a request */
    MapPoller(int periodMillis, Round round) {
        this.periodMillis = periodMillis;
        this.round = round;
        thread.setDaemon(true);
    }

    /** Begins with a round. */
    void start() {
        thread.start();
    }

    /** Requests a round. Returns at once. */
    synchronized void request() {
        requested = true;
        notifyAll();
    }

    private void run() {
        try {
            while (awaitRequest() && round.ask()) {
                TimeUnit.MILLISECONDS.sleep(MIN_PAUSE_MILLIS);
            }
        } catch (InterruptedException _) {
            LOG.debug("The slot map is not followed any more");
        }
    }

    /** @return false once closed */
    private synchronized boolean awaitRequest() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(periodMillis);
        while (!requested && !closed) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        requested = false;
        return !closed;
    }

    /** Ends the thread. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.interrupt();
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}

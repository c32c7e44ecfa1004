package io.varve.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The pause of a test that requests a state again and again until another thread or process has reached it. Stateless.
 *
 * <p>A loop without a pause takes a core from whoever it waits for, and a second one from the server that it asks.
 */
public final class Polling {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private Polling() {}

    /** Pauses for about two milliseconds. */
    public static void pause() {
        LockSupport.parkNanos(PAUSE_NANOS);
    }
}

package io.varve.memory.item;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Lets a thread give up its waits for the locks of shards. Static: each thread has its own condition.
 *
 * <p>A script may hold shards for a very long time. A thread that serves other clients must not wait for that.
 */
public final class LockWait {
    private static final ThreadLocal<@Nullable BooleanSupplier> CONDITIONS = new ThreadLocal<>();

    private LockWait() {}

    /** The wait for a lock was given up: the thread does not hold it. Immutable; carries no stack trace. */
    public static final class GivenUpException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private GivenUpException() {
            super("the wait for a shard was given up", null, false, false);
        }
    }

    /** Sets when the calling thread gives up a wait. Asked every few milliseconds of a wait. */
    public static void giveUpIf(BooleanSupplier condition) {
        CONDITIONS.set(condition);
    }

    /** Ends {@link #giveUpIf} for the calling thread. */
    public static void neverGiveUp() {
        CONDITIONS.remove();
    }

    /** Called at intervals by a thread that waits. */
    public static void check() {
        BooleanSupplier condition = CONDITIONS.get();
        if (condition != null && condition.getAsBoolean()) {
            throw new GivenUpException();
        }
    }
}

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
    private static final ThreadLocal<@Nullable BooleanSupplier> CONDITIONS_FOR_ALL = new ThreadLocal<>();

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

    /** As {@link #giveUpIf}, if one thread then holds all shards: the wait for any other one would be in vain too. */
    public static void giveUpAllIf(BooleanSupplier condition) {
        CONDITIONS.set(condition);
        CONDITIONS_FOR_ALL.set(condition);
    }

    /** Ends {@link #giveUpIf} and {@link #giveUpAllIf} for the calling thread. */
    public static void neverGiveUp() {
        CONDITIONS.remove();
        CONDITIONS_FOR_ALL.remove();
    }

    /** Whether one thread holds all shards, and the calling thread does not wait for them. */
    public static boolean isInVain() {
        BooleanSupplier condition = CONDITIONS_FOR_ALL.get();
        return condition != null && condition.getAsBoolean();
    }

    /** Called at intervals by a thread that waits. */
    public static void check() {
        BooleanSupplier condition = CONDITIONS.get();
        if (condition != null && condition.getAsBoolean()) {
            throw new GivenUpException();
        }
    }
}

package io.varve.server.blocking;

import org.jspecify.annotations.Nullable;

/**
 * A command's place behind a key reservation or at the {@link Barrier}. Guarded by the lock of {@link BlockedKeys},
 * except for the final fields.
 */
public final class BarrierWaiter {
    /** How the command would use keys. */
    public enum Kind {
        /** Reads keys that it does not name. */
        READ,
        /** Changes keys that it does not name, or does more than read such keys. */
        CHANGE,
        /** Changes keys that it names, and so may wake a blocked client. */
        CALL
    }

    private final Kind kind;
    private @Nullable Runnable onRetry;
    private @Nullable KeyQueue blockingQueue;

    public BarrierWaiter(Kind kind) {
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** The queue whose reservation the command waits for; null if there is none. */
    @Nullable
    KeyQueue blockingQueue() {
        return blockingQueue;
    }

    void blockingQueue(@Nullable KeyQueue queue) {
        blockingQueue = queue;
    }

    /** Sets the action that runs once, when a retry may succeed. */
    void onRetry(@Nullable Runnable action) {
        onRetry = action;
    }

    void wake() {
        Runnable action = onRetry;
        if (action != null) {
            onRetry = null;
            action.run();
        }
    }
}

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
    private @Nullable Runnable again;
    private @Nullable KeyQueue behind;

    public BarrierWaiter(Kind kind) {
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** The queue whose reservation the command waits for; null if there is none. */
    @Nullable
    KeyQueue behind() {
        return behind;
    }

    void behind(@Nullable KeyQueue queue) {
        behind = queue;
    }

    /** Sets the action that runs once, when a retry may succeed. */
    void again(@Nullable Runnable action) {
        again = action;
    }

    void wake() {
        Runnable action = again;
        if (action != null) {
            again = null;
            action.run();
        }
    }
}

package io.varve.server.blocking;

import org.jspecify.annotations.Nullable;

/** A command's place behind a promise, or at the {@link Barrier}. Guarded by the lock of {@link BlockedKeys}, but for what never changes. */
public final class Pass {
    /** What the command would do. */
    public enum Kind {
        /** Look at keys that it does not name. */
        LOOK,
        /** Change keys that it does not name, or anything at all beside looking at such. */
        CHANGE,
        /** Change keys that it names, and so perhaps have somebody called. */
        CALL
    }

    private final Kind kind;
    private @Nullable Runnable again;
    private @Nullable KeyQueue behind;

    public Pass(Kind kind) {
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** The queue whose promise it waits for; null if there is none. */
    @Nullable
    KeyQueue behind() {
        return behind;
    }

    void behind(@Nullable KeyQueue queue) {
        behind = queue;
    }

    /** What is done, once, when it may be worth while to try again. */
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

package io.varve.flash.store;

import org.jspecify.annotations.Nullable;

/** A store that could not do what it was asked: its files, its device, or it was closed. */
public final class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** What can be done about it. */
    public enum Kind {
        /** No room on the device, or the store's own limit: it works on once there is room. */
        FULL,
        /** Somebody else has the directory. */
        LOCKED,
        /** It has to be opened anew. */
        BROKEN,
        /** This call failed, others may not. */
        FAILED
    }

    private final transient Kind kind;

    /** @param cause what the store's library said; null if it was not asked */
    public StoreException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}

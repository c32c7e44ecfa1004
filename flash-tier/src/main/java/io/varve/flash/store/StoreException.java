package io.varve.flash.store;

import org.jspecify.annotations.Nullable;

/** A store operation failed: because of its files or its device, or because the store is closed. Immutable. */
public final class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The kind of failure, which determines the remedy. */
    public enum Kind {
        /** No free space on the device, or the store's own limit: the store continues once there is space. */
        FULL,
        /** Another process uses the directory. */
        LOCKED,
        /** The store must be reopened. */
        BROKEN,
        /** This call failed; others may succeed. */
        FAILED
    }

    private final transient Kind kind;

    /** @param cause the store library's exception; null if there is none */
    public StoreException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}

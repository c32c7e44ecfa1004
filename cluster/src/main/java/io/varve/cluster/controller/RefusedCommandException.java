package io.varve.cluster.controller;

/** The cluster's state does not allow a command. Immutable. */
final class RefusedCommandException extends RuntimeException {
    private static final long serialVersionUID = 1;

    RefusedCommandException(String message) {
        super(message, null, false, false);
    }
}

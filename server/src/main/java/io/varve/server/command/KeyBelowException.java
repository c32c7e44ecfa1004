package io.varve.server.command;

/** A command found out that it needs a key that may be on flash. Immutable; has no stack trace. */
public final class KeyBelowException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public KeyBelowException() {
        super("A key has to be fetched first", null, false, false);
    }
}

package io.varve.server.command.flash;

/** A running command needs a key that may be on flash. Immutable; has no stack trace. */
public final class KeyNotResidentException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public KeyNotResidentException() {
        super("A key must be fetched from flash first", null, false, false);
    }
}

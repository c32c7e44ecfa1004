package io.varve.ycsb;

/** A database did not do what it was asked for; the message names it. Immutable. */
final class DatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DatabaseException(String message, Throwable cause) {
        super(message, cause);
    }
}

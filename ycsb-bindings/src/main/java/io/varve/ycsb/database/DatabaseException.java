package io.varve.ycsb.database;

/** A database operation failed; the message names the database. Immutable. */
public final class DatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DatabaseException(String message, Throwable cause) {
        super(message, cause);
    }
}

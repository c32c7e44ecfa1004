package io.varve.jmh;

/** An argument, or the file that it names, is invalid. Immutable. */
final class ResultException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ResultException(String message) {
        super(message);
    }

    ResultException(String message, Throwable cause) {
        super(message, cause);
    }
}

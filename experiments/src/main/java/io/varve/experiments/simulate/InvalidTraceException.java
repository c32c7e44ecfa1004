package io.varve.experiments.simulate;

/** A trace is missing or malformed; the message says where and why. Immutable. */
public final class InvalidTraceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    InvalidTraceException(String message) {
        super(message);
    }
}

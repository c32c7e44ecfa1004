package io.varve.experiments.simulate;

/** A trace that is not there or does not say what it should; the message says where and what. */
public final class InvalidTraceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    InvalidTraceException(String message) {
        super(message);
    }
}

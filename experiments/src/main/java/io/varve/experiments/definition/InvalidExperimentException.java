package io.varve.experiments.definition;

/** The requested experiment, or a part of it, is invalid: the message is one line for the user. Immutable. */
public final class InvalidExperimentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public InvalidExperimentException(String message) {
        super(message);
    }

    public InvalidExperimentException(String message, Throwable cause) {
        super(message, cause);
    }
}
